//! Requests to addresses that clients specify, for webhooks and files, and mail.

pub mod callbacks;
pub mod client;
pub mod files;
pub mod mail;
