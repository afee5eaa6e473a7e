//! The documents of renders: where they are, and until when.

use std::time::Duration;

use serde_json::Value;
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::ids::{AccountId, RenderId},
    store::error::StoreError,
};

/// A finished render's document where it belongs.
#[derive(Debug)]
pub struct StoredDocument {
    /// What the store says of it.
    pub result: Value,
    /// When it is deleted there, if that is ours to do.
    pub expires_at: Option<OffsetDateTime>,
    /// How long it took to get there.
    pub took: Duration,
}

/// A document in the service's own storage.
#[derive(Debug, Clone, Copy)]
pub struct OwnDocument {
    /// Names it.
    pub object: Uuid,
    /// Its size.
    pub bytes: i64,
    /// Pages in it.
    pub page_count: i32,
}

/// The document of a render, if it is in the service's own storage, the account keeps content, and its plan still keeps
/// that of this render.
pub async fn find_document(
    db: &PgPool,
    account: AccountId,
    id: RenderId,
    now: OffsetDateTime,
) -> Result<Option<OwnDocument>, StoreError> {
    let document = sqlx::query_as!(
        OwnDocument,
        r#"select object_id as "object!", bytes as "bytes!", page_count as "page_count!"
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

/// A document of some account whose time in the service's own storage is over.
#[derive(Debug)]
pub struct ExpiredObject {
    /// Its render.
    pub render: RenderId,
    /// Names it.
    pub object: Uuid,
}

/// At most so many expired documents, the oldest first.
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

/// Notes that the documents of these renders are gone.
pub async fn forget_objects(db: &PgPool, renders: &[RenderId]) -> Result<(), StoreError> {
    let renders: Vec<_> = renders.iter().map(|id| id.0).collect();
    sqlx::query!(
        "update renders set object_expires_at = null where id = any($1)",
        &renders
    )
    .execute(db)
    .await?;
    Ok(())
}
