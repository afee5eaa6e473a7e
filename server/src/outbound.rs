//! Requests of the service itself to addresses that a client names, and mail.

pub mod callbacks;
pub mod mail;
