//! Builds the service from its settings, runs it, and shuts it down in reverse order.

pub mod browser;
pub mod first_account;
pub mod secret_key;
pub mod templates;

use std::{convert::Infallible, fmt::Display, io, net::SocketAddr, sync::Arc, time::Duration};

use futures::FutureExt;
use platen_billing::client::StripeError;
use platen_core::{
    clock,
    config::Config,
    drawing::Drawing,
    instance::Instance,
    jobs,
    lifecycle::Lifecycle,
    memory::MemoryBudget,
    outbound::{client::OutboundClient, mail::SmtpClient},
    service::{
        Groups, Services, activity,
        api_keys::{self, KeyUsage, expiring, known::KnownKeys},
        assets::known::KnownContents,
        billing::{Billing, events},
        connections::buckets::Buckets,
        document_queues::DocumentQueues,
        health::{self, sampler::Sampler},
        mail::{Delivery, Mailing},
        metrics::Metrics,
        parsers::Parsers,
        people::{self, People},
        rate_limits::RateLimits,
        renders::{
            abandoned::Sweeper,
            accessibility::storing::{self as reports, AccessibilityReports},
            contents::{self, RequestContents},
            retention,
            thumbnails::Thumbnails,
        },
        templates::{promotions, retention as template_retention},
        webhook_deliveries,
    },
    signals::Signals,
    storage::{
        default_storage::{DefaultStorage, DefaultStorageError},
        object_stores::ObjectStores,
    },
    store::{error::StoreError, exports, idempotency_keys, statement::bounded},
};
use platen_domain::{encryption::SecretKeys, job::JobKind};
use platen_egress::guard::Guard;
#[cfg(feature = "simulation")]
use platen_engine::simulation::Simulation;
use sqlx::PgPool;
use strum::VariantArray;
use tokio::{net::TcpListener, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    boot::{
        browser::{BrowserError, Browsers},
        first_account::{FirstAccount, FirstAccountError},
        secret_key::ObtainKeyError,
    },
    database::{
        self, Database, DatabaseError,
        folder::{DataFolder, FolderError},
    },
    http::{self, server::Server},
    open_files, web,
};

/// Time between two runs that store requests of synchronous renders.
const CONTENTS_INTERVAL: Duration = Duration::from_millis(500);
/// How often last-used times of keys are written, in one statement. Pages of other processes show them only then. Each
/// write changes the version of a known key, so that one of its renders may have to start again.
const KEY_USAGE_INTERVAL: Duration = Duration::from_secs(10);
/// How long the closing of database connections may take.
const LONGEST_CLOSE: Duration = Duration::from_secs(5);
/// Interval of the sweeper. A crashed process is noticed within two intervals.
const SWEEP_INTERVAL: Duration = Duration::from_millis(400);
/// Interval of the purge: how long data may outlive its retention at most.
const PURGE_INTERVAL: Duration = Duration::from_mins(10);
/// Between two looks for scheduled promotions of templates.
const PROMOTION_INTERVAL: Duration = Duration::from_secs(2);
/// Time in which finished responses may still reach slow clients, after the grace period of renders.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Why the service could not start, or stopped with an error.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    FirstAccount(#[from] FirstAccountError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    SecretKey(#[from] ObtainKeyError),
    #[error(transparent)]
    Browser(#[from] BrowserError),
    #[error("no worker process for templates could be started: {0}; `platen doctor` shows details")]
    Templates(#[source] io::Error),
    #[error("the HTTP client for object stores could not be created: {0}")]
    Stores(#[source] reqwest::Error),
    #[error("the default storage could not be opened: {0}; check PLATEN_DATA_DIR and PLATEN_DEFAULT_STORAGE")]
    Documents(#[from] DefaultStorageError),
    #[error("the mail client for PLATEN_SMTP_URL could not be created: {0}")]
    Mail(#[from] lettre::transport::smtp::Error),
    #[error(transparent)]
    Stripe(#[from] StripeError),
    /// The port is in use, or the process lacks the permission.
    #[error("can't listen on {address}: {source}; set {setting} to another address")]
    Listen {
        address: SocketAddr,
        /// The setting that names the address.
        setting: &'static str,
        source: io::Error,
    },
    /// A basic system call failed.
    #[error("{0}")]
    System(#[from] io::Error),
    /// A background task ended unexpectedly; the log names it.
    #[error("a background task failed; see the log for its name and the error")]
    TaskFailed,
}

/// Runs the service until a signal stops it.
pub async fn serve(config: Config) -> Result<(), ServeError> {
    Box::pin(serve_with(config, browser::start)).await
}

/// Like [`serve`], without browsers.
#[cfg(feature = "simulation")]
pub async fn serve_simulated(config: Config, simulation: Simulation) -> Result<(), ServeError> {
    let start = async |config: &Config, guard| Browsers::simulate(config, guard, simulation);
    Box::pin(serve_with(config, start)).await
}

/// `start_browsers` is [`browser::start`], or simulates them.
async fn serve_with(
    config: Config,
    start_browsers: impl AsyncFnOnce(&Config, Arc<Guard>) -> Result<Browsers, BrowserError>,
) -> Result<(), ServeError> {
    let lifecycle = Lifecycle::default();
    lifecycle.watch_signals()?;
    let config = Arc::new(config);
    // First of all: child processes inherit the limit.
    let open_files = open_files::raise(&config)?;
    let Database { pool, embedded } = database::open_for_service(&config).await?;
    let database_stop = CancellationToken::new();
    let prepared = prepare(&config, &pool, embedded.as_ref().map(|embedded| &embedded.folder)).await;
    if let Some(embedded) = embedded {
        lifecycle.spawn("postgres", embedded.supervise(database_stop.clone()));
    }
    let outcome = match prepared {
        Ok(prepared) => run(&lifecycle, config, pool.clone(), prepared, open_files, start_browsers).await,
        Err(error) => Err(error),
    };
    // The database stops last, on success and on failure.
    lifecycle.stop();
    // Connections that a network has dropped would not end.
    let _ = timeout(LONGEST_CLOSE, pool.close()).await;
    database_stop.cancel();
    lifecycle.tasks_ended().await;
    outcome?;
    if lifecycle.failed() {
        Err(ServeError::TaskFailed)
    } else {
        Ok(())
    }
}

/// Resources that a start creates or loads before it serves.
struct Prepared {
    secret_keys: Arc<SecretKeys>,
    first_account: Option<FirstAccount>,
}

/// `folder` is the data folder of a private database.
async fn prepare(config: &Config, db: &PgPool, folder: Option<&DataFolder>) -> Result<Prepared, ServeError> {
    let secret_keys = secret_key::obtain(db, &config.secrets, folder).await?;
    let first_account = match folder {
        Some(folder) => first_account::ensure(db, folder, &config.data.first_email).await?,
        None => None,
    };
    Ok(Prepared {
        secret_keys,
        first_account,
    })
}

async fn run(
    lifecycle: &Lifecycle,
    config: Arc<Config>,
    db: PgPool,
    prepared: Prepared,
    open_files: u64,
    start_browsers: impl AsyncFnOnce(&Config, Arc<Guard>) -> Result<Browsers, BrowserError>,
) -> Result<(), ServeError> {
    let listener = listen(config.http.listen, "PLATEN_LISTEN").await?;
    let metrics_listener = match config.metrics.listen {
        Some(address) => Some(listen(address, "PLATEN_METRICS_LISTEN").await?),
        None => None,
    };
    let bound = listener.local_addr()?;
    let guard = browser::guard(&config);
    let stores = ObjectStores::new(Arc::clone(&guard), &config.storage).map_err(ServeError::Stores)?;
    let documents = DefaultStorage::open(&config.data.folder, &config.storage.default, &stores).await?;
    let templates = templates::start().await.map_err(ServeError::Templates)?;
    let browsers = tokio::select! {
        browsers = start_browsers(&config, Arc::clone(&guard)) => browsers?,
        () = lifecycle.stopping() => return Ok(()),
    };
    // Lives until nothing more is recorded.
    let instance = Instance::announce(&db, config.storage.default.fingerprint(), config.jobs.role.works()).await?;
    let metrics = Arc::<Metrics>::default();
    let connection_metrics = metrics.connections.clone();
    let mailing = mailing(&config, &db, bound, &metrics)?;
    let billing = Billing::new(db.clone(), &config.billing)?;
    let state = Services {
        db: db.clone(),
        engine: browsers.engine.clone(),
        guard: Arc::clone(&guard),
        memory: MemoryBudget::new(config.memory.requests()),
        templates,
        drawing: Drawing::default(),
        rate_limits: RateLimits::new(db.clone()),
        document_queues: DocumentQueues::default(),
        collections: DocumentQueues::default(),
        downloads: DocumentQueues::default(),
        parsers: Parsers::default(),
        thumbnails: Thumbnails::default(),
        groups: Groups::default(),
        contents: RequestContents::default(),
        accessibility_reports: AccessibilityReports::default(),
        config: config.clone(),
        instance: instance.id,
        buckets: Buckets::new(db.clone(), prepared.secret_keys.clone(), stores),
        people: People::new(
            db.clone(),
            prepared.secret_keys.clone(),
            &config.http.base_url_for(bound),
        ),
        secret_keys: prepared.secret_keys,
        documents,
        outbound: OutboundClient::new(Arc::clone(&guard)),
        files: OutboundClient::new(guard),
        jobs: Signals::default(),
        base_url: config.http.base_url_for(bound),
        key_usage: KeyUsage::default(),
        known_contents: KnownContents::default(),
        known_keys: KnownKeys::default(),
        billing,
        mailing,
        metrics,
    };
    spawn_chores(lifecycle, &state);
    if let Some(listener) = metrics_listener {
        serve_metrics(lifecycle, listener, state.clone(), open_files)?;
    }
    let sampler = Sampler::new(state.clone(), clock::now());
    let (ended, key_usage) = (state.clone(), state.key_usage.clone());
    let working = work(state.clone(), lifecycle.clone());
    let router = if state.config.jobs.role.serves() {
        http::router(state, web::router)
    } else {
        http::probes(state)
    };
    let server = Server::new(&config, open_files, connection_metrics).serve(listener, router, lifecycle.clone());
    tracing::info!(address = %bound, "ready");
    if let Some(first_account) = prepared.first_account {
        first_account.print(&config.http.base_url_for(bound));
    }
    let grace = config.http.shutdown_grace;
    let drained = async {
        lifecycle.stopping().await;
        tracing::info!(grace_seconds = grace.as_secs(), "stopping; running renders may finish");
        browsers.engine.shutdown(grace).await;
    };
    let cut_short = async {
        lifecycle.stopping().await;
        timeout(grace + LAST_ANSWERS, lifecycle.leaving()).await
    };
    tokio::select! {
        _ = async { tokio::join!(server, drained, working) } => {}
        _ = cut_short => browsers.engine.shutdown(Duration::ZERO).await,
        never = sampler.run() => match never {},
    }
    sampler.leave().await;
    contents::store(&ended).await;
    reports::store(&ended).await;
    write_key_usage_once(&key_usage, &db).await;
    Ok(())
}

async fn work(state: Services, lifecycle: Lifecycle) {
    if state.config.jobs.role.works() {
        Box::pin(jobs::work(&state, &lifecycle)).await;
    }
}

/// Starts the maintenance tasks of every process, whatever its role.
fn spawn_chores(lifecycle: &Lifecycle, state: &Services) {
    let (signals, db, instance) = (|| state.jobs.clone(), || state.db.clone(), state.instance);
    let sweeper = Sweeper::new(instance, Arc::clone(&state.metrics), signals());
    lifecycle.spawn("sweeper", sweep(lifecycle.clone(), sweeper, signals(), db()));
    lifecycle.spawn("notifier", signals().notify(lifecycle.clone(), db(), instance));
    lifecycle.spawn("listener", signals().listen(lifecycle.clone(), db(), instance));
    let key_usage = state.key_usage.clone();
    lifecycle.spawn("key usage", write_key_usage(lifecycle.clone(), key_usage, db()));
    lifecycle.spawn("request contents", store_contents(lifecycle.clone(), state.clone()));
    lifecycle.spawn("purge", purge(lifecycle.clone(), state.clone()));
    lifecycle.spawn("promotions", promote(lifecycle.clone(), db()));
}

fn serve_metrics(lifecycle: &Lifecycle, listener: TcpListener, state: Services, open_files: u64) -> io::Result<()> {
    tracing::info!(address = %listener.local_addr()?, "metrics are served");
    // Counts connections of clients, not those of the metrics scraper.
    let server = Server::new(&state.config, open_files, Metrics::default().connections);
    let serving = server.serve(listener, http::metrics(state), lifecycle.clone());
    let serving = serving.map(Ok::<_, Infallible>);
    lifecycle.spawn("metrics", serving);
    Ok(())
}

/// Chooses the delivery of mail, and logs if mail is not sent.
fn mailing(config: &Config, db: &PgPool, bound: SocketAddr, metrics: &Arc<Metrics>) -> Result<Mailing, ServeError> {
    let delivery = Delivery::choose(SmtpClient::new(&config.mail)?, &config.http);
    match delivery {
        Delivery::Smtp(_) => {}
        Delivery::Stored => tracing::info!("mail is stored, not sent; see /dev/mail"),
        Delivery::None => tracing::warn!("mail is not sent and sign-up is impossible: PLATEN_SMTP_URL is not set"),
    }
    Ok(Mailing {
        db: db.clone(),
        delivery,
        base_url: config.http.base_url_for(bound),
        metrics: Arc::clone(metrics),
    })
}

async fn listen(address: SocketAddr, setting: &'static str) -> Result<TcpListener, ServeError> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|source| ServeError::Listen {
        address,
        setting,
        source,
    })
}

async fn purge(lifecycle: Lifecycle, state: Services) -> Result<(), Infallible> {
    loop {
        let (db, now) = (&state.db, clock::now());
        warn("idempotent responses", idempotency_keys::delete_expired(db, now).await);
        warn("documents and renders", retention::purge(&state, now).await);
        warn("account exports", exports::delete_expired(db, now).await);
        let people = people::purge(&state.people, &state.documents, now);
        warn("accounts, sessions and mails", people.await);
        warn("templates and versions", template_retention::purge(db, now).await);
        warn("API keys", api_keys::purge(db, now).await);
        warn("webhook deliveries", webhook_deliveries::purge(db, now).await);
        warn("Stripe events", events::purge(&state.billing, now).await);
        warn("health records of processes", health::purge(db, now).await);
        if let Err(error) = expiring::notify(db, now).await {
            tracing::warn!(%error, "accounts could not be notified of expiring API keys");
        }
        if let Err(error) = activity::update_hours(db, now).await {
            tracing::warn!(%error, "renders could not be counted by hour");
        }
        if timeout(PURGE_INTERVAL, lifecycle.stopping()).await.is_ok() {
            return Ok(());
        }
    }
}

async fn promote(lifecycle: Lifecycle, db: PgPool) -> Result<(), Infallible> {
    while timeout(PROMOTION_INTERVAL, lifecycle.stopping()).await.is_err() {
        if let Err(error) = promotions::run_due(&db, clock::now()).await {
            tracing::warn!(%error, "scheduled promotions of templates could not be done");
        }
    }
    Ok(())
}

fn warn<E: Display>(expired: &str, purged: Result<(), E>) {
    if let Err(error) = purged {
        tracing::warn!(%error, "expired {expired} could not be purged");
    }
}

async fn store_contents(lifecycle: Lifecycle, state: Services) -> Result<(), Infallible> {
    while timeout(CONTENTS_INTERVAL, lifecycle.stopping()).await.is_err() {
        contents::store(&state).await;
        reports::store(&state).await;
    }
    Ok(())
}

async fn write_key_usage(lifecycle: Lifecycle, usage: KeyUsage, db: PgPool) -> Result<(), Infallible> {
    while timeout(KEY_USAGE_INTERVAL, lifecycle.stopping()).await.is_err() {
        write_key_usage_once(&usage, &db).await;
    }
    Ok(())
}

async fn sweep(lifecycle: Lifecycle, mut sweeper: Sweeper, signals: Signals, db: PgPool) -> Result<(), Infallible> {
    while timeout(SWEEP_INTERVAL, lifecycle.stopping()).await.is_err() {
        match bounded(sweeper.look(&db, clock::now())).await {
            Ok(0) => {}
            Ok(_) => JobKind::VARIANTS.iter().for_each(|&kind| signals.added(kind)),
            Err(error) => tracing::warn!(%error, "renders and jobs of dead processes could not be swept"),
        }
    }
    Ok(())
}

async fn write_key_usage_once(usage: &KeyUsage, db: &PgPool) {
    if let Err(error) = bounded(usage.write(db)).await {
        tracing::warn!(%error, "last-used times of keys could not be written");
    }
}
