//! Table `download_links`.

use platen_domain::{
    download_link::DownloadLink,
    ids::{AccountId, RenderId},
    one_time_token::TokenDigest,
    render::detail::ValidLinks,
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// Inserts a link to the document of a render of the account.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    link: &DownloadLink,
    digest: TokenDigest,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into download_links (id, account_id, render_id, digest, single_use, inserted_at, expires_at)
         select $1, $2, id, $4, $5, $6, $7 from renders where account_id = $2 and id = $3",
        link.id.0,
        account.0,
        render.0,
        &digest.0,
        link.single_use,
        now,
        link.expires_at,
    );
    execute(db, insert).await
}

/// The document of a render for which a link is to be created.
#[derive(Debug)]
pub struct Linkable {
    /// When the document is deleted.
    pub deleted_at: OffsetDateTime,
    /// Lifetime in seconds of the account's links, or of its plan's if documents have public addresses.
    pub link_seconds: i32,
}

/// Returns a render's document if it is in the default storage, and lets no other transaction add links to it.
pub async fn lock_document(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    now: OffsetDateTime,
) -> Result<Option<Linkable>, StoreError> {
    let found = sqlx::query_as!(
        Linkable,
        r#"select object_expires_at as "deleted_at!", coalesce(link_seconds, plan_link_seconds) as "link_seconds!"
           from renders join account_limits using (account_id)
           where renders.account_id = $1 and renders.id = $2 and status = 'succeeded' and object_expires_at > $3
           for no key update of renders"#,
        account.0,
        render.0,
        now,
    );
    Ok(found.fetch_optional(db).await?)
}

/// Returns how many links to a document are valid. Of the others, only the last `most_ended` remain.
pub async fn count_valid(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    most_ended: i64,
    now: OffsetDateTime,
) -> Result<i64, StoreError> {
    let delete = sqlx::query!(
        "delete from download_links where id in (
            select id from download_links
            where account_id = $1 and render_id = $2 and (expires_at <= $3 or ended_at is not null)
            order by id desc offset $4
         )",
        account.0,
        render.0,
        now,
        most_ended,
    );
    execute(&mut *db, delete).await?;
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from download_links
           where account_id = $1 and render_id = $2 and expires_at > $3 and ended_at is null"#,
        account.0,
        render.0,
        now,
    );
    Ok(count.fetch_one(db).await?)
}

/// Returns the links to a document that are valid; `None` if there are none.
pub async fn find_valid(
    db: &PgPool,
    account: AccountId,
    render: RenderId,
    now: OffsetDateTime,
) -> Result<Option<ValidLinks>, StoreError> {
    let found = sqlx::query_as!(
        ValidLinks,
        r#"select count(*) as "count!", max(expires_at) as "last_expires_at!" from download_links
           where account_id = $1 and render_id = $2 and expires_at > $3 and ended_at is null
           having count(*) > 0"#,
        account.0,
        render.0,
        now,
    );
    Ok(found.fetch_optional(db).await?)
}

/// Revokes all links to a document.
pub async fn revoke(db: &PgPool, account: AccountId, render: RenderId, now: OffsetDateTime) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update download_links set ended_at = $3
         where account_id = $1 and render_id = $2 and ended_at is null and expires_at > $3",
        account.0,
        render.0,
        now,
    );
    execute(db, update).await
}

/// A link, and the document that it leads to.
#[derive(Debug)]
pub struct FoundLink {
    pub id: Uuid,
    pub account: AccountId,
    /// Name of the object in the default storage; `None` once it was deleted.
    pub object: Option<Uuid>,
    /// Size of the document.
    pub bytes: i64,
    pub single_use: bool,
    /// Whether it has neither expired, nor been revoked or used.
    pub is_valid: bool,
}

/// Returns the link with this token, of any account: the token is what grants access.
pub async fn find(db: &PgPool, digest: TokenDigest, now: OffsetDateTime) -> Result<Option<FoundLink>, StoreError> {
    let found = sqlx::query_as!(
        FoundLink,
        r#"select links.id, links.account_id as account, single_use,
               case when object_expires_at > $2 then object_id end as object, coalesce(bytes, 0) as "bytes!",
               ended_at is null and expires_at > $2 as "is_valid!"
           from download_links links join renders on renders.id = links.render_id
           where digest = $1"#,
        &digest.0,
        now,
    );
    Ok(found.fetch_optional(db).await?)
}

/// Ends a link that is for one use. Returns `false` if it has been used or revoked.
pub async fn use_once(db: &PgPool, id: Uuid, now: OffsetDateTime) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update download_links set ended_at = $2 where id = $1 and ended_at is null",
        id,
        now,
    );
    changes_one(db, update).await
}
