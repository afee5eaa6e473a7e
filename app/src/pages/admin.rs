//! `/admin`: the operator pages.

pub mod account;
pub mod accounts;
pub mod announcements;
pub mod audit_log;
pub mod failed_jobs;
pub mod health;
