//! The service with the command `serve-simulated`, which needs no browsers; see [`platen_server::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    platen_server::cli::run()
}
