//! Runs commands of the binary to completion.

use std::{
    ffi::OsStr,
    io::Write,
    process::{Command, Output, Stdio},
};

/// Returns the binary under test, in an environment without settings.
pub(crate) fn platen() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command.env_clear();
    for kept in ["PATH", "HOME", "TMPDIR"] {
        if let Some(value) = std::env::var_os(kept) {
            command.env(kept, value);
        }
    }
    command
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    /// Asserts that the command succeeded, and returns its standard output, trimmed.
    #[track_caller]
    pub(crate) fn succeeded(self) -> String {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self.stdout.trim().to_owned()
    }

    /// Asserts that the command failed because of its arguments or input, and returns its standard error.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!(self.code, Some(2), "{self:#?}");
        self.stderr
    }
}

/// Runs a command with these arguments and this input.
pub(crate) fn run(mut command: Command, arguments: &[impl AsRef<OsStr>], input: &str) -> Answer {
    let mut child = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A command that rejects its arguments exits without reading.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().expect("the binary ends");
    Answer {
        code: status.code(),
        stdout: String::from_utf8(stdout).expect("text"),
        stderr: String::from_utf8(stderr).expect("text"),
    }
}
