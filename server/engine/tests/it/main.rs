//! Integration tests of the engine with a real, sandboxed Chromium.

#![expect(clippy::unwrap_used, reason = "a test that can't set itself up fails")]

mod processes;
mod servers;
mod support;

mod assets;
mod contrast;
mod corpus;
mod documents;
mod egress;
mod frames;
mod hostile;
mod isolation;
mod lifecycle;
mod log;
mod numbering;
mod selectors;
mod settings;
