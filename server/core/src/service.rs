//! Use cases. Each function implements one, owns its transaction, and serves the API, dashboard, command line and jobs
//! alike.

pub mod account_log;
pub mod account_summary;
pub mod accounts;
pub mod activity;
pub mod announcements;
pub mod api_keys;
pub mod assets;
pub mod batches;
pub mod billing;
pub mod callbacks;
pub mod connections;
pub mod credits;
pub mod data_keys;
pub mod deliveries;
pub mod document_queues;
pub mod exports;
pub mod failed_jobs;
pub mod health;
pub mod mail;
pub mod metrics;
pub mod operators;
pub mod parsers;
pub mod passwords;
pub mod people;
pub mod plans;
pub mod rate_limits;
pub mod renders;
pub mod secret_keys;
pub mod sessions;
pub mod storage_use;
pub mod templates;
pub mod throttle;
pub mod webhook_deliveries;
pub mod webhook_endpoints;
pub mod webhook_secrets;

use std::sync::Arc;

use platen_confined::account_queues::AccountQueues;
use platen_domain::{encryption::SecretKeys, ids::InstanceId};
use platen_egress::guard::Guard;
use platen_engine::Engine;
use platen_template::pool::Pool;
use sqlx::PgPool;
use tokio::time::Instant;
use url::Url;

use crate::{
    config::Config,
    drawing::Drawing,
    memory::MemoryBudget,
    outbound::client::OutboundClient,
    service::{
        api_keys::{KeyUsage, known::KnownKeys},
        assets::known::KnownContents,
        billing::Billing,
        callbacks::{CallbackLookups, DeliveredCallbacks},
        connections::buckets::Buckets,
        document_queues::DocumentQueues,
        mail::Mailing,
        metrics::Metrics,
        parsers::Parsers,
        people::People,
        rate_limits::RateLimits,
        renders::{
            accessibility::storing::AccessibilityReports, background::QueuedLookups, charge::Completions,
            contents::RequestContents, thumbnails::Thumbnails,
        },
    },
    signals::Signals,
    storage::default_storage::DefaultStorage,
};

/// The parts that services depend on, shared by all requests and jobs; cheap to clone.
#[derive(Clone)]
pub struct Services {
    pub db: PgPool,
    pub parsers: Parsers,
    pub engine: Engine,
    /// Decides which addresses pages and webhooks may reach.
    pub guard: Arc<Guard>,
    pub memory: MemoryBudget,
    /// Worker processes that fill templates.
    pub templates: Pool,
    pub drawing: Drawing,
    pub rate_limits: RateLimits,
    /// Queues of accounts that compare or read documents.
    pub document_queues: DocumentQueues,
    /// Accounts that collect documents into one.
    pub collections: DocumentQueues,
    /// Accounts that let the service load rows from a URL.
    pub downloads: DocumentQueues,
    /// Makes and stores thumbnails.
    pub thumbnails: Thumbnails,
    pub groups: Groups,
    /// Requests of synchronous renders that are yet to be stored.
    pub contents: RequestContents,
    /// Accessibility reports that are yet to be stored.
    pub accessibility_reports: AccessibilityReports,
    pub config: Arc<Config>,
    /// The id of this process.
    pub instance: InstanceId,
    /// Decrypt data at rest.
    pub secret_keys: Arc<SecretKeys>,
    pub documents: DefaultStorage,
    /// Sends webhooks.
    pub outbound: OutboundClient,
    /// Loads files from URLs.
    pub files: OutboundClient,
    /// Wakes and stops background work.
    pub jobs: Signals,
    /// The address at which clients reach the service.
    pub base_url: Url,
    pub buckets: Buckets,
    /// Contents of assets that need not be loaded for a render.
    pub known_contents: KnownContents,
    /// Buffered last-used times of API keys.
    pub key_usage: KeyUsage,
    /// Keys that need no lookup before a render.
    pub known_keys: KnownKeys,
    pub people: People,
    pub billing: Billing,
    pub mailing: Mailing,
    pub metrics: Arc<Metrics>,
}

/// What jobs do together that run at the same time.
#[derive(Clone)]
pub struct Groups {
    pub(in crate::service) queued_lookups: QueuedLookups,
    pub(in crate::service) completions: Completions,
    /// Successes of the rows of batches of accounts that may have many concurrent renders.
    pub(in crate::service) completions_of_batches: Completions,
    /// Successes that are recorded alone.
    pub(in crate::service) completions_alone: Arc<AccountQueues>,
    pub(in crate::service) callback_lookups: CallbackLookups,
    pub(in crate::service) delivered_callbacks: DeliveredCallbacks,
}

impl Default for Groups {
    fn default() -> Self {
        Self {
            queued_lookups: QueuedLookups::default(),
            completions: Completions::default(),
            completions_of_batches: Completions::patient(),
            completions_alone: Arc::default(),
            callback_lookups: CallbackLookups::default(),
            delivered_callbacks: DeliveredCallbacks::default(),
        }
    }
}

impl Services {
    /// Returns the time by which a request whose body now begins must be parsed.
    pub fn parsing_deadline(&self) -> Instant {
        Instant::now() + self.config.limits.body_time
    }
}
