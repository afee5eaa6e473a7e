//! The current phase of a render, and the time spent in each phase.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use crate::job::{Phase, PhaseTimes};

/// The phase of each part. The render is in the earliest phase of all parts that have started: timeout errors name that
/// phase, and elapsed time is attributed to it.
pub(crate) struct Progress(Mutex<Clock>);

struct Clock {
    /// Phase by part; `None` if the part has not started.
    phases: Vec<Option<Phase>>,
    since: Instant,
    times: PhaseTimes,
}

impl Progress {
    /// Starts the clock in [`Phase::Queue`]: no part has started.
    pub(crate) fn start(parts: usize) -> Self {
        Self(Mutex::new(Clock {
            phases: vec![None; parts],
            since: Instant::now(),
            times: PhaseTimes::default(),
        }))
    }

    /// Returns the phase of the render.
    pub(crate) fn phase(&self) -> Phase {
        self.lock().phase()
    }

    /// Moves `part` to `phase`.
    pub(crate) fn enter(&self, part: usize, phase: Phase) {
        let mut clock = self.lock();
        clock.book();
        clock.phases[part] = Some(phase);
    }

    /// Moves all parts to `phase`, for work on all parts together.
    pub(crate) fn enter_together(&self, phase: Phase) {
        let mut clock = self.lock();
        clock.book();
        clock.phases.fill(Some(phase));
    }

    /// Returns the time spent in each phase so far.
    pub(crate) fn finish(&self) -> PhaseTimes {
        let mut clock = self.lock();
        clock.book();
        clock.times
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Clock> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock {
    fn phase(&self) -> Phase {
        self.phases.iter().flatten().copied().min().unwrap_or(Phase::Queue)
    }

    fn book(&mut self) {
        let took = self.since.elapsed();
        *self.times.of(self.phase()) += took;
        self.since += took;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_render_is_where_its_slowest_part_is() {
        let progress = Progress::start(3);
        assert_eq!(progress.phase(), Phase::Queue);
        progress.enter(0, Phase::Load);
        progress.enter(1, Phase::Print);
        assert_eq!(progress.phase(), Phase::Load);
        progress.enter(0, Phase::Evaluate);
        progress.enter(0, Phase::Wait);
        assert_eq!(progress.phase(), Phase::Wait);
        progress.enter_together(Phase::Post);
        assert_eq!(progress.phase(), Phase::Post);
    }
}
