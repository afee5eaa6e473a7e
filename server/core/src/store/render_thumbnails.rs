//! Table `render_thumbnails`: encrypted thumbnails of documents' first pages.

use platen_domain::{
    ids::{AccountId, RenderId},
    render::thumbnail::ListedThumbnail,
};
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    statement::{delete_content_of_account, delete_old_content, execute},
};

/// A thumbnail to be stored.
#[derive(Debug)]
pub struct NewThumbnail {
    /// Id to which the encryption is bound.
    pub id: Uuid,
    /// Page number, from 1.
    pub page: i16,
    /// In pixels.
    pub width: i32,
    /// In pixels.
    pub height: i32,
    /// A PNG file, encrypted. `None` if the document exceeds the limits of rasterization.
    pub sealed: Option<Vec<u8>>,
}

/// Stores the thumbnails of a render, unless the render or its content was deleted, or it has thumbnails already.
/// Without room in the account's storage, rows without images are stored, so that the pages aren't rasterized again.
pub async fn insert(
    db: &PgPool,
    account: AccountId,
    render: RenderId,
    thumbnails: Vec<NewThumbnail>,
) -> Result<(), StoreError> {
    let (mut ids, mut pages, mut widths, mut heights, mut sealed) = (vec![], vec![], vec![], vec![], vec![]);
    for thumbnail in thumbnails {
        ids.push(thumbnail.id);
        pages.push(thumbnail.page);
        widths.push(thumbnail.width);
        heights.push(thumbnail.height);
        sealed.push(thumbnail.sealed);
    }
    let bytes: usize = sealed.iter().flatten().map(Vec::len).sum();
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    let statement = sqlx::query!(
        "with storage as (
            select used from account_storage where account_id = $1 for no key update
         ),
         room as (
            select coalesce((storage.used ->> 'retained_bytes')::bigint, 0) + $8
                <= (limits.storage_limits ->> 'retained_bytes')::bigint as is_there
            from storage, account_limits limits where limits.account_id = $1
         )
         insert into render_thumbnails (id, render_id, account_id, page, width, height, sealed)
         select new.id, renders.id, renders.account_id, new.page, new.width, new.height,
            case when room.is_there then new.sealed end
         from room, renders,
            unnest($3::uuid[], $4::smallint[], $5::integer[], $6::integer[], $7::bytea[])
                as new (id, page, width, height, sealed)
         where renders.account_id = $1 and renders.id = $2 and not renders.content_deleted
         on conflict (render_id, page) do nothing",
        account.0,
        render.0,
        &ids,
        &pages,
        &widths,
        &heights,
        &sealed as &[Option<Vec<u8>>],
        bytes,
    );
    execute(db, statement).await
}

/// Returns the thumbnails of a render, by page.
pub async fn list(db: &PgPool, account: AccountId, render: RenderId) -> Result<Vec<ListedThumbnail>, StoreError> {
    let thumbnails = sqlx::query_as!(
        ListedThumbnail,
        r#"select page, width, height, sealed is not null as "drawn!" from render_thumbnails
           where account_id = $1 and render_id = $2 order by page"#,
        account.0,
        render.0,
    );
    Ok(thumbnails.fetch_all(db).await?)
}

/// An encrypted thumbnail.
#[derive(Debug)]
pub struct SealedThumbnail {
    /// Id to which the encryption is bound.
    pub id: Uuid,
    /// A PNG file, encrypted.
    pub sealed: Vec<u8>,
}

/// Returns the thumbnail of one page.
pub async fn find(
    db: &PgPool,
    account: AccountId,
    render: RenderId,
    page: i16,
) -> Result<Option<SealedThumbnail>, StoreError> {
    let thumbnail = sqlx::query_as!(
        SealedThumbnail,
        r#"select id, sealed as "sealed!" from render_thumbnails
           where account_id = $1 and render_id = $2 and page = $3 and sealed is not null"#,
        account.0,
        render.0,
        page,
    );
    Ok(thumbnail.fetch_optional(db).await?)
}

/// Deletes thumbnails of all accounts that are past the retention of their plans, up to `at_most` renders, and returns the
/// number of deleted ones. The row of a render may remain for its document.
pub async fn delete_old(db: &PgPool, now: OffsetDateTime, at_most: i64) -> Result<u64, StoreError> {
    delete_old_content!(db, "render_thumbnails", now, at_most)
}

/// Deletes the thumbnails of an account's ended renders that were accepted up to `before`, up to `at_most` renders, and
/// returns the number of deleted ones.
pub async fn delete_of_account(
    db: &PgPool,
    account: AccountId,
    before: OffsetDateTime,
    at_most: i64,
) -> Result<u64, StoreError> {
    delete_content_of_account!(db, "render_thumbnails", account, before, at_most)
}
