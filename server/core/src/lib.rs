//! The service without its interfaces.
//!
//! `jobs` and the interfaces call `service`; `service` calls `platen-domain`, `store`, `storage`, `outbound` and the
//! other packages, which don't call each other. SQL is only in `store`.

pub mod clock;
pub mod config;
pub mod drawing;
mod grouping;
pub mod instance;
pub mod jobs;
pub mod lifecycle;
pub mod memory;
mod mutex;
pub mod outbound;
pub mod private_file;
pub mod render_request;
pub mod service;
pub mod signals;
pub mod storage;
pub mod store;
pub mod telemetry;
pub mod transfer;
