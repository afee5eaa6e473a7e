//! The live parts of pages: what is written by the server and then taken over in the browser. Everything else stays as the
//! server has written it.

#![expect(
    missing_docs,
    unreachable_pub,
    reason = "the macros write functions and types of their own"
)]
#![expect(clippy::large_types_passed_by_value, reason = "signals are handed on by copy")]

pub mod copy_button;
pub mod playground;
pub mod workbench;
