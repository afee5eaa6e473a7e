//! People: how they sign up, log in, stay logged in, and get mail.

mod addresses;
mod log_in;
mod passwords;
mod sessions;
mod sign_up;
