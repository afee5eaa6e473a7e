//! Queued renders, as workers read them.

use platen_domain::{
    encryption::Wrapped,
    ids::{AccountId, RenderId},
};
use serde_json::Value;
use sqlx::PgPool;
use uuid::Uuid;

use crate::store::{account_storage::AccountStorage, error::StoreError, render_contents::EncryptedContent};

/// What a worker needs to execute a render.
#[derive(Debug)]
pub struct QueuedRender {
    /// False for test keys.
    pub livemode: bool,
    /// The request without its content, with the template versions resolved at acceptance.
    pub options: Value,
    /// Name of the document in the default storage. `None` if the render has a destination.
    pub object: Option<Uuid>,
    /// Maximum number of concurrent renders of the account.
    pub concurrency: usize,
    /// Maximum size of a request body of the account, in bytes.
    pub body_bytes: usize,
    /// Lifetime in seconds of the link to a document in the default storage; `None` if it has a public address.
    pub link_seconds: Option<i32>,
    /// The account's storage when its worker read the render.
    pub storage: AccountStorage,
    /// The encrypted request and the account's data key. `None` if the render has ended in the meantime.
    pub content: Option<(EncryptedContent, Wrapped)>,
}

/// Returns a render that has not ended.
pub async fn find(db: &PgPool, account: AccountId, id: RenderId) -> Result<Option<QueuedRender>, StoreError> {
    let row = sqlx::query!(
        r#"select renders.livemode, renders.options, renders.object_id, limits.concurrency as "concurrency!",
            limits.body_bytes as "body_bytes!", limits.storage_limits as "storage_limits!", storage.used as "used!",
            content.version as "version?", content.sealed as "sealed?", data_key.secret_key_id as "secret_key_id?",
            data_key.wrapped_key as "wrapped_key?", accounts.link_seconds
         from renders
         join accounts on accounts.id = renders.account_id
         join account_limits limits on limits.account_id = renders.account_id
         join account_storage storage on storage.account_id = renders.account_id
         left join account_keys data_key on data_key.account_id = renders.account_id
         left join render_contents content on content.account_id = renders.account_id and content.render_id = renders.id
         where renders.account_id = $1 and renders.id = $2 and renders.finished_at is null"#,
        account.0,
        id.0,
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| {
        let sealed = row
            .version
            .zip(row.sealed)
            .map(|(version, sealed)| EncryptedContent { version, sealed });
        let data_key = row.secret_key_id.zip(row.wrapped_key);
        let data_key = data_key.map(|(secret_key_id, sealed)| Wrapped { secret_key_id, sealed });
        QueuedRender {
            livemode: row.livemode,
            options: row.options,
            object: row.object_id,
            concurrency: row.concurrency.unsigned_abs() as usize,
            body_bytes: row.body_bytes.unsigned_abs() as usize,
            link_seconds: row.link_seconds,
            storage: AccountStorage {
                used: row.used,
                limits: row.storage_limits,
            },
            content: sealed.zip(data_key),
        }
    }))
}
