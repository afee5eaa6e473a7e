//! What every request may use.

use std::sync::Arc;

use platen_egress::guard::Guard;
use platen_engine::Engine;
use platen_template::pool::Pool;
use sqlx::PgPool;
use tokio::time::Instant;
use url::Url;

use crate::{
    config::Config,
    domain::{ids::InstanceId, sealing::SecretKeys},
    drawing::Drawing,
    jobs::signals::Signals,
    memory::MemoryBudget,
    outbound::callbacks::CallbackClient,
    service::{
        api_keys::{KeyUsage, known::KnownKeys},
        billing::Billing,
        connections::buckets::Buckets,
        mail::Mailing,
        metrics::Metrics,
        parsers::Parsers,
        people::People,
        renders::thumbnails::Thumbnails,
        templates::live::LivePreviews,
    },
    storage::{answers::AnswerFiles, default_storage::DefaultStorage, exports::ExportFiles},
};

/// Shared by all requests; cheap to clone.
#[derive(Clone)]
pub struct AppState {
    /// Connections to the database.
    pub db: PgPool,
    /// Places to parse bodies at.
    pub parsers: Parsers,
    /// The browsers.
    pub engine: Engine,
    /// What decides where pages and callbacks may go.
    pub guard: Arc<Guard>,
    /// The memory that requests hold.
    pub memory: MemoryBudget,
    /// The processes that fill templates.
    pub templates: Pool,
    /// Draws pages.
    pub drawing: Drawing,
    /// How often they are drawn for those who type.
    pub live_previews: LivePreviews,
    /// Keeps small pictures of documents.
    pub thumbnails: Thumbnails,
    /// All settings.
    pub config: Arc<Config>,
    /// This process.
    pub instance: InstanceId,
    /// Open what is sealed at rest.
    pub secret_keys: Arc<SecretKeys>,
    /// Outcomes that are kept.
    pub answers: AnswerFiles,
    /// The service's own storage.
    pub documents: DefaultStorage,
    /// Archives of accounts.
    pub exports: ExportFiles,
    /// Sends callbacks.
    pub callbacks: CallbackClient,
    /// Wakes and stops background work.
    pub jobs: Signals,
    /// Where clients reach the service.
    pub base_url: Url,
    /// Opens the buckets of storage connections.
    pub buckets: Buckets,
    /// Which keys were used.
    pub key_usage: KeyUsage,
    /// Keys that need no look-up before a render.
    pub known_keys: KnownKeys,
    /// Acts for people.
    pub people: People,
    /// Sells, and knows what was bought.
    pub billing: Billing,
    /// Sends mail.
    pub mailing: Mailing,
    /// What is counted and measured.
    pub metrics: Arc<Metrics>,
}

impl AppState {
    /// Until when what has just begun to come has to be parsed.
    pub fn parsing_deadline(&self) -> Instant {
        Instant::now() + self.config.limits.body_time
    }
}
