//! Use cases. Each function implements one, owns its transaction, and serves the API, dashboard, command line and jobs
//! alike.

pub mod account_log;
pub mod account_summary;
pub mod accounts;
pub mod activity;
pub mod announcements;
pub mod api_keys;
pub mod billing;
pub mod callbacks;
pub mod connections;
pub mod credits;
pub mod data_keys;
pub mod deliveries;
pub mod exports;
pub mod failed_jobs;
pub mod health;
pub mod mail;
pub mod metrics;
pub mod operators;
pub mod parsers;
pub mod passwords;
pub mod people;
pub mod plans;
pub mod renders;
pub mod secret_keys;
pub mod sessions;
pub mod storage_use;
pub mod templates;
pub mod throttle;
pub mod webhook_secrets;
