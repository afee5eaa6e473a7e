//! Child processes that can do nothing but calculate, within limits of memory and time. What strangers have written is
//! worked on in such: templates are filled, pages are drawn. [`parent`] is the side of those who start them.

mod limits;
pub mod parent;
mod system_calls;
pub mod turns;

use std::io;

pub use limits::grant_processor_time;

/// Takes from this process, for good, all that calculating does not need: files, sockets, processes, threads, and more
/// memory than so many bytes beyond what it has. It still reads standard input and writes standard output and error.
///
/// # Errors
/// When the system does not know one of the limits.
pub fn confine(memory: u64) -> io::Result<()> {
    limits::set(memory)?;
    system_calls::restrict()
}
