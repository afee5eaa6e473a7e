//! Where a render is, and where its time went.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use crate::job::{Phase, PhaseTimes};

/// The phase of each part. Of those that have begun, the render is in the phase of the one that has come the least far: a
/// time-out names it, and the time that passes is booked on it.
pub(crate) struct Progress(Mutex<Clock>);

struct Clock {
    /// `None`: not begun.
    phases: Vec<Option<Phase>>,
    since: Instant,
    times: PhaseTimes,
}

impl Progress {
    /// No part has begun: the render waits for a slot.
    pub(crate) fn start(parts: usize) -> Self {
        Self(Mutex::new(Clock {
            phases: vec![None; parts],
            since: Instant::now(),
            times: PhaseTimes::default(),
        }))
    }

    /// The phase of the render.
    pub(crate) fn phase(&self) -> Phase {
        self.lock().phase()
    }

    /// A part enters a phase.
    pub(crate) fn enter(&self, part: usize, phase: Phase) {
        let mut clock = self.lock();
        clock.book();
        clock.phases[part] = Some(phase);
    }

    /// All that is still to be done is done for all parts together.
    pub(crate) fn enter_together(&self, phase: Phase) {
        let mut clock = self.lock();
        clock.book();
        clock.phases.fill(Some(phase));
    }

    /// The time that each phase has taken.
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
