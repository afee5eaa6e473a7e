//! People: how they sign up, log in, stay logged in, and get mail.

mod addresses;
mod deletion;
mod dev_mail;
mod exports;
mod forged_requests;
mod invitations;
mod log_in;
mod mail;
mod new_key;
mod passwords;
mod second_factor;
mod sessions;
mod sign_up;
mod team;
