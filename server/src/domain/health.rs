//! How the service is: what a process says of itself, what it counts minute by minute, and what of that should worry the
//! operator.

pub mod concern;
pub mod failure_kind;
pub mod minute;
pub mod spread;
pub mod state;
