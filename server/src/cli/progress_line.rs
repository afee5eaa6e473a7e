//! Progress on one line of standard error.

use std::{
    fmt::Display,
    io::{self, IsTerminal},
};

/// The line, which is drawn only on a terminal.
pub(super) struct ProgressLine {
    pub(super) is_drawn: bool,
}

impl ProgressLine {
    pub(super) fn new() -> Self {
        Self {
            is_drawn: io::stderr().is_terminal(),
        }
    }

    /// Replaces the line.
    pub(super) fn show(&self, text: impl Display) {
        if self.is_drawn {
            eprint!("\r\x1b[2K{text}");
        }
    }

    /// Removes the line.
    pub(super) fn clear(&self) {
        self.show("");
    }
}
