//! Why a command failed, and with which exit code.

use std::{error::Error, process::ExitCode};

use crate::store::account_storage;

/// The command could not do what it was asked.
pub(super) struct Failure {
    exit_code: u8,
    message: String,
}

impl Failure {
    /// The arguments or settings are wrong; the same command fails again.
    pub(super) fn by_caller(error: &impl ToString) -> Self {
        Self {
            exit_code: 2,
            message: error.to_string(),
        }
    }

    /// Something outside is wrong; the same command may succeed once that is mended.
    pub(super) fn by_machine(message: String) -> Self {
        Self { exit_code: 1, message }
    }

    /// Tells it on standard error.
    pub(super) fn report(self) -> ExitCode {
        eprintln!("platen: {}", self.message);
        ExitCode::from(self.exit_code)
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
