//! Work that is done after its request was answered: when it is tried again, and when it is given up.

use std::time::Duration;

/// So long a process has a job in hand without a sign of life.
pub const LEASE: Duration = Duration::from_mins(1);
/// A job over which so many processes have ended is not tried any more.
pub const CRASHES: i32 = 3;

/// A job over which more than one process has ended waits so long. Most such jobs were only beside the one that is to
/// blame, and should not be again.
pub const AFTER_CRASHES: Duration = Duration::from_secs(5);

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Render a document and put it where it belongs.
    Render,
    /// Tell a client what became of his render.
    Callback,
}

/// Which of an account's jobs come first. Between accounts it makes no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// As they come.
    Normal = 0,
    /// After all others: a trial does not delay what is meant.
    Trial = 1,
}

/// Waits before the second, third … try of a render.
const RENDER_DELAYS: [Duration; 5] = [
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
    Duration::from_secs(32),
];
/// Waits before the second, third … try of a callback: about a day in all.
const CALLBACK_DELAYS: [Duration; 7] = [
    Duration::from_mins(1),
    Duration::from_mins(5),
    Duration::from_mins(20),
    Duration::from_hours(1),
    Duration::from_hours(3),
    Duration::from_hours(7),
    Duration::from_hours(13),
];

impl JobKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Render, Self::Callback];

    /// The word used in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Render => "render",
            Self::Callback => "callback",
        }
    }

    /// Reads [`Self::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// How long to wait after a try has failed, when `failures` have failed before it. `None`: it is given up.
    ///
    /// `chance`, from 0 to 1, spreads the tries of jobs that failed together over a quarter more or less.
    pub fn delay(self, failures: i32, chance: f64) -> Option<Duration> {
        let delays = match self {
            Self::Render => &RENDER_DELAYS[..],
            Self::Callback => &CALLBACK_DELAYS[..],
        };
        spread(delays, failures, chance)
    }
}

/// See [`JobKind::delay`].
pub(super) fn spread(delays: &[Duration], failures: i32, chance: f64) -> Option<Duration> {
    let delay = delays.get(usize::try_from(failures).unwrap_or_default())?;
    Some(delay.mul_f64(0.75 + chance.clamp(0.0, 1.0) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_render_is_tried_six_times_and_a_callback_eight_times_over_a_day() {
        let waits = |kind: JobKind| -> Vec<u64> {
            (0..)
                .map_while(|failures| kind.delay(failures, 0.5))
                .map(|wait| wait.as_secs())
                .collect()
        };
        assert_eq!(waits(JobKind::Render), [2, 4, 8, 16, 32]);
        let callbacks = waits(JobKind::Callback);
        assert_eq!((callbacks.len(), callbacks[0]), (7, 60));
        let hours = callbacks.iter().sum::<u64>() / 3600;
        assert!((23..=25).contains(&hours), "{hours} hours");
    }

    #[test]
    fn tries_are_spread() {
        for (chance, milliseconds) in [(0.0, 1500), (0.5, 2000), (1.0, 2500)] {
            let wait = JobKind::Render.delay(0, chance).expect("a second try");
            assert_eq!(wait.as_millis(), milliseconds);
        }
    }
}
