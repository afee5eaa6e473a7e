//! Links to documents in the default storage, which expire and can be revoked. Accounts choose whether their documents get such a
//! link instead of a public address.

use std::path::PathBuf;

use bytes::Bytes;
use platen_domain::{
    caller::Caller,
    download_link::{DownloadLink, LinkRequest, MOST_LINKS},
    ids::{AccountId, ApiKeyId, DownloadLinkId, RenderId},
    one_time_token::TokenDigest,
};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};
use url::Url;
use uuid::Uuid;

use crate::{
    clock,
    memory::{MemoryFull, Reservation},
    service::{
        Services,
        renders::{history, retention::DOCUMENT_LIFETIME},
    },
    storage::{default_storage::DefaultStorageError, documents::object_name},
    store::{download_links, error::StoreError, renders::documents, tx},
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
    /// The document can't be read. The store's message may contain the name of the object.
    #[error("the default storage can't be read")]
    Storage(#[from] DefaultStorageError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Ended links of a document that are remembered, so that they respond with 410.
const MOST_ENDED: i64 = 1_000;
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
    require_render(app, account, render, caller.sees_renders_of()).await?;
    let mut transaction = tx::begin(&app.db).await?;
    let document = download_links::lock_document(&mut transaction, account, render, now).await?;
    let document = document.ok_or(LinkError::NoDocument)?;
    if download_links::count_valid(&mut transaction, account, render, MOST_ENDED, now).await? >= MOST_LINKS {
        return Err(LinkError::TooMany);
    }
    let seconds = request.expires_in.unwrap_or(document.link_seconds);
    let expires_at = now + Duration::seconds(seconds.into());
    let (link, digest) = new_link(app, request, expires_at.min(document.deleted_at));
    download_links::insert(&mut transaction, account, render, &link, digest, now).await?;
    tx::commit(transaction).await?;
    Ok(link)
}

/// Revokes all links to the document of a render; with `key`, of a render of that key.
pub async fn revoke(
    app: &Services,
    account: AccountId,
    render: RenderId,
    key: Option<ApiKeyId>,
) -> Result<(), LinkError> {
    require_render(app, account, render, key).await?;
    Ok(download_links::revoke(&app.db, account, render, clock::now()).await?)
}

async fn require_render(
    app: &Services,
    account: AccountId,
    render: RenderId,
    key: Option<ApiKeyId>,
) -> Result<(), LinkError> {
    let found = history::find(&app.db, account, render, key).await?;
    found.map(drop).ok_or(LinkError::NoSuchRender)
}

/// Returns a new link and the digest of its token.
fn new_link(app: &Services, request: LinkRequest, expires_at: OffsetDateTime) -> (DownloadLink, TokenDigest) {
    let token = app.secret_keys.sign_token(rand::random());
    let mut url = app.base_url.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(LINKS).push(token.expose());
    }
    let link = DownloadLink {
        id: DownloadLinkId::generate(),
        url: url.into(),
        single_use: request.single_use,
        expires_at,
    };
    (link, token.digest())
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
    let expires_at = now + lifetime.min(DOCUMENT_LIFETIME);
    let (link, digest) = new_link(app, LinkRequest::default(), expires_at);
    download_links::insert(&mut *app.db.acquire().await?, account, render, &link, digest, now).await?;
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
#[derive(Debug, Clone)]
pub enum LocatedDocument {
    /// The path of its file.
    File(PathBuf),
    /// It is in a bucket.
    InBucket(ObjectOfAccount),
}

/// A document in a bucket.
#[derive(Debug, Clone, Copy)]
pub struct ObjectOfAccount {
    account: AccountId,
    object: Uuid,
    /// Its size.
    pub bytes: u64,
}

/// A valid link.
pub struct OpenedLink {
    id: Uuid,
    /// Whether it ends with its first use.
    pub single_use: bool,
    pub document: LocatedDocument,
}

/// Finds the link with this token.
pub async fn open(app: &Services, token: &str) -> Result<OpenedLink, LinkError> {
    let Some(link) = download_links::find(&app.db, TokenDigest::of(token), clock::now()).await? else {
        // Links are deleted with their renders.
        let has_existed = app.secret_keys.have_signed(token);
        return Err(if has_existed {
            LinkError::Ended
        } else {
            LinkError::NoSuchLink
        });
    };
    let object = link.object.filter(|_| link.is_valid).ok_or(LinkError::Ended)?;
    Ok(OpenedLink {
        id: link.id,
        single_use: link.single_use,
        document: locate(app, link.account, object, link.bytes).await?,
    })
}

/// Ends a link that is for one use. Fails if it was used meanwhile.
pub async fn use_up(app: &Services, link: &OpenedLink) -> Result<(), LinkError> {
    let was_valid = download_links::use_once(&app.db, link.id, clock::now()).await?;
    was_valid.then_some(()).ok_or(LinkError::Ended)
}

/// Finds the document of a render of the account, if it is in the default storage.
pub async fn locate_of_render(
    app: &Services,
    account: AccountId,
    render: RenderId,
) -> Result<LocatedDocument, LinkError> {
    let document = documents::find_object(&app.db, account, render, clock::now()).await?;
    let (object, bytes) = document.ok_or(LinkError::NoDocument)?;
    locate(app, account, object, bytes).await
}

async fn locate(app: &Services, account: AccountId, object: Uuid, bytes: i64) -> Result<LocatedDocument, LinkError> {
    Ok(match app.documents.file(object).await? {
        Some(path) => LocatedDocument::File(path),
        None => LocatedDocument::InBucket(ObjectOfAccount {
            account,
            object,
            bytes: bytes.unsigned_abs(),
        }),
    })
}

/// Downloads a document from the bucket, with a reservation for its memory.
pub async fn download(app: &Services, found: ObjectOfAccount) -> Result<(Bytes, Reservation), LinkError> {
    let ObjectOfAccount { account, object, bytes } = found;
    let mut memory = app.memory.reserve(account, 2 * bytes).await?;
    let content = app.documents.read(object, bytes).await?.ok_or(LinkError::Ended)?;
    memory.shrink_to(content.len() as u64);
    Ok((content, memory))
}
