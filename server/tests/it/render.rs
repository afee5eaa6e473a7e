//! What is in the PDFs.

mod archive;
mod command;
mod content;
mod decoration;
mod parts;
mod sheet;
mod steps;
