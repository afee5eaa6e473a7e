//! Documents of renders: where they are stored, and until when.

use std::time::Duration;

use platen_domain::ids::{AccountId, RenderId};
use serde_json::Value;
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{error::StoreError, statement::execute};

/// The document of a finished render at its destination.
#[derive(Debug)]
pub struct StoredDocument {
    /// The storage provider's description of the object.
    pub result: Value,
    /// When it is deleted from the default storage; `None` for a document at another destination.
    pub expires_at: Option<OffsetDateTime>,
    /// Duration of the upload.
    pub took: Duration,
}

/// A document in the default storage.
#[derive(Debug)]
pub struct OwnDocument {
    /// Name of the object.
    pub object: Uuid,
    pub bytes: i64,
    pub page_count: i32,
    /// Standards that it conforms to, such as `PDF/A-2a, PDF/UA-1`; `None` for plain PDF.
    pub conformance: Option<String>,
}

/// Returns a render's document if it is in the default storage, the account stores content, and the render is within
/// the plan's retention.
pub async fn find_document(
    db: &PgPool,
    account: AccountId,
    id: RenderId,
    now: OffsetDateTime,
) -> Result<Option<OwnDocument>, StoreError> {
    let document = sqlx::query_as!(
        OwnDocument,
        r#"select object_id as "object!", bytes as "bytes!", page_count as "page_count!", conformance
           from renders
           join accounts on accounts.id = renders.account_id
           join plans on plans.name = accounts.plan
           where renders.account_id = $1 and renders.id = $2 and status = 'succeeded'
              and object_expires_at > $3 and accounts.keep_content and not renders.content_deleted
              and renders.inserted_at >= $3 - plans.retention_days * interval '1 day'"#,
        account.0,
        id.0,
        now,
    );
    Ok(document.fetch_optional(db).await?)
}

/// Returns the name and the size in bytes of a render's document, if it is in the default storage.
pub async fn find_object(
    db: &PgPool,
    account: AccountId,
    id: RenderId,
    now: OffsetDateTime,
) -> Result<Option<(Uuid, i64)>, StoreError> {
    let found = sqlx::query!(
        r#"select object_id as "object!", bytes as "bytes!" from renders
           where account_id = $1 and id = $2 and status = 'succeeded' and object_expires_at > $3"#,
        account.0,
        id.0,
        now,
    );
    Ok(found.fetch_optional(db).await?.map(|row| (row.object, row.bytes)))
}

/// An expired document in the default storage, of any account.
#[derive(Debug)]
pub struct ExpiredObject {
    pub render: RenderId,
    /// Name of the object.
    pub object: Uuid,
}

/// Returns up to `at_most` expired documents, oldest first.
pub async fn list_expired_objects(
    db: &PgPool,
    now: OffsetDateTime,
    at_most: i64,
) -> Result<Vec<ExpiredObject>, StoreError> {
    let objects = sqlx::query_as!(
        ExpiredObject,
        r#"select id as render, object_id as "object!" from renders
           where object_expires_at <= $1 and object_id is not null
           order by object_expires_at limit $2"#,
        now,
        at_most,
    );
    Ok(objects.fetch_all(db).await?)
}

/// Records that the documents of these renders were deleted.
pub async fn forget_objects(db: &PgPool, renders: &[RenderId]) -> Result<(), StoreError> {
    let renders: Vec<_> = renders.iter().map(|id| id.0).collect();
    let update = sqlx::query!(
        "update renders set object_expires_at = null where id = any($1)",
        &renders
    );
    execute(db, update).await
}
