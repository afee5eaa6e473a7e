//! The pool with real worker processes, and its resistance to hostile templates.

mod confinement;
mod hostile;
mod pool;
mod property;
mod support;
