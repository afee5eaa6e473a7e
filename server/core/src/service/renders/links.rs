//! Links to documents in the default storage, which expire and can be revoked. Accounts choose whether their documents get such a
//! link instead of a public address.

use std::path::PathBuf;

use bytes::Bytes;
use platen_domain::{
    caller::Caller,
    download_link::{DEFAULT_LIFETIME, DownloadLink, LinkRequest, MOST_LINKS},
    ids::{AccountId, DownloadLinkId, RenderId},
    one_time_token::{OneTimeToken, TokenDigest},
};
use serde_json::{Value, json};
use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};
use url::Url;
use uuid::Uuid;

use crate::{
    clock,
    config::memory::COPIES,
    memory::{MemoryFull, Reservation},
    service::{
        Services,
        renders::{history, retention::DOCUMENT_LIFETIME},
    },
    storage::{default_storage::DefaultStorageError, documents::object_name},
    store::{
        download_links::{self, NewLink},
        error::StoreError,
        renders::documents,
        tx,
    },
};

/// Error of an operation on links.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The account, or the key, has no such render.
    #[error("there is no such render")]
    NoSuchRender,
    /// The render has no document, or it is in a bucket of the account, or deleted.
    #[error("the render has no document in the service's own storage")]
    NoDocument,
    /// The document has as many links as it may have.
    #[error("the document has {MOST_LINKS} links, the limit; revoke them, or wait until one expires")]
    TooMany,
    /// There is no such link.
    #[error("there is no such link")]
    NoSuchLink,
    /// The link has expired, was revoked or used, or its document was deleted.
    #[error("this link is no longer valid; ask the sender for a new one")]
    Ended,
    /// The memory limit of requests is reached.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
    /// The document can't be read.
    #[error(transparent)]
    Storage(#[from] DefaultStorageError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Path of all links.
const LINKS: [&str; 2] = ["files", "links"];

/// Creates a link to the document of a render.
pub async fn create(
    app: &Services,
    caller: &Caller,
    render: RenderId,
    request: LinkRequest,
) -> Result<DownloadLink, LinkError> {
    let (account, now) = (caller.account, clock::now());
    require_render(app, caller, render).await?;
    let mut transaction = tx::begin(&app.db).await?;
    let document = download_links::lock_document(&mut transaction, account, render, now).await?;
    let document = document.ok_or(LinkError::NoDocument)?;
    if download_links::count_valid(&mut transaction, account, render, now).await? >= MOST_LINKS {
        return Err(LinkError::TooMany);
    }
    let seconds = request.expires_in.or(document.link_seconds).map(i64::from);
    let expires_at = now + seconds.map_or(DEFAULT_LIFETIME, Duration::seconds);
    let new = New {
        render,
        single_use: request.single_use,
        expires_at: expires_at.min(document.deleted_at),
    };
    let link = insert(&mut transaction, &app.base_url, account, new, now).await?;
    tx::commit(transaction).await?;
    Ok(link)
}

/// Revokes all links to the document of a render.
pub async fn revoke(app: &Services, caller: &Caller, render: RenderId) -> Result<(), LinkError> {
    require_render(app, caller, render).await?;
    Ok(download_links::revoke(&app.db, caller.account, render, clock::now()).await?)
}

async fn require_render(app: &Services, caller: &Caller, render: RenderId) -> Result<(), LinkError> {
    let found = history::find(&app.db, caller.account, render, caller.sees_renders_of()).await?;
    found.map(drop).ok_or(LinkError::NoSuchRender)
}

struct New {
    render: RenderId,
    single_use: bool,
    expires_at: OffsetDateTime,
}

async fn insert(
    db: &mut PgConnection,
    base_url: &Url,
    account: AccountId,
    new: New,
    now: OffsetDateTime,
) -> Result<DownloadLink, StoreError> {
    let (id, token) = (DownloadLinkId::generate(), OneTimeToken::from_random(rand::random()));
    let link = NewLink {
        id,
        render: new.render,
        digest: token.digest(),
        single_use: new.single_use,
        expires_at: new.expires_at,
    };
    download_links::insert(db, account, &link, now).await?;
    let mut url = base_url.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(LINKS).push(token.expose());
    }
    Ok(DownloadLink {
        id,
        url: url.into(),
        single_use: new.single_use,
        expires_at: new.expires_at,
    })
}

/// Replaces the address of a stored document in its description by a link. Its name, which is as good as an address, is replaced
/// by that of the render.
pub(super) async fn replace_address(
    app: &Services,
    account: AccountId,
    render: RenderId,
    lifetime: Duration,
    result: &mut Value,
) -> Result<(), StoreError> {
    let now = clock::now();
    let new = New {
        render,
        single_use: false,
        expires_at: now + lifetime.min(DOCUMENT_LIFETIME),
    };
    let mut db = app.db.acquire().await?;
    let link = insert(&mut db, &app.base_url, account, new, now).await?;
    let name = object_name(render.0);
    result["id"] = format!("{}/{name}", result["bucket"].as_str().unwrap_or_default()).into();
    result["name"] = name.into();
    result["etag"] = json!(render);
    result["mediaLink"] = link.url.as_str().into();
    result["selfLink"] = link.url.into();
    Ok(())
}

/// Returns whether the address of a document is a link.
pub(super) fn is_link(address: &str) -> bool {
    let url = Url::parse(address);
    let segments = url.as_ref().ok().and_then(Url::path_segments);
    segments.is_some_and(|segments| segments.rev().skip(1).take(LINKS.len()).eq(LINKS.into_iter().rev()))
}

/// A document of the default storage.
pub enum OpenedDocument {
    /// The path of its file.
    File(PathBuf),
    /// Its content, which was in a bucket.
    Content(Bytes, Reservation),
}

/// Opens the link with this token. With `uses`, a link for one use ends.
pub async fn open(app: &Services, token: &str, uses: bool) -> Result<OpenedDocument, LinkError> {
    let now = clock::now();
    let link = download_links::find(&app.db, TokenDigest::of(token), now).await?;
    let link = link.ok_or(LinkError::NoSuchLink)?;
    let object = link.object.filter(|_| link.is_valid).ok_or(LinkError::Ended)?;
    let document = open_object(app, link.account, object, link.bytes).await?;
    // Last, so that an error doesn't use it up.
    if uses && link.single_use && !download_links::use_once(&app.db, link.id, now).await? {
        return Err(LinkError::Ended);
    }
    Ok(document)
}

/// Opens the document of a render of the account, if it is in the default storage.
pub async fn open_of_render(app: &Services, account: AccountId, render: RenderId) -> Result<OpenedDocument, LinkError> {
    let document = documents::find_object(&app.db, account, render, clock::now()).await?;
    let (object, bytes) = document.ok_or(LinkError::NoDocument)?;
    open_object(app, account, object, bytes).await
}

async fn open_object(
    app: &Services,
    account: AccountId,
    object: Uuid,
    bytes: i64,
) -> Result<OpenedDocument, LinkError> {
    if let Some(path) = app.documents.file(object).await? {
        return Ok(OpenedDocument::File(path));
    }
    let bytes = bytes.unsigned_abs();
    let memory = app.memory.try_reserve(account, COPIES * bytes)?;
    Ok(OpenedDocument::Content(
        app.documents.download(object, bytes).await?,
        memory,
    ))
}
