//! The parent's side: starts worker processes and interprets their exit statuses.

use std::{
    ffi::OsStr,
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Stdio},
};

use rustix::process::Signal;
use tokio::process::Command;

/// Path of the running executable, valid even if the file has been replaced since it was started.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// A limit that a worker process exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Processor time.
    Time,
    Memory,
}

/// Returns a command that starts `program` as a worker process: without environment variables, with pipes for standard
/// input and output, without standard error, and killed when its handle is dropped.
pub fn command(program: impl AsRef<OsStr>, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    command
}

/// Returns the limit that ended a process with this exit status, or `None` if it ended for another reason.
pub fn limit_exceeded(status: ExitStatus) -> Option<Limit> {
    match Signal::from_named_raw(status.signal()?)? {
        Signal::XCPU => Some(Limit::Time),
        // A failed allocation aborts, a stack that cannot grow faults, and the kernel kills when it runs out of memory.
        Signal::ABORT | Signal::SEGV | Signal::BUS | Signal::KILL => Some(Limit::Memory),
        _ => None,
    }
}
