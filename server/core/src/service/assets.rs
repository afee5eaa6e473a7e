//! Assets of accounts: creating, listing, reading, replacing and deleting them.

pub mod known;
pub mod library;
pub(in crate::service) mod remote;
pub mod upload;

use std::collections::HashMap;

use platen_domain::{
    account_log::{AccountEvent, Actor},
    allowed::AllowedTemplates,
    asset::{
        self, Asset, AssetCreation, AssetFilter, AssetReplacement, AssetUsers, ReplacedContent, font_sheet::MOST_FONTS,
        properties::AssetProperties,
    },
    caller::Caller,
    encryption::{DataKey, EncryptionError, Place},
    ids::{AccountId, AssetId},
    page::{Page, PageRequest},
    validation::{Problem, quote},
};
use sqlx::PgPool;
use time::OffsetDateTime;
use tokio::task::{JoinError, spawn_blocking};
use uuid::Uuid;

use crate::{
    clock,
    drawing::DrawingError,
    memory::{MemoryFull, Reservation},
    service::{
        Services,
        data_keys::{DataKeyError, data_key},
    },
    store::{
        account_log,
        assets::{self, OnTakenName, SealedContent, Stored},
        error::StoreError,
        template_assets, tx,
    },
};

/// Maximum number of templates that are listed as users of an asset.
const MOST_USERS: usize = 100;

/// Maximum number of fonts that are found, because each is drawn.
const MOST_SPECIMENS: usize = 60;

/// Error of an operation on an asset.
#[derive(Debug, thiserror::Error)]
pub enum AssetError {
    /// The account has no such asset.
    #[error("there is no such asset")]
    NotFound,
    /// The name is taken, or the content isn't allowed for the name.
    #[error("the request body is invalid")]
    Invalid(Vec<Problem>),
    /// The memory limit of requests is reached.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
    /// The account's data key is unavailable.
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    /// The content can't be examined.
    #[error("the content of an asset: {0}")]
    Examination(#[from] DrawingError),
    /// The content can't be encrypted or decrypted.
    #[error("the content of an asset: {0}")]
    Encryption(#[from] EncryptionError),
    /// The thread that encrypted or decrypted it panicked.
    #[error("the content of an asset: {0}")]
    Interrupted(#[from] JoinError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates an asset.
pub async fn create(app: &Services, caller: &Caller, new: AssetCreation) -> Result<Asset, AssetError> {
    let properties = examine(app, caller.account, new.content_type, &new.content).await?;
    let now = clock::now();
    let (key, account) = (key(app, caller.account).await?, caller.account);
    let sealing = move || seal(&key, account, AssetId::generate(), new, properties, now);
    let (asset, content) = spawn_blocking(sealing).await??;
    let mut transaction = tx::begin(&app.db).await?;
    if let Stored::NameTaken = assets::store(&mut transaction, account, &asset, &content, OnTakenName::Refuse).await? {
        return Err(name_taken(&asset.name));
    }
    let event = AccountEvent::AssetCreated {
        name: asset.name.clone(),
    };
    account_log::insert(&mut transaction, account, &Actor::of_caller(caller), &event, now).await?;
    tx::commit(transaction).await?;
    Ok(asset)
}

/// Returns a page of those of the account's assets that the filter admits, the latest first.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    filter: &AssetFilter,
    page: PageRequest<AssetId>,
) -> Result<Page<Asset, AssetId>, AssetError> {
    let found = assets::list(db, account, filter, page).await?;
    Ok(page.page(found, |asset| asset.id))
}

/// Returns the first [`MOST_FONTS`] fonts of the account, in the order of their names; with `search`, of those whose families
/// or names contain it, regardless of case.
pub async fn fonts(db: &PgPool, account: AccountId, search: Option<&str>) -> Result<Vec<Asset>, AssetError> {
    Ok(assets::list_fonts(db, account, search, MOST_FONTS.try_into().unwrap_or(i64::MAX)).await?)
}

/// Returns the first of the fonts that [`fonts`] finds, as many as a browser can draw on a page, and the number of the others.
pub async fn find_fonts(
    db: &PgPool,
    account: AccountId,
    search: Option<&str>,
) -> Result<(Vec<Asset>, usize), AssetError> {
    let mut found = fonts(db, account, search).await?;
    let left_out = found.len().saturating_sub(MOST_SPECIMENS);
    found.truncate(MOST_SPECIMENS);
    Ok((found, left_out))
}

/// Returns an asset, or [`AssetError::NotFound`].
pub async fn get(db: &PgPool, account: AccountId, id: AssetId) -> Result<Asset, AssetError> {
    assets::find(db, account, id).await?.ok_or(AssetError::NotFound)
}

/// Returns those of the allowed templates that use each of these assets.
pub async fn users(
    db: &PgPool,
    account: AccountId,
    allowed: &AllowedTemplates,
    assets: &[Asset],
) -> Result<HashMap<AssetId, AssetUsers>, AssetError> {
    let at_most = i64::try_from(MOST_USERS + 1).unwrap_or(i64::MAX);
    let found = template_assets::list_users(db, account, allowed, assets, at_most).await?;
    let mut users = HashMap::<_, AssetUsers>::new();
    for (asset, user) in found {
        let AssetUsers { listed, has_more } = users.entry(asset).or_default();
        if listed.len() == MOST_USERS {
            *has_more = true;
        } else {
            listed.push(user);
        }
    }
    Ok(users)
}

/// Returns the content of an asset, and the reservation of its memory. The caller has read the asset, and gives its size.
pub async fn content(app: &Services, account: AccountId, asset: &Asset) -> Result<(Vec<u8>, Reservation), AssetError> {
    let memory = app.memory.reserve(account, asset.bytes.unsigned_abs().into()).await?;
    let mut contents = assets::find_contents(&app.db, account, &[asset.id]).await?;
    let (_, content) = contents.pop().ok_or(AssetError::NotFound)?;
    let key = key(app, account).await?;
    let opened = spawn_blocking(move || open(&key, account, content)).await??;
    Ok((opened, memory))
}

/// Replaces the content of an asset, its tags, or both. Pages and templates that name it show the new content from then on.
pub async fn replace(
    app: &Services,
    caller: &Caller,
    id: AssetId,
    replacement: AssetReplacement,
) -> Result<Asset, AssetError> {
    let mut asset = get(&app.db, caller.account, id).await?;
    let mut sealed = None;
    if let Some(content) = replacement.content {
        let (changed, content) = seal_replacement(app, caller.account, asset, content).await?;
        (asset, sealed) = (changed, Some(content));
    }
    let mut transaction = tx::begin(&app.db).await?;
    if let Some(content) = sealed {
        if !assets::update_content(&mut transaction, caller.account, &asset, &content).await? {
            return Err(AssetError::NotFound);
        }
        let event = AccountEvent::AssetReplaced {
            name: asset.name.clone(),
        };
        let actor = Actor::of_caller(caller);
        account_log::insert(&mut transaction, caller.account, &actor, &event, asset.updated_at).await?;
    }
    if let Some(tags) = replacement.tags {
        if !assets::set_tags(&mut transaction, caller.account, id, &tags).await? {
            return Err(AssetError::NotFound);
        }
        asset.tags = tags;
    }
    tx::commit(transaction).await?;
    Ok(asset)
}

/// Examines and encrypts new content of an asset. Returns the asset with it.
async fn seal_replacement(
    app: &Services,
    account: AccountId,
    former: Asset,
    content: Vec<u8>,
) -> Result<(Asset, SealedContent), AssetError> {
    let new = AssetCreation {
        content_type: asset::content_type(&former.name, &content).map_err(not_allowed)?,
        name: former.name,
        content,
        tags: former.tags,
    };
    let properties = examine(app, account, new.content_type, &new.content).await?;
    let (key, id, now) = (key(app, account).await?, former.id, clock::now());
    let sealing = move || seal(&key, account, id, new, properties, now);
    let (asset, content) = spawn_blocking(sealing).await??;
    let replaced = if asset.sha256 == former.sha256 {
        former.replaced
    } else {
        Some(ReplacedContent {
            bytes: former.bytes,
            sha256: former.sha256,
            updated_at: former.updated_at,
        })
    };
    let asset = Asset {
        inserted_at: former.inserted_at,
        replaced,
        ..asset
    };
    Ok((asset, content))
}

/// Deletes an asset. Pages and templates that name it are printed without it.
pub async fn delete(db: &PgPool, caller: &Caller, id: AssetId) -> Result<(), AssetError> {
    let mut transaction = tx::begin(db).await?;
    let name = assets::delete(&mut transaction, caller.account, id).await?;
    let event = AccountEvent::AssetDeleted {
        name: name.ok_or(AssetError::NotFound)?,
    };
    account_log::insert(
        &mut transaction,
        caller.account,
        &Actor::of_caller(caller),
        &event,
        clock::now(),
    )
    .await?;
    Ok(tx::commit(transaction).await?)
}

/// Describes a new asset and encrypts its content. Takes milliseconds for large content.
fn seal(
    key: &DataKey,
    account: AccountId,
    id: AssetId,
    new: AssetCreation,
    properties: Option<AssetProperties>,
    now: OffsetDateTime,
) -> Result<(Asset, SealedContent), AssetError> {
    let AssetCreation {
        name,
        content_type,
        content,
        tags,
    } = new;
    let asset = Asset {
        id,
        name,
        content_type: content_type.to_owned(),
        bytes: content.len().try_into().unwrap_or(i32::MAX),
        sha256: asset::sha256(&content),
        tags,
        inserted_at: now,
        updated_at: now,
        replaced: None,
        properties,
    };
    let content_id = Uuid::now_v7();
    let sealed = key.encrypt(&Place::asset(account, content_id), rand::random(), content)?;
    Ok((asset, SealedContent { content_id, sealed }))
}

/// Examines the content of an asset, or returns why it isn't allowed.
async fn examine(
    app: &Services,
    account: AccountId,
    content_type: &'static str,
    content: &[u8],
) -> Result<Option<AssetProperties>, AssetError> {
    let examined = app.drawing.examine(account, &[(content_type, content)]).await?;
    examined.into_iter().next().unwrap_or(Ok(None)).map_err(not_allowed)
}

fn not_allowed(detail: impl Into<String>) -> AssetError {
    AssetError::Invalid(vec![Problem::invalid(asset::CONTENT, detail)])
}

/// Returns the key that encrypts contents of assets.
async fn key(app: &Services, account: AccountId) -> Result<DataKey, DataKeyError> {
    data_key(&app.db, &app.secret_keys, account, clock::now()).await
}

fn open(key: &DataKey, account: AccountId, content: SealedContent) -> Result<Vec<u8>, EncryptionError> {
    key.decrypt(&Place::asset(account, content.content_id), content.sealed)
}

fn name_taken(name: &str) -> AssetError {
    let detail = format!(
        "Must be unique in the account; another asset is named {}. Replace its content, or delete it",
        quote(name)
    );
    AssetError::Invalid(vec![Problem::invalid(asset::NAME, detail)])
}
