//! The pace at which the rows of a batch must arrive.

use std::time::Duration;

use tokio::time::Instant;

/// Rate at which they must arrive on average, in bytes a second, once the time of other bodies is over.
pub const SLOWEST_ROWS: u64 = 128 * 1024;

/// Returns the deadline of a transfer after `bytes` more bytes have arrived, each [`SLOWEST_ROWS`] of which add a second to it. It is
/// at most `time` from now: a sender that sends fast may not pause for longer later.
pub fn extended(deadline: Instant, bytes: usize, time: Duration) -> Instant {
    let more = Duration::from_secs_f64(bytes as f64 / SLOWEST_ROWS as f64);
    (deadline + more).min(Instant::now() + time)
}
