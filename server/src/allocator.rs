//! Settings of glibc's allocator, which by default retains freed memory: after a burst of large bodies and documents
//! the process would hold tens of megabytes permanently.

use std::{
    env,
    os::unix::process::CommandExt,
    process::{self, Command},
};

/// The variable that glibc reads once, before `main`. See its manual, "Memory Allocation Tunables".
const TUNABLES: &str = "GLIBC_TUNABLES";
/// Maps blocks of 128 KiB and more separately and returns them to the system when they are freed. An explicit threshold
/// matters: otherwise it rises to 32 MiB when the first large block is freed.
const RETURN_LARGE_BLOCKS: &str = "glibc.malloc.mmap_threshold=131072:glibc.malloc.trim_threshold=131072";

/// Re-executes this process, with the same id and arguments, so that freed memory returns to the system. Does nothing
/// if the operator has set tunables. Must be called before threads are started.
pub fn return_freed_memory() {
    if env::var_os(TUNABLES).is_some() {
        return;
    }
    let Ok(program) = env::current_exe() else { return };
    let mut arguments = env::args_os();
    let name = arguments.next().unwrap_or_else(|| program.clone().into());
    // `exec` returns only on failure; the service then works too, with more memory.
    let error = Command::new(&program)
        .arg0(name)
        .args(arguments)
        .env(TUNABLES, RETURN_LARGE_BLOCKS)
        .exec();
    eprintln!(
        "platen {}: {} could not be re-executed: {error}",
        process::id(),
        program.display()
    );
}
