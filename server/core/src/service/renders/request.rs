//! The stored request of a render, as it is shown and sent again.

use platen_domain::{
    encryption::{DataKey, EncryptionError, Place},
    ids::{AccountId, RenderId},
    render::content::{MOST_REPLAYED, MissingContent, PartKind, ShownPart, ShownRequest},
};
use platen_engine::job::Part;
use serde_json::Value;
use time::Duration;

use crate::{
    clock,
    memory::{MemoryFull, Reservation},
    render_request::{
        PartSource,
        stored::{StoredRequest, Unreadable, size},
    },
    service::{
        Services,
        data_keys::{DataKeyError, data_key},
        parsers::Busy,
        renders::history,
    },
    store::{
        accounts,
        error::StoreError,
        render_contents::{self, EncryptedContent, StoredContent},
        renders::history::Render,
    },
};

/// The body, the parsed request, and the request as it is shown.
const COPIES: u64 = 3;
/// Time after which the request of an ended synchronous render, and the report of its document, are stored.
pub(super) const STORED_AFTER: Duration = Duration::seconds(10);
/// Maximum length of the texts of all parts in a page, in bytes.
const LONGEST_TEXTS: usize = 128 << 10;
/// Maximum length of the whole request in a page, in bytes.
const LONGEST_JSON: usize = 256 << 10;

/// Error of reading a stored request.
#[derive(Debug, thiserror::Error)]
pub enum ContentReadError {
    #[error(transparent)]
    Busy(#[from] Busy),
    #[error(transparent)]
    Memory(#[from] MemoryFull),
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    #[error(transparent)]
    Encryption(#[from] EncryptionError),
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A request with its content.
pub struct RequestContent {
    /// The body for the API, as JSON, without the value of a cookie.
    body: String,
    parts: Vec<ShownPart>,
    memory: Reservation,
}

impl RequestContent {
    fn new(request: StoredRequest, options: &Value, memory: Reservation) -> Result<Self, Unreadable> {
        let mut room = LONGEST_TEXTS;
        let parts = request.render.parts.iter().map(|part| shown(part, &mut room)).collect();
        let options = options.as_object().cloned().unwrap_or_default();
        Ok(Self {
            parts,
            body: request.into_body(options)?,
            memory,
        })
    }

    /// Returns the body for the API, as JSON, and the reservation of its memory.
    pub fn into_body(self) -> (String, Reservation) {
        (self.body, self.memory)
    }

    /// Returns what a page shows of the request.
    pub fn into_shown(self) -> ShownRequest {
        ShownRequest {
            parts: self.parts,
            bytes: self.body.len(),
            json: (self.body.len() <= LONGEST_JSON).then_some(self.body),
        }
    }
}

/// Shortens the part's text to `room`, and reduces it.
fn shown(part: &PartSource, room: &mut usize) -> ShownPart {
    let (kind, text) = match part {
        PartSource::Given(Part::Html(html)) => (PartKind::Html, html.as_str()),
        PartSource::Given(Part::Url(url)) => (PartKind::Url, url.as_str()),
        PartSource::Template(part) => (PartKind::Template, part.context.get()),
    };
    let beginning = &text[..text.floor_char_boundary(*room)];
    *room -= beginning.len();
    ShownPart {
        kind,
        text: beginning.to_owned(),
        bytes: text.len(),
    }
}

/// Returns the request of a render with its content, or why it isn't available.
pub async fn find(
    app: &Services,
    account: AccountId,
    render: &Render,
) -> Result<Result<RequestContent, MissingContent>, StoreError> {
    match render_contents::find(&app.db, account, render.id).await? {
        Some(StoredContent::Encrypted(content)) => {
            let read = read(app, account, render.id, content, render.options.clone()).await;
            Ok(read.map_err(|error| {
                tracing::warn!(%error, "a stored request could not be read");
                MissingContent::Unreadable
            }))
        }
        Some(StoredContent::Omitted(omission)) => Ok(Err(MissingContent::Omitted(omission))),
        None if !accounts::keeps_content(&app.db, account).await? => Ok(Err(MissingContent::NotWanted)),
        None => {
            let recent = render.finished_at.is_none_or(|at| clock::now() - at < STORED_AFTER);
            Ok(Err(if recent {
                MissingContent::NotYet
            } else {
                MissingContent::Gone
            }))
        }
    }
}

/// Like [`find`], by the id of the render. `None` if the account has no such render.
pub async fn find_of_render(
    app: &Services,
    account: AccountId,
    id: RenderId,
) -> Result<Option<Result<RequestContent, MissingContent>>, StoreError> {
    match history::find(&app.db, account, id, None).await? {
        Some((render, _)) => Ok(Some(find(app, account, &render).await?)),
        None => Ok(None),
    }
}

/// Returns the request of a render as JSON for the playground, or why it can't be opened there. `None` if the account
/// has no such render.
pub async fn find_replayed(
    app: &Services,
    account: AccountId,
    id: RenderId,
) -> Result<Option<Result<String, MissingContent>>, StoreError> {
    let found = find_of_render(app, account, id).await?;
    Ok(found.map(|content| {
        let body = content?.body;
        if body.len() <= MOST_REPLAYED {
            Ok(body)
        } else {
            Err(MissingContent::TooLarge)
        }
    }))
}

async fn read(
    app: &Services,
    account: AccountId,
    render: RenderId,
    EncryptedContent { version, sealed }: EncryptedContent,
    options: Value,
) -> Result<RequestContent, ContentReadError> {
    let key = data_key(&app.db, &app.secret_keys, account, clock::now()).await?;
    let bytes = sealed.len();
    let memory = app.memory.try_reserve(account, bytes as u64)?;
    let parse = move || open(&key, account, render, version, sealed, &options, memory);
    app.parsers.run(account, app.parsing_deadline(), bytes, parse).await?
}

fn open(
    key: &DataKey,
    account: AccountId,
    render: RenderId,
    version: i16,
    sealed: Vec<u8>,
    options: &Value,
    mut memory: Reservation,
) -> Result<RequestContent, ContentReadError> {
    let content = key.decrypt(&Place::stored_request(account, render, version), sealed)?;
    memory.try_grow(COPIES * size(version, &content))?;
    let request = StoredRequest::from_bytes(version, &content)?;
    Ok(RequestContent::new(request, options, memory)?)
}
