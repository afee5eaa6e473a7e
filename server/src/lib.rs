//! The interfaces of the service behind the binary `platen`: command line, API, and the dashboard over HTTP.
//!
//! `boot` builds the service from its settings, runs it, and shuts it down.

pub mod allocator;
pub mod boot;
pub mod cli;
pub mod database;
pub mod http;
pub mod open_files;
pub mod system_user;
mod web;
