//! Templates for documents: a template and a context in, HTML out.

pub mod analysis;
pub mod fault;
pub mod language;

mod filters;
