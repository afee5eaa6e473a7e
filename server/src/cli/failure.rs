//! The failure of a command, and its exit code.

use std::{error::Error, fmt, process::ExitCode};

use platen_core::store::account_storage;

/// A command failed.
pub(super) struct Failure {
    exit_code: u8,
    message: String,
}

impl Failure {
    /// The arguments or settings are wrong; the same command would fail again.
    pub(super) fn by_caller(error: &impl ToString) -> Self {
        Self {
            exit_code: 2,
            message: error.to_string(),
        }
    }

    /// Something in the environment is wrong; the same command may succeed once that is fixed.
    pub(super) fn by_machine(message: String) -> Self {
        Self { exit_code: 1, message }
    }

    /// Prints the message on standard error and returns the exit code.
    pub(super) fn report(self) -> ExitCode {
        eprintln!("platen: {self}");
        ExitCode::from(self.exit_code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        match account_storage::full(&error) {
            Some(full) => Self::by_caller(&full),
            None => Self::by_machine(error.to_string()),
        }
    }
}
