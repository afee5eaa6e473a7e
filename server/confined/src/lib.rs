//! Sandboxed worker processes, which can only compute, within limits on memory and time. They process untrusted input:
//! templates are filled and pages rasterized in them. [`parent`] is the side that starts them.

pub mod account_queues;
mod limits;
pub mod parent;
mod system_calls;

use std::io;

pub use limits::grant_processor_time;

/// Irrevocably denies this process everything that computing does not need: files, sockets, processes, threads, and
/// more than `memory` bytes beyond what is mapped now. It can still read standard input and write standard output and
/// error. Fails if the system does not support one of the limits.
pub fn confine(memory: u64) -> io::Result<()> {
    limits::set(memory)?;
    system_calls::restrict()
}
