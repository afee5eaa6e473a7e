//! Renders as returned to their accounts.

use platen_domain::{
    ids::{AccountId, ApiKeyId, RenderId},
    render::{history::RenderMode, log::LogFilter},
};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    renders::search::{SearchRange, list_renders},
};

/// A stored render.
#[derive(Debug)]
pub struct Render {
    pub id: RenderId,
    /// See [`RenderMode`].
    pub mode: String,
    /// See [`RenderState`].
    pub state: String,
    /// False for test keys.
    pub livemode: bool,
    pub page_count: Option<i32>,
    /// Size of the document.
    pub bytes: Option<i64>,
    /// Standards that the document conforms to, such as `PDF/A-2a, PDF/UA-1`.
    pub conformance: Option<String>,
    /// Credits charged.
    pub credits: Option<i64>,
    /// List of `{code, message}`.
    pub warnings: Value,
    /// Why it failed.
    pub error: Option<Value>,
    /// The storage provider's description of the document.
    pub result: Option<Value>,
    /// The request without its content.
    pub options: Value,
    /// Milliseconds by phase.
    pub phase_times: Option<Value>,
    /// Requests of its pages: list of `{part, url, type, status, bytes, duration_ms, error, refused}`.
    pub requests: Value,
    /// Console messages of its pages: list of `{part, level, text}`.
    pub console: Value,
    /// Title of the document.
    pub title: Option<String>,
    /// When the document is deleted from the default storage.
    pub object_expires_at: Option<OffsetDateTime>,
    /// When it was accepted.
    pub inserted_at: OffsetDateTime,
    /// When it was first started.
    pub started_at: Option<OffsetDateTime>,
    /// When it ended.
    pub finished_at: Option<OffsetDateTime>,
}

/// Returns the renders of an account that match a filter, newest first.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    filter: &LogFilter,
    range: SearchRange,
) -> Result<Vec<Render>, StoreError> {
    let renders = list_renders!(
        db,
        Render,
        "id, mode, status as state, livemode, page_count, bytes, conformance, credits, warnings, error, result, options,
            phase_times, requests, console, title, object_expires_at, inserted_at, started_at, finished_at",
        account,
        filter,
        range
    );
    Ok(renders?)
}

/// Returns one render. With `key`, only if that key requested it.
pub async fn find(
    db: &PgPool,
    account: AccountId,
    id: RenderId,
    key: Option<ApiKeyId>,
) -> Result<Option<Render>, StoreError> {
    let render = sqlx::query_as!(
        Render,
        "select id, mode, status as state, livemode, page_count, bytes, conformance, credits, warnings, error,
            result, options, phase_times, requests, console, title, object_expires_at, inserted_at, started_at,
            finished_at
         from renders
         where account_id = $1 and id = $2 and ($3::uuid is null or api_key_id = $3)",
        account.0,
        id.0,
        key.map(|key| key.0),
    )
    .fetch_optional(db)
    .await?;
    Ok(render)
}

/// Locks a render's row. With `key`, only if that key requested the render. `None` if there is no such render.
pub async fn lock(
    db: &mut PgConnection,
    account: AccountId,
    id: RenderId,
    key: Option<ApiKeyId>,
) -> Result<Option<LockedRender>, StoreError> {
    let row = sqlx::query!(
        r#"select mode, finished_at is not null as "finished!", object_id from renders
           where account_id = $1 and id = $2 and ($3::uuid is null or api_key_id = $3)
           for no key update"#,
        account.0,
        id.0,
        key.map(|key| key.0),
    )
    .map(|row| LockedRender {
        synchronous: row.mode == RenderMode::Sync.into_str(),
        finished: row.finished,
        object: row.object_id,
    });
    Ok(row.fetch_optional(db).await?)
}

/// Decides whether a render can be cancelled.
#[derive(Debug, Clone, Copy)]
pub struct LockedRender {
    /// Whether its caller waits for it.
    pub synchronous: bool,
    /// Name of its document in the default storage.
    pub object: Option<Uuid>,
    /// Whether it has ended.
    pub finished: bool,
}
