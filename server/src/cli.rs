//! The command line.

use std::process::ExitCode;

/// Runs the command that the arguments name.
pub fn run() -> ExitCode {
    ExitCode::SUCCESS
}
