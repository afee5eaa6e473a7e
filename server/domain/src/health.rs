//! The health of the service: the status that processes report, their metrics by the minute, and the resulting concerns
//! for operators.

pub mod concern;
pub mod failure_kind;
pub mod histogram;
pub mod minute;
pub mod process;
pub mod state;
