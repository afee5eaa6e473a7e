//! Asynchronous renders: how fast they are accepted, started and finished, and the duration of a claim from a long
//! queue.

use std::{
    fmt::Display,
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use platen_core::store::{
    error::StoreError,
    jobs::{self, ClaimRequest, ClaimedJob},
    tx,
};
use platen_domain::{
    ids::{AccountId, InstanceId},
    job::JobKind,
};
use reqwest::Method;
use serde::Serialize;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgPool};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::time::sleep;
use uuid::Uuid;

use crate::{
    error::LoadError,
    measure::Round,
    pages::Load,
    platen::{
        Service,
        client::{Client, answer},
    },
    processes,
    statistics::{median, percentile},
};

/// Concurrent requests while renders are only accepted.
const CALLERS: usize = 32;
/// Requests that are only accepted, first from one account, then from several.
const ACCEPTED: usize = 1_000;
const ACCOUNTS: usize = 20;
/// Renders whose start is measured on an idle service.
const IDLE_STARTS: usize = 30;
/// The queue from which claims are measured.
const WAITING_ACCOUNTS: i32 = 500;
const WAITING_EACH: i32 = 200;
const CLAIMS: usize = 300;
/// Jobs that a worker on two cores claims at once.
const CLAIMED_AT_ONCE: usize = 2;
/// Polling interval for unfinished renders.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Measurements of a service that renders.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct QueueThroughput {
    /// Milliseconds from acceptance to start on an idle service.
    pub(crate) start_p50_ms: f64,
    /// Renders finished per second, from the acceptance of the last one until the queue is empty.
    pub(crate) queued_per_second: f64,
    /// Rows of a batch finished per second, from its upload until the last one is finished.
    pub(crate) batched_per_second: f64,
    /// Synchronous renders finished per second with four callers.
    pub(crate) synchronous_per_second: f64,
    /// Memory of the service's own process in bytes, after the queue is empty.
    pub(crate) service_memory: u64,
}

impl QueueThroughput {
    /// Returns the throughput of the queue relative to that of synchronous callers.
    pub(crate) fn ratio(&self) -> f64 {
        self.queued_per_second / self.synchronous_per_second
    }

    /// Returns the throughput of a batch relative to that of synchronous callers.
    pub(crate) fn batch_ratio(&self) -> f64 {
        self.batched_per_second / self.synchronous_per_second
    }
}

/// Measurements of a service that only accepts renders.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Acceptance {
    /// Requests per second of one account.
    pub(crate) of_one_per_second: f64,
    /// Requests per second of several accounts.
    pub(crate) per_second: f64,
    /// Duration of a claim in milliseconds, with 100,000 queued jobs of 500 accounts.
    pub(crate) claim_p95_ms: f64,
}

/// Measures asynchronous renders of one account: first one after the other, then `count` at once. `synchronous` is the
/// result of a round measured just before.
pub(crate) async fn measure_throughput(
    service: &Service,
    account: &Client,
    load: &Load,
    count: usize,
    synchronous: &Round,
) -> Result<QueueThroughput, LoadError> {
    let body = body(load);
    let mut start_ms = Vec::new();
    for _ in 0..IDLE_STARTS {
        let id = account.enqueue(&body).await?;
        let render = ended(account, id).await?;
        let [accepted, started] = ["inserted_at", "started_at"].map(|name| moment(&render[name]));
        start_ms.push((started? - accepted?).as_seconds_f64() * 1e3);
    }
    let mut renders = Vec::new();
    for _ in 0..count {
        renders.push(account.enqueue(&body).await?);
    }
    // While requests are still being accepted, or renders are polled, the service isn't fully available to the queue.
    let full = OffsetDateTime::now_utc();
    if let Some(last) = renders.last() {
        ended(account, last).await?;
    }
    let mut finished = Vec::new();
    for id in &renders {
        let render = ended(account, id).await?;
        finished.push(moment(&render["finished_at"])?);
    }
    finished.retain(|finished| *finished > full);
    let took = match finished.iter().max() {
        Some(last) => (*last - full).as_seconds_f64(),
        None => f64::INFINITY,
    };
    Ok(QueueThroughput {
        start_p50_ms: median(&start_ms).unwrap_or_default(),
        queued_per_second: finished.len() as f64 / took,
        batched_per_second: measure_batch(account, load, count).await?,
        synchronous_per_second: synchronous.renders_per_second,
        service_memory: processes::memory(service.pid)?.service,
    })
}

/// Returns the throughput of a batch of `count` rows.
async fn measure_batch(account: &Client, load: &Load, count: usize) -> Result<f64, LoadError> {
    let template = account.create_template("Batch", &load.html).await?;
    let path = account.create_batch(&template, json!({})).await?;
    let uploaded = OffsetDateTime::now_utc();
    account.upload_rows(&path, (0..count).map(|_| json!({}))).await?;
    loop {
        let batch = answer(account.request(Method::GET, &path)).await?;
        if batch["data"]["succeeded"] == count {
            break;
        }
        if batch["data"]["failed"] != 0 {
            return Err(LoadError::Platen(format!("failed rows: {batch}")));
        }
        sleep(LOOK_EVERY).await;
    }
    let results = account
        .request(Method::GET, &format!("{path}/results"))
        .send()
        .await?
        .text()
        .await?;
    let last: Value = serde_json::from_str(results.lines().last().unwrap_or_default()).unwrap_or_default();
    let last = ended(account, last["render_id"].as_str().unwrap_or_default()).await?;
    let took = moment(&last["finished_at"])? - uploaded;
    Ok(count as f64 / took.as_seconds_f64())
}

/// Measures the acceptance of renders that no worker runs, and then claims from a queue of 100,000 jobs.
pub(crate) async fn measure_acceptance(service: &Service, load: &Load) -> Result<Acceptance, LoadError> {
    let mut accounts = Vec::new();
    for number in 0..ACCOUNTS {
        accounts.push(service.new_client(&format!("account-{number}")).await?);
    }

    let body = body(load);
    let of_one_per_second = accept(&accounts[..1], &body).await?;
    let per_second = accept(&accounts, &body).await?;
    let database = service.database().await?;
    let claim_p95_ms = measure_claims(&database.pool).await;
    database
        .close()
        .await
        .map_err(|error| service.failure(&error.to_string()))?;
    Ok(Acceptance {
        of_one_per_second,
        per_second,
        claim_p95_ms: claim_p95_ms.map_err(|error| service.failure(&error.to_string()))?,
    })
}

/// Returns the number of requests accepted per second.
async fn accept(accounts: &[Client], body: &Value) -> Result<f64, LoadError> {
    let start = Instant::now();
    let callers = (0..CALLERS).map(async |caller| {
        for turn in 0..ACCEPTED / CALLERS {
            accounts[(caller + turn) % accounts.len()].enqueue(body).await?;
        }
        Ok::<_, LoadError>(())
    });
    try_join_all(callers).await?;
    Ok((ACCEPTED / CALLERS * CALLERS) as f64 / start.elapsed().as_secs_f64())
}

async fn measure_claims(db: &PgPool) -> Result<f64, StoreError> {
    fill(db).await?;
    let instance = InstanceId::generate();
    let mut request = ClaimRequest {
        kind: JobKind::Render,
        jobs: CLAIMED_AT_ONCE,
        after: AccountId(Uuid::nil()),
        cap: None,
        share: None,
    };
    let mut took_ms = Vec::new();
    for _ in 0..CLAIMS {
        let start = Instant::now();
        let mut transaction = tx::begin_volatile(db).await?;
        let claimed = jobs::claim(&mut transaction, instance, request, OffsetDateTime::now_utc()).await?;
        tx::commit(transaction).await?;
        took_ms.push(start.elapsed().as_secs_f64() * 1e3);
        let last = claimed.last().and_then(ClaimedJob::account);
        request.after = last.unwrap_or(request.after);
    }
    Ok(percentile(&took_ms, 95.0).unwrap_or_default())
}

/// Inserts accounts with queued jobs.
async fn fill(db: &PgPool) -> Result<(), StoreError> {
    let statements = format!(
        "insert into accounts (id, inserted_at)
            select gen_random_uuid(), now() from generate_series(1, {WAITING_ACCOUNTS});
         insert into renders (id, account_id, mode, status, livemode, options, inserted_at)
            select gen_random_uuid(), accounts.id, 'async', 'queued', false, '{{}}', now()
            from generate_series(1, {WAITING_EACH}), accounts
            where not exists (select from renders where renders.account_id = accounts.id);
         insert into jobs (id, account_id, kind, render_id, priority, run_at, due)
            select gen_random_uuid(), account_id, 'render', id, 0, now(), true from renders where not livemode;
         analyze"
    );
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(db).await?;
    Ok(())
}

fn body(load: &Load) -> Value {
    json!({ "parts": [{ "type": "html", "content": load.html }] })
}

/// Waits for a render to end and returns it; fails if it did not succeed.
pub(crate) async fn ended(account: &Client, id: impl Display) -> Result<Value, LoadError> {
    loop {
        let answer = account.request(Method::GET, &format!("renders/{id}")).send().await?;
        let mut body: Value = answer.json().await?;
        let render = body["data"].take();
        match render["state"].as_str() {
            Some("succeeded") => return Ok(render),
            Some("queued" | "processing") => sleep(LOOK_EVERY).await,
            _ => return Err(LoadError::Platen(format!("failed a render: {render}"))),
        }
    }
}

pub(crate) fn moment(time: &Value) -> Result<OffsetDateTime, LoadError> {
    let parsed = time.as_str().map(|time| OffsetDateTime::parse(time, &Rfc3339));
    match parsed {
        Some(Ok(time)) => Ok(time),
        _ => Err(LoadError::Platen(format!("returned an invalid time: {time}"))),
    }
}
