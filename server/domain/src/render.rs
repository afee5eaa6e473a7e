//! Renders: their requests, history, log, accessibility reports, structure, sheet sizes, statistics, thumbnails, and
//! responses for repeated idempotent requests.

pub mod accessibility;
pub mod content;
pub mod detail;
pub mod history;
pub mod idempotent_response;
pub mod log;
pub mod sheet;
pub mod statistics;
pub mod structure;
pub mod thumbnail;
