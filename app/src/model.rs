//! What travels between server and browser.

pub mod plan;
