//! The pool with real children: what they are worth when templates are hostile.

mod confinement;
mod hostile;
mod pool;
mod property;
mod support;
