//! Table `render_contents`: encrypted requests of renders.

use platen_domain::{
    ids::{AccountId, RenderId},
    render::content::Omission,
};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{
    error::StoreError,
    statement::{delete_content_of_account, delete_old_content},
};

/// An encrypted request.
#[derive(Debug, Clone)]
pub struct EncryptedContent {
    /// Version of the stored form.
    pub version: i16,
    /// The stored form, encrypted.
    pub sealed: Vec<u8>,
}

/// The request of an ended synchronous render.
#[derive(Debug)]
pub struct NewContent {
    pub render: RenderId,
    /// The stored form, encrypted; empty if it is left out.
    pub sealed: Vec<u8>,
    /// Why it is left out.
    pub omission: Option<Omission>,
}

/// Stores requests of an account's ended renders, as far as the account stores content and has room.
pub async fn insert_retained(
    db: &PgPool,
    account: AccountId,
    version: i16,
    contents: Vec<NewContent>,
) -> Result<(), StoreError> {
    let (mut ids, mut sealed, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
    for content in contents {
        ids.push(content.render.0);
        sealed.push(content.sealed);
        reasons.push(content.omission.map(|omission| omission.into_str()));
    }
    let insert = sqlx::query!(
        "select store_render_contents($1, $2, $3, $4, $5)",
        account.0,
        &ids,
        version,
        &sealed,
        &reasons as &[Option<&str>],
    );
    insert.fetch_one(db).await?;
    Ok(())
}

/// What is stored of a render's request.
#[derive(Debug)]
pub enum StoredContent {
    Encrypted(EncryptedContent),
    Omitted(Omission),
}

/// Returns what is stored of the request of an account's render.
pub async fn find(db: &PgPool, account: AccountId, render: RenderId) -> Result<Option<StoredContent>, StoreError> {
    let row = sqlx::query!(
        "select version, sealed, omitted from render_contents where account_id = $1 and render_id = $2",
        account.0,
        render.0,
    );
    let row = row.fetch_optional(db).await?;
    Ok(
        row.map(|row| match row.omitted.and_then(|omitted| omitted.parse().ok()) {
            Some(omission) => StoredContent::Omitted(omission),
            None => StoredContent::Encrypted(EncryptedContent {
                version: row.version,
                sealed: row.sealed,
            }),
        }),
    )
}

/// Deletes requests of all accounts that are past the retention of their plans, up to `at_most` renders, and returns the
/// number of deleted ones. The row of a render may remain for its document.
pub async fn delete_old(db: &PgPool, now: OffsetDateTime, at_most: i64) -> Result<u64, StoreError> {
    delete_old_content!(db, "render_contents", now, at_most)
}

/// Deletes the requests of an account's ended renders that were accepted up to `before`, up to `at_most` renders, and
/// returns the number of deleted ones.
pub async fn delete_of_account(
    db: &PgPool,
    account: AccountId,
    before: OffsetDateTime,
    at_most: i64,
) -> Result<u64, StoreError> {
    delete_content_of_account!(db, "render_contents", account, before, at_most)
}
