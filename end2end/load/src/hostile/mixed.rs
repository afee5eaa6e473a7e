//! Synchronous renders of mixed pages by several accounts, one in a hundred of them hostile and soon stopped by a
//! limit. No render may be lost, duplicated or charged wrongly, and memory must not grow.

use std::{
    collections::HashSet,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use bytes::Bytes;
use futures::future::try_join_all;
use reqwest::StatusCode;
use serde::Serialize;
use serde_json::json;
use sqlx::Row as _;

use crate::{
    error::LoadError,
    hostile::{
        Answer,
        attacks::{binary, evaluating, nested, titled, with_parts},
        post,
    },
    pages,
    platen::{Service, client::Client},
    processes,
    results::SoakPoint,
    statistics::percentile,
};

const ACCOUNTS: usize = 4;
/// Callers per account.
const CALLERS: usize = 2;
/// One render in this many is hostile.
const HOSTILE_INTERVAL: u64 = 100;
const POINTS: u64 = 10;

/// The results of all renders.
#[derive(Debug, Default, Serialize)]
pub(crate) struct MixedSoak {
    pub(crate) renders: u64,
    pub(crate) hostile: u64,
    /// Ordinary renders that did not return a document.
    pub(crate) lost: u64,
    /// Documents in the database in excess of those returned, or returned under an id that was already used.
    pub(crate) doubled: u64,
    /// Credits charged, and the price of the documents: one credit each.
    pub(crate) charged: i64,
    pub(crate) owed: i64,
    /// Hostile requests that returned neither a document nor a clear refusal.
    pub(crate) unclear: u64,
    /// The slowest hostile request, in milliseconds.
    pub(crate) slowest_hostile_ms: f64,
    pub(crate) p95_ms: f64,
    pub(crate) seconds: f64,
    pub(crate) points: Vec<SoakPoint>,
}

/// State shared by the callers.
struct Run {
    total: u64,
    begun: AtomicU64,
    pid: u32,
    pages: Vec<Bytes>,
    hostile: Vec<Bytes>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    soak: MixedSoak,
    ended: u64,
    ids: HashSet<String>,
    latencies_ms: Vec<f64>,
}

/// Renders `renders` pages on a service with default settings, except for the request rate limit.
pub(crate) async fn measure(binary: &Path, chromium: &Path, renders: u64) -> Result<MixedSoak, LoadError> {
    let settings = [("PLATEN_RATE_PER_MINUTE", "1000000")];
    let service = Service::start_with(binary, chromium, "all", &settings)?;
    service
        .while_it_runs(async |service| measure_service(service, renders).await)
        .await
}

async fn measure_service(service: &Service, renders: u64) -> Result<MixedSoak, LoadError> {
    let mut clients = Vec::new();
    for number in 0..ACCOUNTS {
        clients.push(service.new_client(&format!("account-{number}")).await?);
    }
    let loads = [pages::hello(), pages::invoice(), pages::scripted_invoice()];
    let run = Arc::new(Run {
        total: renders,
        begun: AtomicU64::new(0),
        pid: service.pid,
        pages: loads.iter().map(|load| binary(&json!([*load.html])).into()).collect(),
        hostile: hostile_bodies(),
        seen: Mutex::default(),
    });
    let start = Instant::now();
    let callers = clients.iter().flat_map(|client| vec![client.clone(); CALLERS]);
    let callers = callers.map(|client| tokio::spawn(render(Arc::clone(&run), client)));
    for ended in try_join_all(callers).await? {
        ended?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let (recorded, charged) = recorded(service).await?;
    let mut seen = run.seen.lock().unwrap_or_else(PoisonError::into_inner);
    let mut soak = std::mem::take(&mut seen.soak);
    soak.doubled += u64::try_from(recorded - soak.owed).unwrap_or_default();
    soak.p95_ms = percentile(&seen.latencies_ms, 95.0).unwrap_or_default();
    Ok(MixedSoak {
        renders,
        charged,
        seconds,
        ..soak
    })
}

async fn render(run: Arc<Run>, client: Client) -> Result<(), LoadError> {
    loop {
        let number = run.begun.fetch_add(1, Ordering::Relaxed);
        if number >= run.total {
            return Ok(());
        }
        let hostile = number % HOSTILE_INTERVAL == HOSTILE_INTERVAL / 2;
        let bodies = if hostile { &run.hostile } else { &run.pages };
        let turn = if hostile { number / HOSTILE_INTERVAL } else { number };
        let body = bodies[turn as usize % bodies.len()].clone();
        let sent = Instant::now();
        let outcome = post(&client, body).await;
        run.note(hostile, outcome.ok(), sent.elapsed().as_secs_f64() * 1e3)?;
    }
}

impl Run {
    fn note(&self, hostile: bool, outcome: Option<Answer>, took_ms: f64) -> Result<(), LoadError> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.ended += 1;
        let status = outcome.as_ref().map(|answer| answer.status);
        let done = status == Some(StatusCode::OK);
        if done {
            seen.soak.owed += 1;
            let id = outcome.and_then(|answer| answer.id);
            if id.is_none_or(|id| !seen.ids.insert(id)) {
                seen.soak.doubled += 1;
            }
        }
        if hostile {
            seen.soak.hostile += 1;
            seen.soak.slowest_hostile_ms = seen.soak.slowest_hostile_ms.max(took_ms);
            let clear = status
                .is_some_and(|status| done || status.is_client_error() || status == StatusCode::SERVICE_UNAVAILABLE);
            seen.soak.unclear += u64::from(!clear);
        } else {
            seen.soak.lost += u64::from(!done);
            seen.latencies_ms.push(took_ms);
        }
        if seen.ended.is_multiple_of((self.total / POINTS).max(1)) {
            let point = SoakPoint {
                renders: seen.ended as usize,
                service_memory: processes::memory(self.pid)?.service,
            };
            seen.soak.points.push(point);
        }
        Ok(())
    }
}

/// Returns the number of documents in the database and the credits charged for them.
async fn recorded(service: &Service) -> Result<(i64, i64), LoadError> {
    const RECORDED: &str = "select count(*), coalesce(sum(credits), 0)::bigint from renders where status = 'succeeded'";
    let failed = |error: &dyn std::fmt::Display| service.failure(&error.to_string());
    let database = service.database().await?;
    let row = sqlx::query(RECORDED).fetch_one(&database.pool).await;
    let row = row.map_err(|error| failed(&error))?;
    database.close().await.map_err(|error| failed(&error))?;
    Ok((row.get(0), row.get(1)))
}

/// Returns hostile bodies, each small enough to reach a limit within two seconds.
fn hostile_bodies() -> Vec<Bytes> {
    let bodies = [
        evaluating("'\\u0001'.repeat(5e6)"),
        evaluating("(() => { throw new Error('x'.repeat(1e7)) })()"),
        evaluating("for (let i = 0; i < 100; i++) console.log('x'.repeat(1e5))"),
        with_parts(&format!("[{}1]", "1,".repeat(500_000))),
        with_parts(&nested()),
        titled(50_000, 5_000),
    ];
    bodies.map(Bytes::from).into()
}
