//! Interactive parts of pages. The server renders them, and the browser hydrates them. Everything else stays as it
//! was rendered.

#![expect(unreachable_pub, reason = "the macros generate functions and types of their own")]
#![expect(clippy::large_types_passed_by_value, reason = "signals are handed on by copy")]

pub mod playground;
pub mod workbench;
