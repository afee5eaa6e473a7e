//! What is in the PDFs.

mod archive;
mod command;
mod content;
mod decoration;
mod sheet;
mod steps;
