//! State shared by all requests.

use std::sync::Arc;

use platen_egress::guard::Guard;
use platen_engine::Engine;
use platen_template::pool::Pool;
use sqlx::PgPool;
use tokio::time::Instant;
use url::Url;

use crate::{
    config::Config,
    domain::{encryption::SecretKeys, ids::InstanceId},
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
    pub db: PgPool,
    pub parsers: Parsers,
    pub engine: Engine,
    /// Decides which addresses pages and webhooks may reach.
    pub guard: Arc<Guard>,
    pub memory: MemoryBudget,
    /// Worker processes that fill templates.
    pub templates: Pool,
    pub drawing: Drawing,
    /// Rate limiter of live previews.
    pub live_previews: LivePreviews,
    /// Makes and stores thumbnails.
    pub thumbnails: Thumbnails,
    pub config: Arc<Config>,
    /// The id of this process.
    pub instance: InstanceId,
    /// Decrypt data at rest.
    pub secret_keys: Arc<SecretKeys>,
    /// Stored idempotent responses.
    pub answers: AnswerFiles,
    pub documents: DefaultStorage,
    pub exports: ExportFiles,
    pub callbacks: CallbackClient,
    /// Wakes and stops background work.
    pub jobs: Signals,
    /// The address at which clients reach the service.
    pub base_url: Url,
    pub buckets: Buckets,
    /// Buffered last-used times of API keys.
    pub key_usage: KeyUsage,
    /// Keys that need no lookup before a render.
    pub known_keys: KnownKeys,
    pub people: People,
    pub billing: Billing,
    pub mailing: Mailing,
    pub metrics: Arc<Metrics>,
}

impl AppState {
    /// Returns the time by which a request whose body now begins must be parsed.
    pub fn parsing_deadline(&self) -> Instant {
        Instant::now() + self.config.limits.body_time
    }
}
