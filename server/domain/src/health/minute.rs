//! Counts of a process by the minute.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

use crate::health::histogram::Histogram;

/// Counts since the start of a process, of one minute, or of several minutes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Renders with a document.
    pub succeeded: u64,
    /// Renders without a document.
    pub failed: u64,
    pub cancelled: u64,
    /// Browsers that were replaced after a crash.
    pub browsers_died: u64,
    /// Browsers that were replaced after `PLATEN_RENDERS_PER_BROWSER` renders.
    pub browsers_retired: u64,
    /// Connections that the address policy refused.
    pub egress_refusals: u64,
    pub detail: Detail,
}

/// Counts by name. Names with a count of 0 are omitted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// Failed renders by kind.
    pub failures: BTreeMap<String, u64>,
    /// Durations of phases, by mode, and then by phase or [`WHOLE`].
    pub phases: BTreeMap<String, BTreeMap<String, Histogram>>,
}

/// The name under which the total duration is listed among the phases.
pub const WHOLE: &str = "whole";

impl Tally {
    /// Returns the number of ended renders, whatever their outcome.
    pub fn ended(&self) -> u64 {
        self.succeeded + self.failed + self.cancelled
    }

    /// Returns the difference from an earlier tally of the same process.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            succeeded: self.succeeded.saturating_sub(earlier.succeeded),
            failed: self.failed.saturating_sub(earlier.failed),
            cancelled: self.cancelled.saturating_sub(earlier.cancelled),
            browsers_died: self.browsers_died.saturating_sub(earlier.browsers_died),
            browsers_retired: self.browsers_retired.saturating_sub(earlier.browsers_retired),
            egress_refusals: self.egress_refusals.saturating_sub(earlier.egress_refusals),
            detail: self.detail.since(&earlier.detail),
        }
    }

    /// Adds all counts of another tally.
    pub fn add(&mut self, other: &Self) {
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.cancelled += other.cancelled;
        self.browsers_died += other.browsers_died;
        self.browsers_retired += other.browsers_retired;
        self.egress_refusals += other.egress_refusals;
        for (kind, count) in &other.detail.failures {
            *self.detail.failures.entry(kind.clone()).or_default() += count;
        }
        for (mode, phases) in &other.detail.phases {
            let own = self.detail.phases.entry(mode.clone()).or_default();
            for (phase, histogram) in phases {
                own.entry(phase.clone()).or_default().add(histogram);
            }
        }
    }
}

impl Detail {
    /// Returns the durations of a phase, summed over the given modes.
    pub fn phase(&self, modes: &[&str], phase: &str) -> Histogram {
        let mut sum = Histogram::default();
        for phases in modes.iter().filter_map(|mode| self.phases.get(*mode)) {
            if let Some(histogram) = phases.get(phase) {
                sum.add(histogram);
            }
        }
        sum
    }

    fn since(&self, earlier: &Self) -> Self {
        let failures = self.failures.iter().filter_map(|(kind, count)| {
            let before = earlier.failures.get(kind).copied().unwrap_or_default();
            Some((kind.clone(), count.checked_sub(before).filter(|count| *count > 0)?))
        });
        let phases = self.phases.iter().map(|(mode, phases)| {
            let before = earlier.phases.get(mode);
            let phases = phases.iter().map(|(phase, histogram)| {
                let before = before.and_then(|phases| phases.get(phase));
                let since = before.map_or_else(|| histogram.clone(), |before| histogram.since(before));
                (phase.clone(), since)
            });
            let phases: BTreeMap<_, _> = phases.filter(|(_, histogram)| histogram.count() > 0).collect();
            (mode.clone(), phases)
        });
        Self {
            failures: failures.collect(),
            phases: phases.filter(|(_, phases)| !phases.is_empty()).collect(),
        }
    }
}

/// The counts of a process in one minute.
#[derive(Debug, Clone, PartialEq)]
pub struct Minute {
    /// The start of the minute.
    pub minute: OffsetDateTime,
    pub tally: Tally,
    /// The maximum number of renders seen waiting.
    pub peak_waiting: u64,
}

/// Divides the counts of a process since its start into minutes. Each minute is written as a whole, so writing it again
/// is harmless; counts that could not be written in their minute are written in a later one.
#[derive(Debug)]
pub struct Recorder {
    minute: OffsetDateTime,
    peak_waiting: u64,
    /// Counts before this minute.
    before: Tally,
    /// Counts that were last written.
    written: Tally,
}

impl Recorder {
    /// Starts before anything is counted.
    pub fn begin(now: OffsetDateTime) -> Self {
        Self {
            minute: beginning_of_minute(now),
            peak_waiting: 0,
            before: Tally::default(),
            written: Tally::default(),
        }
    }

    /// Returns the current minute, to be written. `counted` are the counts since the start of the process.
    pub fn look(&mut self, counted: &Tally, waiting: u64, now: OffsetDateTime) -> Minute {
        let minute = beginning_of_minute(now);
        if minute != self.minute {
            self.minute = minute;
            self.before = self.written.clone();
            self.peak_waiting = 0;
        }
        self.peak_waiting = self.peak_waiting.max(waiting);
        Minute {
            minute,
            tally: counted.since(&self.before),
            peak_waiting: self.peak_waiting,
        }
    }

    /// Records that the counts of the last call of [`Self::look`] were written.
    pub fn written(&mut self, counted: Tally) {
        self.written = counted;
    }
}

/// Returns the start of the minute that contains `moment`.
pub fn beginning_of_minute(moment: OffsetDateTime) -> OffsetDateTime {
    let into = i64::from(moment.second());
    moment - Duration::seconds(into) - Duration::nanoseconds(i64::from(moment.nanosecond()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration as Span;

    use time::macros::datetime;

    use super::*;

    const START: OffsetDateTime = datetime!(2026-11-22 10:00:03 UTC);

    fn counted(succeeded: u64, failed: u64) -> Tally {
        let mut tally = Tally {
            succeeded,
            failed,
            ..Tally::default()
        };
        if failed > 0 {
            tally.detail.failures.insert("memory".to_owned(), failed);
        }
        let mut histogram = Histogram::default();
        (0..succeeded).for_each(|_| histogram.observe(Span::from_millis(40)));
        let phases = BTreeMap::from([("print".to_owned(), histogram)]);
        tally.detail.phases.insert("sync".to_owned(), phases);
        tally
    }

    #[test]
    fn minutes_add_up_to_all_that_was_counted() {
        let mut recorder = Recorder::begin(START);
        let mut rows = BTreeMap::new();
        let looks = [(0, 0, 0), (5, 2, 0), (50, 3, 1), (58, 3, 1), (63, 7, 1), (118, 8, 4)];
        for (seconds, succeeded, failed) in looks {
            let counted = counted(succeeded, failed);
            let minute = recorder.look(&counted, succeeded, START + Duration::seconds(seconds));
            rows.insert(minute.minute, minute);
            recorder.written(counted);
        }
        let told: Vec<_> = rows
            .values()
            .map(|row| (row.tally.succeeded, row.tally.failed, row.peak_waiting))
            .collect();
        assert_eq!(told, [(3, 1, 3), (4, 0, 7), (1, 3, 8)]);
        let mut sum = Tally::default();
        for row in rows.values() {
            sum.add(&row.tally);
        }
        assert_eq!((sum.succeeded, sum.failed), (8, 4));
        assert_eq!(sum.detail.failures["memory"], 4);
        assert_eq!(sum.detail.phase(&["sync", "async"], "print").count(), 8);
    }

    #[test]
    fn what_could_not_be_written_in_its_minute_is_written_in_the_next() {
        let mut recorder = Recorder::begin(START);
        recorder.look(&counted(2, 0), 0, START);
        recorder.written(counted(2, 0));
        // The database does not respond.
        assert_eq!(
            recorder
                .look(&counted(5, 1), 0, START + Duration::seconds(50))
                .tally
                .succeeded,
            5
        );
        let next = recorder.look(&counted(6, 1), 0, START + Duration::seconds(61));
        assert_eq!((next.minute, next.tally.ended()), (datetime!(2026-11-22 10:01 UTC), 5));
        assert_eq!(next.tally.detail.failures["memory"], 1);
    }

    #[test]
    fn a_minute_in_which_nothing_happened_says_nothing() {
        let counted = counted(3, 2);
        let nothing = counted.since(&counted);
        assert_eq!(nothing, Tally::default());
    }
}
