//! The engine with a real, sandboxed Chromium.

mod support;

mod documents;
