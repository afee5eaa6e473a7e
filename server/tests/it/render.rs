//! What is in the PDFs.

mod command;
mod content;
mod decoration;
mod parts;
mod sheet;
mod steps;
mod templates;
