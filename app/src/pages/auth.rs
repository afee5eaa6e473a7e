//! Sign-up, log-in and their second steps, and the targets of links in mails.

pub mod api;
pub mod check_mail;
pub mod confirm;
pub mod confirm_email;
pub mod forgot_password;
pub mod invitation;
pub mod log_in;
pub mod reset_password;
pub mod second_step;
pub mod sign_up;
pub mod verify;
