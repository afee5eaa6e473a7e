//! The service behind the binary `platen`.
//!
//! `cli`, `http`, `web` and `jobs` call `service`; `service` calls `domain`, `store` and the packages, which don't call
//! each other. `boot` builds the service from `config`; `lifecycle` shuts it down.

pub mod allocator;
pub mod boot;
pub mod cli;
pub mod clock;
pub mod config;
pub mod database;
pub mod domain;
pub mod drawing;
pub mod http;
pub mod instance;
pub mod jobs;
pub mod lifecycle;
pub mod memory;
pub mod open_files;
pub mod outbound;
pub mod private_file;
pub mod service;
pub mod state;
pub mod storage;
pub mod store;
pub mod system_user;
pub mod telemetry;
mod web;
