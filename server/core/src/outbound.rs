//! Requests to addresses that clients specify, and mail.

pub mod callbacks;
pub mod client;
pub mod files;
pub mod mail;
