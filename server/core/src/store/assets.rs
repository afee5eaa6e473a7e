//! Table `assets`: assets of accounts, with their encrypted contents.

use platen_domain::{
    asset::{Asset, AssetFilter, ReplacedContent, properties::AssetProperties},
    ids::{AccountId, AssetId},
    page::PageRequest,
};
use sqlx::{PgConnection, PgPool, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{error::StoreError, statement::changes_one};

struct AssetRow {
    id: Uuid,
    name: String,
    content_type: String,
    bytes: i32,
    sha256: String,
    tags: Vec<String>,
    inserted_at: OffsetDateTime,
    updated_at: OffsetDateTime,
    replaced: Option<Json<ReplacedContent>>,
    properties: Option<Json<AssetProperties>>,
}

impl From<AssetRow> for Asset {
    fn from(row: AssetRow) -> Self {
        Self {
            id: AssetId(row.id),
            name: row.name,
            content_type: row.content_type,
            bytes: row.bytes,
            sha256: row.sha256,
            tags: row.tags,
            inserted_at: row.inserted_at,
            updated_at: row.updated_at,
            replaced: row.replaced.map(|Json(replaced)| replaced),
            properties: row.properties.map(|Json(properties)| properties),
        }
    }
}

/// The content of an asset, as stored.
#[derive(Debug)]
pub struct SealedContent {
    /// Id to which the encryption is bound.
    pub content_id: Uuid,
    /// Encrypted.
    pub sealed: Vec<u8>,
}

/// Where the content of an asset is found.
#[derive(Debug)]
pub struct NamedAsset {
    pub id: AssetId,
    pub name: String,
    /// Id of the current content.
    pub content_id: Uuid,
    /// Size of the content in bytes.
    pub bytes: u64,
}

/// What became of an asset that was to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    New,
    /// The asset with its name has the new content.
    Replaced,
    /// Another asset has its name, and may not be replaced.
    NameTaken,
}

/// What to do if another asset has the name of a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnTakenName {
    Refuse,
    Replace,
}

/// Inserts an asset, or replaces the content of the one with its name, which keeps its tags.
pub async fn store(
    db: &mut PgConnection,
    account: AccountId,
    asset: &Asset,
    content: &SealedContent,
    on_taken_name: OnTakenName,
) -> Result<Stored, StoreError> {
    let is_new = sqlx::query_scalar!(
        r#"insert into assets
            (id, account_id, name, content_type, bytes, sha256, content_id, sealed, inserted_at, updated_at, properties, tags)
         values ($1, $2, $3, $4, $5, decode($6, 'hex'), $7, $8, $9, $10, $12, $13)
         on conflict on constraint assets_name_key do update
         set content_type = excluded.content_type, bytes = excluded.bytes, sha256 = excluded.sha256,
            content_id = excluded.content_id, sealed = excluded.sealed, updated_at = excluded.updated_at,
            properties = excluded.properties
         where $11
         returning id = $1 as "is_new!""#,
        asset.id.0,
        account.0,
        asset.name,
        asset.content_type,
        asset.bytes,
        asset.sha256,
        content.content_id,
        content.sealed,
        asset.inserted_at,
        asset.updated_at,
        on_taken_name == OnTakenName::Replace,
        asset.properties.as_ref().map(Json) as _,
        &asset.tags,
    );
    Ok(match is_new.fetch_optional(db).await? {
        Some(true) => Stored::New,
        Some(false) => Stored::Replaced,
        None => Stored::NameTaken,
    })
}

/// Returns those of an account's assets that the filter admits, newest first, without their properties, because a list may be
/// long.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    filter: &AssetFilter,
    page: PageRequest<AssetId>,
) -> Result<Vec<Asset>, StoreError> {
    let rows = sqlx::query_as!(
        AssetRow,
        r#"select id, name, content_type, bytes, encode(sha256, 'hex') as "sha256!", tags, inserted_at, updated_at,
            replaced as "replaced: _", null::jsonb as "properties: _"
         from assets
         where account_id = $1 and ($2::uuid is null or id < $2)
            and ($4::text is null or position(lower($4) in lower(name)) > 0)
            and ($5::text is null or $5 = any(tags))
         order by id desc
         limit $3"#,
        account.0,
        page.after.map(|id| id.0),
        page.limit(),
        filter.name.as_deref(),
        filter.tag.as_deref(),
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(Into::into).collect())
}

/// Returns the fonts among an account's assets, in the order of their names; with `search`, those whose families or names
/// contain it, in upper or lower case.
pub async fn list_fonts(
    db: &PgPool,
    account: AccountId,
    search: Option<&str>,
    at_most: i64,
) -> Result<Vec<Asset>, StoreError> {
    let rows = sqlx::query_as!(
        AssetRow,
        r#"select id, name, content_type, bytes, encode(sha256, 'hex') as "sha256!", tags, inserted_at, updated_at,
            replaced as "replaced: _", properties as "properties: _"
         from assets
         where account_id = $1 and content_type like 'font/%' and (
            $2::text is null or position(lower($2) in lower(name)) > 0
            or position(lower($2) in lower(properties -> 'font' ->> 'family')) > 0
         )
         order by name
         limit $3"#,
        account.0,
        search,
        at_most,
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(Into::into).collect())
}

/// Returns one of an account's assets.
pub async fn find(db: &PgPool, account: AccountId, id: AssetId) -> Result<Option<Asset>, StoreError> {
    let row = sqlx::query_as!(
        AssetRow,
        r#"select id, name, content_type, bytes, encode(sha256, 'hex') as "sha256!", tags, inserted_at, updated_at,
            replaced as "replaced: _", properties as "properties: _"
         from assets where account_id = $1 and id = $2"#,
        account.0,
        id.0,
    );
    Ok(row.fetch_optional(db).await?.map(Into::into))
}

/// Returns the contents of assets.
pub async fn find_contents(
    db: &PgPool,
    account: AccountId,
    ids: &[AssetId],
) -> Result<Vec<(AssetId, SealedContent)>, StoreError> {
    let ids: Vec<_> = ids.iter().map(|id| id.0).collect();
    let contents = sqlx::query!(
        "select id, content_id, sealed from assets where account_id = $1 and id = any($2)",
        account.0,
        &ids,
    );
    let contents = contents.fetch_all(db).await?.into_iter().map(|row| {
        let content = SealedContent {
            content_id: row.content_id,
            sealed: row.sealed,
        };
        (AssetId(row.id), content)
    });
    Ok(contents.collect())
}

/// Returns the assets with these names, the smallest first.
pub async fn find_named(db: &PgPool, account: AccountId, names: &[String]) -> Result<Vec<NamedAsset>, StoreError> {
    let rows = sqlx::query!(
        "select id, name, content_id, bytes from assets where account_id = $1 and name = any($2) order by bytes",
        account.0,
        names,
    );
    let assets = rows.fetch_all(db).await?.into_iter().map(|row| NamedAsset {
        id: AssetId(row.id),
        name: row.name,
        content_id: row.content_id,
        bytes: row.bytes.unsigned_abs().into(),
    });
    Ok(assets.collect())
}

/// Replaces the content of an asset with that of `asset`, which has the same id and name. Returns `false` if it doesn't
/// exist.
pub async fn update_content(
    db: &mut PgConnection,
    account: AccountId,
    asset: &Asset,
    content: &SealedContent,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update assets
         set content_type = $3, bytes = $4, sha256 = decode($5, 'hex'), content_id = $6, sealed = $7, updated_at = $8,
            properties = $9
         where account_id = $1 and id = $2",
        account.0,
        asset.id.0,
        asset.content_type,
        asset.bytes,
        asset.sha256,
        content.content_id,
        content.sealed,
        asset.updated_at,
        asset.properties.as_ref().map(Json) as _,
    );
    changes_one(db, update).await
}

/// Replaces the tags of an asset. Returns `false` if it doesn't exist.
pub async fn set_tags(
    db: &mut PgConnection,
    account: AccountId,
    id: AssetId,
    tags: &[String],
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update assets set tags = $3 where account_id = $1 and id = $2",
        account.0,
        id.0,
        tags,
    );
    changes_one(db, update).await
}

/// Deletes an asset. Returns its name, or `None` if it doesn't exist.
pub async fn delete(db: &mut PgConnection, account: AccountId, id: AssetId) -> Result<Option<String>, StoreError> {
    let name = sqlx::query_scalar!(
        "delete from assets where account_id = $1 and id = $2 returning name",
        account.0,
        id.0,
    );
    Ok(name.fetch_optional(db).await?)
}
