//! `/admin`: the area of those who run the service.

pub mod account;
pub mod accounts;
pub mod health;
