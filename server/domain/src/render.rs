//! Renders: their requests, history, log, sheet sizes, statistics, thumbnails, and responses for repeated idempotent
//! requests.

pub mod content;
pub mod detail;
pub mod history;
pub mod idempotent_response;
pub mod log;
pub mod sheet;
pub mod statistics;
pub mod thumbnail;
