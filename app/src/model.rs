//! View models, and types shared by server and browser.

pub mod account_summary;
pub mod admin;
pub mod announcement;
pub mod api_key;
pub mod connection;
pub mod delivery;
pub mod live_preview;
pub mod money;
pub mod overview;
pub mod own_path;
pub mod payment;
pub mod person;
pub mod plan;
pub mod playground;
pub mod rejection;
pub mod render;
pub mod role;
pub mod second_factor;
pub mod settings;
pub mod storage;
pub mod team;
pub mod template;
pub mod usage;
