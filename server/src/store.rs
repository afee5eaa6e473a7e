//! Every SQL statement. Functions on tenant data take the account right after the connection and use it in the `where`.

pub mod account_keys;
pub mod accounts;
pub mod api_keys;
pub mod callbacks;
pub mod connection_tests;
pub mod connections;
pub mod credits;
pub mod error;
pub mod idempotency_keys;
pub mod instances;
pub mod jobs;
pub mod mails;
pub mod members;
pub mod one_time_tokens;
pub mod plans;
pub mod pool;
pub mod render_contents;
pub mod renders;
pub mod sessions;
pub mod sign_ups;
pub mod template_versions;
pub mod templates;
pub mod tx;
pub mod usage;
pub mod users;
pub mod webhook_secrets;
