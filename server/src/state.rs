//! What every request may use.

use std::sync::Arc;

use platen_engine::Engine;
use platen_template::pool::Pool;
use sqlx::PgPool;

use crate::{
    config::Config,
    domain::{ids::InstanceId, sealing::SecretKey},
    service::api_keys::KeyUsage,
    storage::answers::AnswerFiles,
};

/// Shared by all requests; cheap to clone.
#[derive(Clone)]
pub struct AppState {
    /// Connections to the database.
    pub db: PgPool,
    /// The browsers.
    pub engine: Engine,
    /// The processes that fill templates.
    pub templates: Pool,
    /// All settings.
    pub config: Arc<Config>,
    /// This process.
    pub instance: InstanceId,
    /// Opens what is sealed at rest.
    pub secret_key: Arc<SecretKey>,
    /// Outcomes that are kept.
    pub answers: AnswerFiles,
    /// Which keys were used.
    pub key_usage: KeyUsage,
}
