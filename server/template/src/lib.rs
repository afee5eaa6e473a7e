//! Templates for documents: a template and a context in, HTML out.
//!
//! Templates come from people whom we do not know, so they are filled in child processes that can do nothing but
//! calculate, within limits of memory and time. [`pool::Pool`] is what a service uses; [`child::run`] is the other end.
//! [`language`] and [`analysis`] are what a child does, without the process around it.

pub mod analysis;
pub mod child;
pub mod fault;
pub mod language;
pub mod pool;

mod filters;
mod wire;
