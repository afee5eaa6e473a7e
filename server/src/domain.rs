//! Rules that need no database, network or clock: values are parsed once and then trusted.

pub mod allowed_templates;
pub mod api_key;
pub mod callback;
pub mod caller;
pub mod client;
pub mod connection;
pub mod credits;
pub mod destination;
pub mod display_name;
pub mod email;
pub mod idempotency;
pub mod ids;
pub mod job;
pub mod mail;
pub mod network;
pub mod one_time_token;
pub mod page;
pub mod password;
pub mod plan;
pub mod render;
pub mod sealing;
pub mod sentence;
pub mod template;
pub mod validation;
pub mod webhook;
