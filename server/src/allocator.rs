//! The C library's allocator, which keeps what it was given by default: after a burst of large bodies and documents the
//! process would hold tens of megabytes for good.

use std::{
    env,
    os::unix::process::CommandExt,
    process::{self, Command},
};

/// Read by the C library before `main`, and never again. See glibc's manual, "Memory Allocation Tunables".
const TUNABLES: &str = "GLIBC_TUNABLES";
/// Blocks from 128 KiB are mapped by themselves and go back to the system when they are freed. Without a word about it, the
/// threshold rises to 32 MiB with the first large block that is freed.
const RETURN_LARGE_BLOCKS: &str = "glibc.malloc.mmap_threshold=131072:glibc.malloc.trim_threshold=131072";

/// Starts this very process anew, with the same id and arguments, so that freed memory goes back to the system. Does nothing
/// where the operator has set tunables. Must be called before there are threads.
pub fn return_freed_memory() {
    if env::var_os(TUNABLES).is_some() {
        return;
    }
    let Ok(program) = env::current_exe() else { return };
    let mut arguments = env::args_os();
    let name = arguments.next().unwrap_or_else(|| program.clone().into());
    // It returns only when it fails, and then the service works as well, with more memory.
    let error = Command::new(&program)
        .arg0(name)
        .args(arguments)
        .env(TUNABLES, RETURN_LARGE_BLOCKS)
        .exec();
    eprintln!(
        "platen {}: {} can't be started anew: {error}",
        process::id(),
        program.display()
    );
}
