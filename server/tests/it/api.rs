//! The API, over HTTP.

mod assets;
mod authentication;
mod connections;
mod credits;
mod hang_up;
mod health;
mod idempotency;
mod key_limits;
mod limits;
mod reference;
mod renderers;
mod routes;
mod templates;
