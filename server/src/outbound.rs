//! Requests of the service itself to addresses that a client names.

pub mod callbacks;
