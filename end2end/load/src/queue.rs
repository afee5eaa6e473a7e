//! Renders that nobody waits for: how fast they are accepted, begun and done, and what a claim takes when very many wait.

use std::time::{Duration, Instant};

use futures::future::try_join_all;
use platen_server::{
    domain::{
        ids::{AccountId, InstanceId},
        job::JobKind,
    },
    store::{
        error::StoreError,
        jobs::{self, Wanted},
        tx,
    },
};
use reqwest::{Method, StatusCode};
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
    platen::{Service, client::Client},
    processes,
    statistics::{median, percentile},
};

/// Requests at once when they are only accepted.
const CALLERS: usize = 32;
/// Requests that are only accepted, of one account and then of several.
const ACCEPTED: usize = 1_000;
const ACCOUNTS: usize = 20;
/// Renders that are begun while nothing else is done.
const IDLE_STARTS: usize = 30;
/// What waits when claims are measured.
const WAITING_ACCOUNTS: i32 = 500;
const WAITING_EACH: i32 = 200;
const CLAIMS: usize = 300;
/// What a worker on two cores claims at once.
const CLAIMED_AT_ONCE: usize = 2;
/// Looks at what is still to be done.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What a service does that renders.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct QueueThroughput {
    /// Milliseconds from acceptance to start on an idle service.
    pub(crate) start_p50_ms: f64,
    /// Renders that are done in a second once all are accepted and until none waits.
    pub(crate) queued_per_second: f64,
    /// Renders that are done in a second when four callers wait for them.
    pub(crate) synchronous_per_second: f64,
    /// Bytes of the service's own process, once the queue is empty again.
    pub(crate) service_memory: u64,
}

impl QueueThroughput {
    /// The queue against callers who wait.
    pub(crate) fn ratio(&self) -> f64 {
        self.queued_per_second / self.synchronous_per_second
    }
}

/// What a service does that only accepts.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Acceptance {
    /// Requests of one account in a second.
    pub(crate) of_one_per_second: f64,
    /// Requests of several accounts in a second.
    pub(crate) per_second: f64,
    /// Milliseconds that a claim takes while 100,000 jobs of 500 accounts wait.
    pub(crate) claim_p95_ms: f64,
}

/// Lets a service render what it accepts of an account: one after the other, then `count` at once. `synchronous` has been
/// measured just before.
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
        let id = enqueue(account, &body).await?;
        let render = ended(account, &id).await?;
        let [accepted, started] = ["inserted_at", "started_at"].map(|name| moment(&render[name]));
        start_ms.push((started? - accepted?).as_seconds_f64() * 1e3);
    }
    let mut renders = Vec::new();
    for _ in 0..count {
        renders.push(enqueue(account, &body).await?);
    }
    // While requests are still being accepted, the queue is not all that the service does; nor should it be asked for each
    // render before all have ended.
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
        synchronous_per_second: synchronous.renders_per_second,
        service_memory: processes::memory(service.pid)?.service,
    })
}

/// Lets a service accept what nobody renders, and then claims from a queue of 100,000 jobs as a worker does.
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

/// Requests accepted in a second.
async fn accept(accounts: &[Client], body: &Value) -> Result<f64, LoadError> {
    let start = Instant::now();
    let callers = (0..CALLERS).map(async |caller| {
        for turn in 0..ACCEPTED / CALLERS {
            enqueue(&accounts[(caller + turn) % accounts.len()], body).await?;
        }
        Ok::<_, LoadError>(())
    });
    try_join_all(callers).await?;
    Ok((ACCEPTED / CALLERS * CALLERS) as f64 / start.elapsed().as_secs_f64())
}

async fn measure_claims(db: &PgPool) -> Result<f64, StoreError> {
    fill(db).await?;
    let instance = InstanceId::generate();
    let mut wanted = Wanted {
        kind: JobKind::Render,
        jobs: CLAIMED_AT_ONCE,
        after: AccountId(Uuid::nil()),
        cap: None,
    };
    let mut took_ms = Vec::new();
    for _ in 0..CLAIMS {
        let start = Instant::now();
        let mut transaction = tx::begin_volatile(db).await?;
        let claimed = jobs::claim(&mut transaction, instance, wanted, OffsetDateTime::now_utc()).await?;
        tx::commit(transaction).await?;
        took_ms.push(start.elapsed().as_secs_f64() * 1e3);
        wanted.after = claimed.last().map_or(wanted.after, |job| job.account);
    }
    Ok(percentile(&took_ms, 95.0).unwrap_or_default())
}

/// Adds accounts with jobs to the queue.
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

/// The id of an accepted render.
async fn enqueue(account: &Client, body: &Value) -> Result<String, LoadError> {
    let answer = account
        .request(Method::POST, "renderers/pdf/async")
        .json(body)
        .send()
        .await?;
    let id = answer
        .headers()
        .get("x-render-id")
        .and_then(|id| id.to_str().ok())
        .map(ToOwned::to_owned);
    match (answer.status(), id) {
        (StatusCode::OK, Some(id)) => Ok(id),
        (status, _) => Err(LoadError::Platen(format!(
            "answered {status}: {}",
            answer.text().await?
        ))),
    }
}

/// A render that has ended, and well.
async fn ended(account: &Client, id: &str) -> Result<Value, LoadError> {
    loop {
        let answer = account.request(Method::GET, &format!("renders/{id}")).send().await?;
        let mut body: Value = answer.json().await?;
        let render = body["data"].take();
        match render["state"].as_str() {
            Some("succeeded") => return Ok(render),
            Some("queued" | "processing") => sleep(LOOK_EVERY).await,
            _ => return Err(LoadError::Platen(format!("did not render: {render}"))),
        }
    }
}

fn moment(time: &Value) -> Result<OffsetDateTime, LoadError> {
    let parsed = time.as_str().map(|time| OffsetDateTime::parse(time, &Rfc3339));
    match parsed {
        Some(Ok(time)) => Ok(time),
        _ => Err(LoadError::Platen(format!("tells no time: {time}"))),
    }
}
