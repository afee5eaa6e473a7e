//! Queue, store and callbacks without browsers: several processes on one Postgres, whose renders take 30 ms in which nothing
//! happens. Counts from acceptance to the delivered callback, and that each render has one and is charged once.

use std::{
    fmt,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use futures::future::{try_join, try_join_all, try_join3};
use platen_core::{
    service::{
        accounts::{self, NewOwner, PlanChoice},
        api_keys::{self, NewKeyRequest},
    },
    store::api_keys::KeySettings,
};
use platen_domain::account_log::Actor;
use platen_server::database::Database;
use serde::Serialize;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::OffsetDateTime;
use tokio::{
    process::Command,
    time::{MissedTickBehavior, interval, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::{
    database_profile::{self, DatabaseProfile},
    error::LoadError,
    platen::{Service, client::Client},
    processes::{self, ProcessorTime},
    queue::{ended, moment},
    receiver::Receiver,
    statistics::percentile,
};

/// Concurrent requests of the callers that enqueue renders one by one.
const CALLERS: usize = 16;
/// Time between renders that measure the delay of single renders.
const PROBE_EVERY: Duration = Duration::from_millis(100);
/// Time in which everything must be delivered that is accepted.
const PATIENCE: Duration = Duration::from_mins(10);
/// Renders before the measurement.
const WARM_UP: usize = 500;
/// Settings of all processes: limits that are not under test, and a key that encrypts nothing of worth.
pub(crate) const SETTINGS: [(&str, &str); 7] = [
    ("PLATEN_RATE_PER_MINUTE", "1000000"),
    ("PLATEN_CONCURRENCY", "1000"),
    ("PLATEN_QUEUE_LIMIT", "1000"),
    ("PLATEN_SESSIONS", "100"),
    ("PLATEN_MEMORY_MB", "1000000"),
    ("PLATEN_EGRESS_ALLOW", "127.0.0.0/8"),
    (
        "PLATEN_SECRET_KEY",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    ),
];
/// Connections of the process whose Postgres has about as many for all processes.
pub(crate) const CONNECTIONS: (&str, &str) = ("PLATEN_DATABASE_CONNECTIONS", "90");
/// As many renders at a time as the processes of a larger installation.
pub(crate) const SLOTS: (&str, &str) = ("PLATEN_SLOTS", "24");
/// The limit of the plan, and processes with the slots of two cores.
const OF_PLAN: [(&str, &str); 2] = [("PLATEN_CONCURRENCY", ""), ("PLATEN_SLOTS", "3")];

/// How renders reach the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Arrival {
    /// As rows of batches, one for each account.
    Batches,
    /// By a request each.
    Requests,
}

/// What is measured.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Scenario {
    pub(crate) arrival: Arrival,
    /// Processes that render, besides the one that receives requests.
    pub(crate) workers: usize,
    pub(crate) accounts: usize,
    /// Whether `pg_dump` runs beside.
    pub(crate) with_backup: bool,
    /// Whether the plan limits the concurrent renders of accounts, to 24, and processes have three slots.
    pub(crate) is_limited: bool,
}

impl fmt::Display for Scenario {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrival = match self.arrival {
            Arrival::Batches => "batches",
            Arrival::Requests => "requests",
        };
        write!(
            formatter,
            "{arrival} of {} accounts, {} workers",
            self.accounts, self.workers
        )?;
        if self.with_backup {
            formatter.write_str(", with a backup")?;
        }
        if self.is_limited {
            formatter.write_str(", limits of the plan")?;
        }
        Ok(())
    }
}

/// The scenarios of a full run.
pub(crate) const SCENARIOS: &[Scenario] = &[
    batches(1, 1),
    batches(2, 1),
    batches(4, 1),
    batches(2, 10),
    batches(2, 1_000),
    Scenario {
        with_backup: true,
        ..batches(2, 10)
    },
    Scenario {
        arrival: Arrival::Requests,
        ..batches(2, 10)
    },
    Scenario {
        is_limited: true,
        ..batches(4, 1)
    },
];

const fn batches(workers: usize, accounts: usize) -> Scenario {
    Scenario {
        arrival: Arrival::Batches,
        workers,
        accounts,
        with_backup: false,
        is_limited: false,
    }
}

/// The measurements of a scenario.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ScaleResult {
    #[serde(flatten)]
    pub(crate) scenario: Scenario,
    pub(crate) renders: usize,
    /// From the first acceptance to the last delivered callback.
    pub(crate) renders_per_second: f64,
    /// CPU time of Postgres for each render.
    pub(crate) postgres_ms: f64,
    /// CPU time of all processes of the service for each render, without Postgres.
    pub(crate) service_ms: f64,
    /// Bytes of the write-ahead log for each render.
    pub(crate) wal_bytes: f64,
    /// Of single renders beside the others: duration of the request.
    pub(crate) acceptance_p95_ms: f64,
    /// Of single renders beside the others: from acceptance to start.
    pub(crate) start_p95_ms: f64,
    /// What the sessions of Postgres did meanwhile.
    pub(crate) database: DatabaseProfile,
    /// Renders without a callback.
    pub(crate) lost: usize,
    /// Callbacks beyond one for each render.
    pub(crate) doubled: usize,
    /// Credits charged beyond one for each render.
    pub(crate) overcharged: i64,
}

/// Measures a scenario with `renders` renders. `simulated` is the program `platen-simulated`.
pub(crate) async fn measure(simulated: &Path, scenario: Scenario, renders: usize) -> Result<ScaleResult, LoadError> {
    let renders = renders / scenario.accounts * scenario.accounts;
    let front = start(simulated, "web", &[&SETTINGS[..], &[SLOTS, CONNECTIONS]].concat())?;
    front
        .while_it_runs(async |front| {
            let database_url = front.database_url();
            let limits = if scenario.is_limited { &OF_PLAN[..] } else { &[SLOTS] };
            let settings = [&SETTINGS[..], limits, &[("DATABASE_URL", database_url.as_str())]].concat();
            let workers = (0..scenario.workers).map(|_| start(simulated, "worker", &settings));
            let mut workers = workers.collect::<Result<Vec<_>, _>>()?;
            let measured = async {
                for worker in &mut workers {
                    worker.wait_until_ready().await?;
                }
                let stage = Stage::prepare(front, &workers, scenario, renders).await?;
                stage.warm_up().await?;
                stage.measure().await
            }
            .await;
            for worker in workers {
                worker.stop().await?;
            }
            measured
        })
        .await
}

/// Starts a process of `platen-simulated` in a role.
pub(crate) fn start(simulated: &Path, role: &str, settings: &[(&'static str, &str)]) -> Result<Service, LoadError> {
    let settings: Vec<_> = settings.iter().copied().chain([("PLATEN_ROLE", role)]).collect();
    Service::start_command(simulated, "serve-simulated", &settings)
}

struct Stage<'a> {
    front: &'a Service,
    workers: &'a [Service],
    scenario: Scenario,
    renders: usize,
    receiver: Receiver,
    database: Database,
    accounts: Vec<Client>,
    /// The account of single renders beside the others.
    prober: Client,
    /// The account of renders before the measurement.
    warmer: Client,
}

impl<'a> Stage<'a> {
    async fn prepare(
        front: &'a Service,
        workers: &'a [Service],
        scenario: Scenario,
        renders: usize,
    ) -> Result<Self, LoadError> {
        let database = front.database().await?;
        let mut accounts = Vec::new();
        for number in 0..scenario.accounts + 2 {
            let key = new_account(&database.pool, &format!("account-{number}@load.example")).await;
            accounts.push(front.client(&key.map_err(|error| front.failure(&error))?));
        }
        let (prober, warmer) = (accounts.swap_remove(0), accounts.swap_remove(0));
        Ok(Self {
            front,
            workers,
            scenario,
            renders,
            receiver: Receiver::start().await?,
            database,
            accounts,
            prober,
            warmer,
        })
    }

    /// Fills tables, so that the database plans statements as it does in operation.
    async fn warm_up(&self) -> Result<(), LoadError> {
        let batch = self.create_batch(&self.warmer).await?;
        self.warmer.upload_rows(&batch, rows(WARM_UP)).await?;
        self.receiver.wait_for(WARM_UP, PATIENCE).await;
        sqlx::raw_sql("vacuum analyze").execute(&self.database.pool).await?;
        Ok(())
    }

    async fn measure(self) -> Result<ScaleResult, LoadError> {
        let batches = match self.scenario.arrival {
            Arrival::Batches => self.create_batches().await?,
            Arrival::Requests => Vec::new(),
        };
        let (before, wal_before) = (self.processor_time()?, self.wal_position().await?);
        let (probing, sampling) = (CancellationToken::new(), CancellationToken::new());
        let profile = database_profile::sample(&self.database.pool, sampling.clone());
        let backup = self.back_up(probing.clone());
        let probes = self.probe(probing.clone());
        let start = Instant::now();
        let rendering = async {
            match self.scenario.arrival {
                Arrival::Batches => self.upload_rows(&batches).await?,
                Arrival::Requests => self.enqueue_one_by_one().await?,
            }
            self.receiver.wait_for(WARM_UP + self.renders, PATIENCE).await;
            let took = start.elapsed();
            sampling.cancel();
            let (used, wal_used) = (self.processor_time()?, self.wal_position().await? - wal_before);
            // Callbacks that are delivered twice would arrive late.
            sleep(Duration::from_secs(2)).await;
            probing.cancel();
            Ok::<_, LoadError>((took, used, wal_used))
        };
        let ((took, used, wal_used), (probes, (), database)) =
            try_join(rendering, try_join3(probes, backup, profile)).await?;
        let counts = self.receiver.counts();
        let of_render = |amount: f64| amount / (self.renders + probes.acceptance_ms.len()) as f64;
        let charged: i64 = sqlx::query_scalar("select coalesce(sum(used), 0)::bigint from credit_periods")
            .fetch_one(&self.database.pool)
            .await?;
        let expected = WARM_UP + self.renders + probes.acceptance_ms.len();
        let expected = i64::try_from(expected).unwrap_or(i64::MAX);
        let result = ScaleResult {
            scenario: self.scenario,
            renders: self.renders,
            renders_per_second: self.renders as f64 / took.as_secs_f64(),
            postgres_ms: of_render(used.postgres - before.postgres),
            service_ms: of_render(used.sum() - used.postgres - (before.sum() - before.postgres)),
            wal_bytes: of_render(wal_used),
            acceptance_p95_ms: percentile(&probes.acceptance_ms, 95.0).unwrap_or_default(),
            start_p95_ms: percentile(&probes.start_ms, 95.0).unwrap_or_default(),
            database,
            lost: (WARM_UP + self.renders).saturating_sub(counts.distinct),
            doubled: counts.all - counts.distinct,
            overcharged: charged - expected,
        };
        self.database
            .close()
            .await
            .map_err(|error| self.front.failure(&error.to_string()))?;
        Ok(result)
    }

    /// Returns the position in the write-ahead log, in bytes.
    async fn wal_position(&self) -> Result<f64, LoadError> {
        let position = sqlx::query_scalar("select (pg_current_wal_lsn() - '0/0')::float8");
        Ok(position.fetch_one(&self.database.pool).await?)
    }

    /// Sum over all processes, in milliseconds.
    fn processor_time(&self) -> Result<ProcessorTime, LoadError> {
        let mut sum = processes::processor_time(self.front.pid)?;
        for worker in self.workers {
            let used = processes::processor_time(worker.pid)?;
            sum.root += used.root;
            sum.others += used.others;
            sum.ended += used.ended;
        }
        Ok(sum)
    }

    /// Creates a batch without rows for each account, and returns their paths.
    async fn create_batches(&self) -> Result<Vec<String>, LoadError> {
        let mut paths = Vec::new();
        for accounts in self.accounts.chunks(CALLERS) {
            paths.extend(try_join_all(accounts.iter().map(|account| self.create_batch(account))).await?);
        }
        Ok(paths)
    }

    async fn create_batch(&self, account: &Client) -> Result<String, LoadError> {
        account.create_line_batch(&self.receiver.url()).await
    }

    async fn upload_rows(&self, batches: &[String]) -> Result<(), LoadError> {
        let each = self.renders / self.accounts.len();
        let of_accounts: Vec<_> = self.accounts.iter().zip(batches).collect();
        for some in of_accounts.chunks(CALLERS) {
            try_join_all(
                some.iter()
                    .map(|(account, batch)| account.upload_rows(batch, rows(each))),
            )
            .await?;
        }
        Ok(())
    }

    async fn enqueue_one_by_one(&self) -> Result<(), LoadError> {
        let body = self.body(true);
        let callers = (0..CALLERS).map(async |caller| {
            for turn in (caller..self.renders).step_by(CALLERS) {
                self.accounts[turn % self.accounts.len()].enqueue(&body).await?;
            }
            Ok::<_, LoadError>(())
        });
        try_join_all(callers).await?;
        Ok(())
    }

    fn body(&self, with_callback: bool) -> Value {
        let mut body = json!({ "parts": [{ "type": "html", "content": "<p>Row" }] });
        if with_callback {
            body["callback"] = json!({ "url": self.receiver.url() });
        }
        body
    }

    /// Enqueues single renders, until it is stopped, and then reads when they were started.
    async fn probe(&self, stopped: CancellationToken) -> Result<Probes, LoadError> {
        let (body, mut probes, mut ids) = (self.body(false), Probes::default(), Vec::new());
        let mut ticks = interval(PROBE_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !stopped.is_cancelled() {
            ticks.tick().await;
            let start = Instant::now();
            ids.push(self.prober.enqueue(&body).await?);
            probes.acceptance_ms.push(start.elapsed().as_secs_f64() * 1e3);
        }
        for id in ids {
            let render = ended(&self.prober, id).await?;
            let [accepted, started] = ["inserted_at", "started_at"].map(|name| moment(&render[name]));
            probes.start_ms.push((started? - accepted?).as_seconds_f64() * 1e3);
        }
        Ok(probes)
    }

    /// Dumps the database again and again until it is stopped.
    async fn back_up(&self, stopped: CancellationToken) -> Result<(), LoadError> {
        let url = self.front.database_url();
        while self.scenario.with_backup && !stopped.is_cancelled() {
            let mut dump = Command::new("pg_dump");
            dump.args(["--format=custom", "--dbname", &url])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .kill_on_drop(true);
            let status = dump.status().await?;
            if !status.success() {
                return Err(LoadError::Platen(format!("could not be dumped: {status}")));
            }
        }
        Ok(())
    }
}

/// Returns rows for a batch of documents with one line.
pub(crate) fn rows(count: usize) -> impl Iterator<Item = Value> {
    (0..count).map(|number| json!({ "number": number }))
}

#[derive(Default)]
struct Probes {
    acceptance_ms: Vec<f64>,
    start_ms: Vec<f64>,
}

/// Creates an account with an API key, and returns the key.
pub(crate) async fn new_account(db: &PgPool, email: &str) -> Result<String, String> {
    let (now, email) = (OffsetDateTime::now_utc(), email.parse().map_err(|_| "invalid address")?);
    let owner = NewOwner {
        email: &email,
        name: "",
        account_name: "",
        password_hash: "none",
    };
    let plan = PlanChoice {
        plan: "Scale".into(),
        credits: Some(1_000_000_000),
    };
    let created = accounts::create(db, &owner, &plan, now)
        .await
        .map_err(|error| error.to_string())?;
    let request = NewKeyRequest {
        livemode: true,
        settings: KeySettings::unrestricted("bench"),
    };
    let key = api_keys::create(db, created, &Actor::OPERATOR, request, now).await;
    Ok(key.map_err(|error| error.to_string())?.key.expose().to_owned())
}
