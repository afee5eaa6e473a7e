//! Callers that render one document after the other, and the measurements of a round.

use std::{
    io,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::future::try_join_all;
use serde::Serialize;
use tokio::time::timeout;

use crate::{
    error::LoadError,
    processes::{self, Memory, ProcessorTime},
    statistics::percentile,
};

/// A client with one render in progress at a time.
pub(crate) trait Caller: Send + 'static {
    /// Renders once and checks the response.
    fn render(&mut self) -> impl Future<Output = Result<Bytes, LoadError>> + Send;

    /// Cleans up between two renders; counts for throughput, not for latency.
    fn tidy_up(&mut self) -> impl Future<Output = Result<(), LoadError>> + Send {
        async { Ok(()) }
    }
}

/// Bounds of a round: no render starts after either is reached, but each caller renders at least once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) time: Duration,
    pub(crate) renders: u64,
    /// Whether each caller renders once before the measurement starts.
    pub(crate) warm_up: bool,
}

/// The measurements of one round.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Round {
    pub(crate) renders: usize,
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
    pub(crate) renders_per_second: f64,
    /// CPU time of the server process and its descendants per render.
    pub(crate) cpu_ms_per_render: ProcessorTime,
    /// The maximum during the round.
    pub(crate) memory: Memory,
}

/// The callers after a round, each with its last document, and the measurements.
pub(crate) struct Outcome<C> {
    pub(crate) callers: Vec<C>,
    pub(crate) documents: Vec<Bytes>,
    pub(crate) round: Round,
}

/// Runs all callers concurrently until `limit`. `server` is the root of the process tree that does the work.
pub(crate) async fn run_round<C: Caller>(
    mut callers: Vec<C>,
    limit: Limit,
    server: u32,
) -> Result<Outcome<C>, LoadError> {
    if limit.warm_up {
        try_join_all(callers.iter_mut().map(|caller| async move {
            caller.render().await?;
            caller.tidy_up().await
        }))
        .await?;
    }
    // Each caller's first render counts from the start.
    let begun = Arc::new(AtomicU64::new(callers.len() as u64));
    let processor_before = processes::processor_time(server)?;
    let start = Instant::now();
    let rendering = try_join_all(
        callers
            .into_iter()
            .map(|caller| tokio::spawn(render_until(caller, limit, start, begun.clone()))),
    );
    let timed = async { (rendering.await, start.elapsed()) };
    let ((series, wall), peak) = watch_memory(server, timed).await?;
    let processor = processes::processor_time(server)?;

    let mut outcome = Outcome {
        callers: Vec::new(),
        documents: Vec::new(),
        round: Round::default(),
    };
    let mut latencies = Vec::new();
    for series in series? {
        let series = series?;
        outcome.callers.push(series.caller);
        outcome.documents.push(series.last);
        latencies.extend(series.latencies_ms);
    }
    outcome.round = Round {
        renders: latencies.len(),
        p50_ms: percentile(&latencies, 50.0).unwrap_or_default(),
        p95_ms: percentile(&latencies, 95.0).unwrap_or_default(),
        renders_per_second: latencies.len() as f64 / wall.as_secs_f64(),
        cpu_ms_per_render: processor.since(&processor_before, latencies.len()),
        memory: peak,
    };
    Ok(outcome)
}

struct Series<C> {
    caller: C,
    last: Bytes,
    latencies_ms: Vec<f64>,
}

async fn render_until<C: Caller>(
    mut caller: C,
    limit: Limit,
    start: Instant,
    begun: Arc<AtomicU64>,
) -> Result<Series<C>, LoadError> {
    let mut latencies_ms = Vec::new();
    loop {
        let sent = Instant::now();
        let last = caller.render().await?;
        latencies_ms.push(sent.elapsed().as_secs_f64() * 1e3);
        caller.tidy_up().await?;
        if start.elapsed() >= limit.time || begun.fetch_add(1, Ordering::Relaxed) >= limit.renders {
            return Ok(Series {
                caller,
                last,
                latencies_ms,
            });
        }
    }
}

/// Runs `work` and returns its result with the peak memory during it.
async fn watch_memory<T>(server: u32, work: impl Future<Output = T>) -> io::Result<(T, Memory)> {
    // Short enough to see the peak of a large document, long enough not to affect the measurement.
    const INTERVAL: Duration = Duration::from_millis(500);
    let mut work = pin!(work);
    let mut peak = Memory::default();
    loop {
        let done = timeout(INTERVAL, &mut work).await;
        let now = processes::memory(server)?;
        peak.service = peak.service.max(now.service);
        peak.chromium = peak.chromium.max(now.chromium);
        if let Ok(done) = done {
            return Ok((done, peak));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::{Caller, Limit, run_round};
    use crate::error::LoadError;

    struct Counter(u64);

    impl Caller for Counter {
        async fn render(&mut self) -> Result<Bytes, LoadError> {
            self.0 += 1;
            Ok(Bytes::from_static(b"%PDF-"))
        }
    }

    struct Faulty;

    impl Caller for Faulty {
        async fn render(&mut self) -> Result<Bytes, LoadError> {
            Err(LoadError::Platen("answered 500".into()))
        }
    }

    fn limit(time: Duration, renders: u64, warm_up: bool) -> Limit {
        Limit { time, renders, warm_up }
    }

    #[tokio::test]
    async fn a_round_is_bounded_in_count() {
        let limit = limit(Duration::from_mins(1), 10, true);
        let outcome = run_round(vec![Counter(0), Counter(0)], limit, std::process::id())
            .await
            .expect("a round");
        assert_eq!(outcome.round.renders, 10);
        assert_eq!(outcome.callers.iter().map(|caller| caller.0).sum::<u64>(), 12);
    }

    #[tokio::test]
    async fn each_caller_renders_once_when_there_is_no_time() {
        let limit = limit(Duration::ZERO, 100, false);
        let outcome = run_round(vec![Counter(0), Counter(0)], limit, std::process::id())
            .await
            .expect("a round");
        assert_eq!(outcome.round.renders, 2);
        assert_eq!(outcome.documents.len(), 2);
    }

    #[tokio::test]
    async fn a_wrong_answer_ends_the_round() {
        let limit = limit(Duration::from_mins(1), 10, false);
        assert!(run_round(vec![Faulty], limit, std::process::id()).await.is_err());
    }
}
