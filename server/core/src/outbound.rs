//! Requests to addresses that clients specify, and mail.

pub mod callbacks;
pub mod mail;
