//! Runs commands of the binary to their end.

use std::{
    ffi::OsStr,
    io::Write,
    process::{Command, Output, Stdio},
};

/// The binary under test, in an environment without settings.
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

/// What a command answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    /// Standard output, trimmed, of a command that has to succeed.
    #[track_caller]
    pub(crate) fn succeeded(self) -> String {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self.stdout.trim().to_owned()
    }

    /// Standard error of a command that has to fail by the caller's fault.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!(self.code, Some(2), "{self:#?}");
        self.stderr
    }
}

/// Gives a command its arguments and input, and waits for it.
pub(crate) fn run(mut command: Command, arguments: &[impl AsRef<OsStr>], input: &str) -> Answer {
    let mut child = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A command that refuses its arguments ends without reading.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().expect("the binary ends");
    Answer {
        code: status.code(),
        stdout: String::from_utf8(stdout).expect("text"),
        stderr: String::from_utf8(stderr).expect("text"),
    }
}
