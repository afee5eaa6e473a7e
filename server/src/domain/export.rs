//! Archives of accounts: all that one consists of, as a file for its owner.

use std::time::Duration;

use crate::domain::job::spread;

/// So long an archive can be fetched.
pub const LIFETIME: time::Duration = time::Duration::days(7);
/// So many an owner may ask for within [`DAY`].
pub const MOST_A_DAY: i64 = 3;
/// See [`MOST_A_DAY`].
pub const DAY: time::Duration = time::Duration::days(1);
/// Documents that an archive holds, together; those that are older are named by their addresses.
pub const MOST_DOCUMENT_BYTES: u64 = 1024 * 1024 * 1024;

/// So long somebody has one in hand without a sign of life.
pub const LEASE: Duration = Duration::from_mins(5);

/// So often one is begun.
pub const TRIES: i32 = 3;
/// Waits before the second and the third try.
const DELAYS: [Duration; TRIES as usize - 1] = [Duration::from_mins(1), Duration::from_mins(10)];

/// How long to wait after a try has failed, when `failures` have failed before it. `None`: it is given up. `chance`, from
/// 0 to 1, spreads the tries.
pub fn delay(failures: i32, chance: f64) -> Option<Duration> {
    spread(&DELAYS, failures, chance)
}

/// How an archive stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportState {
    /// It is still to be made.
    Waiting,
    /// It can be fetched.
    Ready,
    /// It could not be made.
    Failed,
}

impl ExportState {
    /// Reads the database's word; a check keeps others out.
    pub fn from_column(word: &str) -> Self {
        match word {
            "ready" => Self::Ready,
            "failed" => Self::Failed,
            _ => Self::Waiting,
        }
    }
}
