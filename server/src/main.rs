//! The command line; see `cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    platen_server::cli::run()
}
