//! Users: sign-up, log-in, sessions and mail.

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
