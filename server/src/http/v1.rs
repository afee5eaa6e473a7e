//! Version 1, as `openapi.json` describes it.

pub(super) mod credits;
pub(super) mod health;
pub(super) mod renderers;
