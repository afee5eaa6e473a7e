//! Drives the real binary with a real Postgres and a real Chromium.

mod cli;
mod support;
