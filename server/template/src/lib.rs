//! Templates for documents: a template and a context in, HTML out.
//!
//! Templates are untrusted input, so they are filled in sandboxed worker processes that can only compute, within limits
//! on memory and time. [`pool::Pool`] is the side that a service uses; [`child::run`] is the worker's side.
//! [`language`] and [`analysis`] contain the functions that a worker runs, without the process around them.

#![warn(missing_docs)]

pub mod analysis;
pub mod child;
pub mod diagnostic;
pub mod language;
pub mod partials;
pub mod pool;
pub mod source_text;
pub mod sources;

mod filters;
mod wire;
