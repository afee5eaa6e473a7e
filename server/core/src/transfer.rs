//! The pace at which the rows of a batch must arrive.

use std::time::Duration;

use tokio::time::Instant;

/// Rate at which they must arrive on average, in bytes a second, once the time of other bodies is over.
pub const SLOWEST_ROWS: u64 = 128 * 1024;

/// The deadline of a transfer. It approaches only while the service waits for the sender, not while the service stores what has
/// arrived: it doesn't read then, so that the sender must wait.
#[derive(Debug)]
pub struct TransferDeadline {
    time: Duration,
    deadline: Instant,
    /// Since when the service hasn't been waiting for the sender; `None` while it waits.
    busy_since: Option<Instant>,
}

impl TransferDeadline {
    /// Returns the deadline of a transfer that may take `time`, from the first call of [`Self::wait`].
    pub fn new(time: Duration) -> Self {
        let now = Instant::now();
        Self {
            time,
            deadline: now + time,
            busy_since: Some(now),
        }
    }

    /// Returns when the time of the sender is over, for which the service waits from now on.
    pub fn wait(&mut self) -> Instant {
        if let Some(since) = self.busy_since.take() {
            self.deadline += since.elapsed();
        }
        self.deadline
    }

    /// Notes that something has arrived. Each [`SLOWEST_ROWS`] of `bytes` add a second. The deadline is at most `time` from now: a
    /// sender that sends fast may not pause for longer later.
    pub fn receive(&mut self, bytes: usize) {
        let now = Instant::now();
        let more = Duration::from_secs_f64(bytes as f64 / SLOWEST_ROWS as f64);
        self.deadline = (self.deadline + more).min(now + self.time);
        self.busy_since = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_passes_only_while_the_service_waits_for_the_sender() {
        let seconds = Duration::from_secs;
        let mut deadline = TransferDeadline::new(seconds(60));
        let rest = |deadline: &mut TransferDeadline| deadline.wait() - Instant::now();
        advance(seconds(100)).await;
        assert_eq!(rest(&mut deadline), seconds(60));
        advance(seconds(10)).await;
        deadline.receive(SLOWEST_ROWS as usize);
        advance(seconds(100)).await;
        assert_eq!(rest(&mut deadline), seconds(51));
        advance(seconds(20)).await;
        assert_eq!(rest(&mut deadline), seconds(31));
        deadline.receive(1 << 30);
        assert_eq!(rest(&mut deadline), seconds(60));
    }
}
