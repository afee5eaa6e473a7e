//! Table `deletions`: proof that accounts were deleted. The database rejects changes of its rows.

use platen_domain::ids::{AccountId, UserId};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{error::StoreError, statement::execute};

/// Who requested the deletion of an account, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletionOrder {
    /// The owner; `None` if an operator requested it.
    pub asked_by: Option<UserId>,
    pub asked_at: OffsetDateTime,
}

/// Counts the contents of an account and records its deletion. Must be called in the transaction that deletes it,
/// before the deletion.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    order: DeletionOrder,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into deletions (id, account_id, asked_by, asked_at, deleted_at, counts)
         values ($2, $1, $3, $4, $5, json_build_object(
            'members', (select count(*) from members where account_id = $1),
            'invitations', (select count(*) from invitations where account_id = $1),
            'api_keys', (select count(*) from api_keys where account_id = $1),
            'connections', (select count(*) from connections where account_id = $1),
            'templates', (select count(*) from templates where account_id = $1),
            'template_versions', (
                select count(*) from template_versions join templates on templates.id = template_id
                where templates.account_id = $1
            ),
            'renders', (select count(*) from renders where account_id = $1),
            'documents', (
                select count(*) from renders where account_id = $1 and object_expires_at is not null
            ),
            'request_contents', (select count(*) from render_contents where account_id = $1),
            'thumbnails', (select count(*) from render_thumbnails where account_id = $1),
            'accessibility_reports', (select count(*) from accessibility_reports where account_id = $1),
            'callbacks', (select count(*) from callbacks where account_id = $1),
            'webhook_endpoints', (select count(*) from webhook_endpoints where account_id = $1),
            'webhook_deliveries', (select count(*) from webhook_deliveries where account_id = $1),
            'exports', (select count(*) from exports where account_id = $1),
            'log_entries', (select count(*) from account_log where account_id = $1)
         ))",
        account.0,
        Uuid::now_v7(),
        order.asked_by.map(|user| user.0),
        order.asked_at,
        now,
    );
    execute(db, insert).await
}

/// A recorded deletion.
#[derive(Debug)]
pub struct Deletion {
    pub account: AccountId,
    pub order: DeletionOrder,
    pub deleted_at: OffsetDateTime,
    /// Number of rows of each kind, and of documents.
    pub counts: Value,
}

/// Returns all recorded deletions, newest first.
pub async fn list(db: &PgPool) -> Result<Vec<Deletion>, StoreError> {
    let rows =
        sqlx::query!("select account_id, asked_by, asked_at, deleted_at, counts from deletions order by id desc")
            .fetch_all(db)
            .await?;
    let deletions = rows.into_iter().map(|row| Deletion {
        account: AccountId(row.account_id),
        order: DeletionOrder {
            asked_by: row.asked_by.map(UserId),
            asked_at: row.asked_at,
        },
        deleted_at: row.deleted_at,
        counts: row.counts,
    });
    Ok(deletions.collect())
}
