//! The content of PDFs.

mod assets;
mod command;
mod conformance;
mod content;
mod decoration;
mod parts;
mod sheet;
mod steps;
mod templates;
