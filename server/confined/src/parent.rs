//! The parent's side: how a child is started, and what its end says.

use std::{
    ffi::OsStr,
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Stdio},
};

use rustix::process::Signal;
use tokio::process::Command;

/// The very file that runs, even if another one has taken its place since.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// What a child has exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Its processor time.
    Time,
    /// Its memory.
    Memory,
}

/// A child to be: without environment variables, heard and spoken to over pipes, and ended with its handle.
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

/// The limit that ends a child in this way; `None`: it ended otherwise.
pub fn limit_exceeded(status: ExitStatus) -> Option<Limit> {
    match Signal::from_named_raw(status.signal()?)? {
        Signal::XCPU => Some(Limit::Time),
        // An allocation that fails aborts, a stack that cannot grow faults, and the system itself kills when it runs out.
        Signal::ABORT | Signal::SEGV | Signal::BUS | Signal::KILL => Some(Limit::Memory),
        _ => None,
    }
}
