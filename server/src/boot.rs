//! Builds the service from its settings, runs it, and takes it down in the reverse order.

pub mod browser;
pub mod first_account;
pub mod secret_key;
pub mod templates;

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use futures::FutureExt;
use platen_billing::client::StripeError;
use sqlx::PgPool;
use tokio::{net::TcpListener, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    boot::{
        browser::BrowserError,
        first_account::{FirstAccount, FirstAccountError},
        secret_key::ObtainKeyError,
    },
    clock,
    config::Config,
    database::{
        self, Database, DatabaseError,
        folder::{DataFolder, FolderError},
    },
    domain::{job::JobKind, sealing::SecretKeys},
    drawing::Drawing,
    http::{self, server::Server},
    instance::Instance,
    jobs::{self, signals::Signals},
    lifecycle::Lifecycle,
    memory::MemoryBudget,
    open_files,
    outbound::{callbacks::CallbackClient, mail::SmtpClient},
    service::{
        api_keys::{self, KeyUsage, known::KnownKeys},
        billing::{Billing, events},
        connections::buckets::Buckets,
        exports,
        health::{self, sampler::Sampler},
        mail::{Delivery, Mailing},
        metrics::Metrics,
        parsers::Parsers,
        people::{self, People},
        renders::{abandoned::Sweeper, kept, retention, thumbnails::Thumbnails},
        templates::{live::LivePreviews, retention as template_retention},
    },
    state::AppState,
    storage::{
        answers::AnswerFiles,
        default_storage::{DefaultStorage, DefaultStorageError},
        exports::ExportFiles,
        object_stores::ObjectStores,
    },
    store::error::StoreError,
};

/// Last-used times of keys are written this often.
const KEY_USAGE_INTERVAL: Duration = Duration::from_mins(1);
/// A process that crashed is noticed within two of these.
const SWEEP_INTERVAL: Duration = Duration::from_millis(400);
/// What is kept for a time outlives it by so much at most.
const PURGE_INTERVAL: Duration = Duration::from_mins(10);
/// Answers that are ready still have to reach slow clients, after the renders' own grace.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Why the service does not run, or ended badly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// No database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A statement failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No first account.
    #[error(transparent)]
    FirstAccount(#[from] FirstAccountError),
    /// The data folder can't be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// No secret key.
    #[error(transparent)]
    SecretKey(#[from] ObtainKeyError),
    /// No browser.
    #[error(transparent)]
    Browser(#[from] BrowserError),
    /// No process that fills templates.
    #[error("no process that fills templates starts: {0}; platen doctor says more")]
    Templates(#[source] io::Error),
    /// No client for stores.
    #[error("no client for stores of documents can be made: {0}")]
    Stores(#[source] reqwest::Error),
    /// The service's own storage can't be opened.
    #[error("the storage of documents: {0}; PLATEN_DATA_DIR and PLATEN_DEFAULT_STORAGE choose it")]
    Documents(#[from] DefaultStorageError),
    /// No client for the server of mail.
    #[error("no client for PLATEN_SMTP_URL can be made: {0}")]
    Mail(#[from] lettre::transport::smtp::Error),
    /// No client for Stripe.
    #[error(transparent)]
    Stripe(#[from] StripeError),
    /// The port is taken, or forbidden.
    #[error("can't listen on {address}: {source}; {setting} chooses another address")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What says so.
        setting: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The system refuses something basic.
    #[error("{0}")]
    System(#[from] io::Error),
    /// A background task ended by itself; the log says which.
    #[error("a background task failed; the log says which and why")]
    TaskFailed,
}

/// Runs the service until it is told to stop.
pub async fn serve(config: Config) -> Result<(), ServeError> {
    let lifecycle = Lifecycle::default();
    lifecycle.watch_signals()?;
    let config = Arc::new(config);
    // Before anything is started: children inherit it.
    let open_files = open_files::raise(&config)?;
    let Database { pool, embedded } = database::open_for_service(&config).await?;
    let database_stop = CancellationToken::new();
    let prepared = prepare(&config, &pool, embedded.as_ref().map(|embedded| &embedded.folder)).await;
    if let Some(embedded) = embedded {
        lifecycle.spawn("postgres", embedded.supervise(database_stop.clone()));
    }
    let outcome = match prepared {
        Ok(prepared) => serve_with(&lifecycle, config, pool.clone(), prepared, open_files).await,
        Err(error) => Err(error),
    };
    // Whatever happened, the database goes last.
    lifecycle.stop();
    pool.close().await;
    database_stop.cancel();
    lifecycle.tasks_ended().await;
    outcome?;
    if lifecycle.failed() {
        Err(ServeError::TaskFailed)
    } else {
        Ok(())
    }
}

/// What a start makes or finds before it serves.
struct Prepared {
    secret_keys: Arc<SecretKeys>,
    answers: AnswerFiles,
    exports: ExportFiles,
    first_account: Option<FirstAccount>,
}

/// `folder`: of a private database.
async fn prepare(config: &Config, db: &PgPool, folder: Option<&DataFolder>) -> Result<Prepared, ServeError> {
    let secret_keys = secret_key::obtain(db, &config.secrets, folder).await?;
    let unusable = |source| FolderError::Unusable {
        path: config.data.folder.clone(),
        source,
    };
    let answers = AnswerFiles::open(&config.data.folder).map_err(unusable)?;
    let exports = ExportFiles::open(&config.data.folder).map_err(unusable)?;
    let first_account = match folder {
        Some(folder) => first_account::ensure(db, folder, &config.data.first_email).await?,
        None => None,
    };
    Ok(Prepared {
        secret_keys,
        answers,
        exports,
        first_account,
    })
}

async fn serve_with(
    lifecycle: &Lifecycle,
    config: Arc<Config>,
    db: PgPool,
    prepared: Prepared,
    open_files: u64,
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
        browsers = browser::start(&config, Arc::clone(&guard)) => browsers?,
        () = lifecycle.stopping() => return Ok(()),
    };
    // Lives until nothing is recorded any more.
    let instance = Instance::announce(&db).await?;
    let metrics = Arc::<Metrics>::default();
    let connection_metrics = Arc::clone(&metrics.connections);
    let mailing = mailing(&config, &db, bound, &metrics)?;
    let billing = Billing::new(db.clone(), &config.billing)?;
    let state = AppState {
        db: db.clone(),
        engine: browsers.engine.clone(),
        guard: Arc::clone(&guard),
        memory: MemoryBudget::new(config.memory.requests()),
        templates,
        drawing: Drawing::default(),
        live_previews: LivePreviews::default(),
        parsers: Parsers::default(),
        thumbnails: Thumbnails::default(),
        config: config.clone(),
        instance: instance.id,
        buckets: Buckets::new(db.clone(), prepared.secret_keys.clone(), stores),
        people: People::new(
            db.clone(),
            prepared.secret_keys.clone(),
            &config.http.base_url_for(bound),
        ),
        secret_keys: prepared.secret_keys,
        answers: prepared.answers,
        documents,
        exports: prepared.exports,
        callbacks: CallbackClient::new(guard),
        jobs: Signals::default(),
        base_url: config.http.base_url_for(bound),
        key_usage: KeyUsage::default(),
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
    let key_usage = state.key_usage.clone();
    let role = config.jobs.role;
    let working = {
        let (state, lifecycle) = (state.clone(), lifecycle.clone());
        async move {
            if role.works() {
                Box::pin(jobs::work(&state, &lifecycle)).await;
            }
        }
    };
    let router = if role.serves() {
        http::router(state)
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
    write_key_usage_once(&key_usage, &db).await;
    Ok(())
}

/// What is done beside requests and jobs, by every process.
fn spawn_chores(lifecycle: &Lifecycle, state: &AppState) {
    let sweeper = Sweeper::new(state.instance, Arc::clone(&state.metrics), state.jobs.clone());
    lifecycle.spawn(
        "sweeper",
        sweep(lifecycle.clone(), sweeper, state.jobs.clone(), state.db.clone()),
    );
    lifecycle.spawn(
        "teller",
        state
            .jobs
            .clone()
            .tell(lifecycle.clone(), state.db.clone(), state.instance),
    );
    lifecycle.spawn(
        "listener",
        state
            .jobs
            .clone()
            .hear(lifecycle.clone(), state.db.clone(), state.instance),
    );
    lifecycle.spawn(
        "key usage",
        write_key_usage(lifecycle.clone(), state.key_usage.clone(), state.db.clone()),
    );
    lifecycle.spawn("purge", purge(lifecycle.clone(), state.clone()));
}

fn serve_metrics(lifecycle: &Lifecycle, listener: TcpListener, state: AppState, open_files: u64) -> io::Result<()> {
    tracing::info!(address = %listener.local_addr()?, "metrics are served");
    // Connections of clients are counted, not those that ask for the count.
    let server = Server::new(&state.config, open_files, Arc::default());
    let serving = server.serve(listener, http::metrics(state), lifecycle.clone());
    let serving = serving.map(Ok::<_, Infallible>);
    lifecycle.spawn("metrics", serving);
    Ok(())
}

/// Says where mail goes, unless it goes where it should.
fn mailing(config: &Config, db: &PgPool, bound: SocketAddr, metrics: &Arc<Metrics>) -> Result<Mailing, ServeError> {
    let delivery = Delivery::choose(SmtpClient::new(&config.mail)?, &config.http);
    match delivery {
        Delivery::Smtp(_) => {}
        Delivery::Kept => tracing::info!("mail is not sent; /dev/mail shows it"),
        Delivery::None => tracing::warn!("mail is not sent, so that nobody can sign up: PLATEN_SMTP_URL is not set"),
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

async fn purge(lifecycle: Lifecycle, state: AppState) -> Result<(), Infallible> {
    loop {
        let now = clock::now();
        if let Err(error) = kept::purge(&state, now).await {
            tracing::warn!(%error, "what was kept for idempotent requests could not be purged");
        }
        if let Err(error) = retention::purge(&state, now).await {
            tracing::warn!(%error, "documents and renders whose time is over could not be purged");
        }
        if let Err(error) = exports::purge(&state.db, &state.exports, now).await {
            tracing::warn!(%error, "archives of accounts whose time is over could not be purged");
        }
        if let Err(error) = people::purge(&state.people, &state.documents, &state.exports, now).await {
            tracing::warn!(%error, "accounts, sessions and mails whose time is over could not be purged");
        }
        if let Err(error) = template_retention::purge(&state.db, now).await {
            tracing::warn!(%error, "templates and versions whose retention is over could not be purged");
        }
        if let Err(error) = api_keys::purge(&state.db, now).await {
            tracing::warn!(%error, "API keys whose retention is over could not be purged");
        }
        if let Err(error) = events::purge(&state.billing, now).await {
            tracing::warn!(%error, "events of Stripe whose time is over could not be purged");
        }
        if let Err(error) = health::purge(&state.db, now).await {
            tracing::warn!(%error, "what was written down of processes could not be purged");
        }
        if timeout(PURGE_INTERVAL, lifecycle.stopping()).await.is_ok() {
            return Ok(());
        }
    }
}

async fn write_key_usage(lifecycle: Lifecycle, usage: KeyUsage, db: PgPool) -> Result<(), Infallible> {
    while timeout(KEY_USAGE_INTERVAL, lifecycle.stopping()).await.is_err() {
        write_key_usage_once(&usage, &db).await;
    }
    Ok(())
}

async fn sweep(lifecycle: Lifecycle, mut sweeper: Sweeper, signals: Signals, db: PgPool) -> Result<(), Infallible> {
    while timeout(SWEEP_INTERVAL, lifecycle.stopping()).await.is_err() {
        match sweeper.look(&db, clock::now()).await {
            Ok(0) => {}
            Ok(_) => JobKind::ALL.into_iter().for_each(|kind| signals.added(kind)),
            Err(error) => tracing::warn!(%error, "what processes that are gone left behind could not be looked for"),
        }
    }
    Ok(())
}

async fn write_key_usage_once(usage: &KeyUsage, db: &PgPool) {
    if let Err(error) = usage.write(db).await {
        tracing::warn!(%error, "last-used times of keys could not be written");
    }
}
