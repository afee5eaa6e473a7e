//! Thumbnails of a document's first pages, for the dashboard. Documents on the local disk are rasterized when their
//! render is viewed. Others are rasterized after the response, if the account has a dashboard page open and capacity
//! permits: at most one a second for each account, one after the other with accounts in turn, at the lowest priority, and
//! never while renders wait or all slots are in use. Thumbnails never delay or fail a render.

use std::{
    collections::HashMap,
    fs, io,
    num::NonZeroU32,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use base64::{DecodeError, Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use platen_confined::account_queues::{AccountQueues, Turn};
use platen_domain::{
    encryption::{EncryptionError, Place},
    ids::{AccountId, RenderId},
    render::{
        accessibility::{ConformanceLevel, passes_machine_checks},
        thumbnail::Pictures,
    },
};
use platen_engine::config::SPARE_SLOTS;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    task::{JoinError, spawn_blocking},
};
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    clock,
    drawing::{
        DrawingError,
        child::{Drawn, Size},
    },
    service::{
        Services,
        data_keys::{DataKeyError, data_key},
        throttle::{Quota, Throttle},
    },
    store::{
        accessibility_reports, accounts,
        error::StoreError,
        render_thumbnails::{self, NewThumbnail},
        renders::documents::{self, OwnDocument},
    },
};

/// Maximum number of thumbnails of a document.
pub const MOST_PAGES: usize = 6;
/// Pixels along the longer side of a page. An A4 page is 170 wide, and shown at a width of 104 to 130.
const LONGER_SIDE: u16 = 240;
/// The same for documents with an accessibility report, whose findings are marked on the pages: an A4 page is 510 wide.
const LONGER_SIDE_WITH_REPORT: u16 = 720;
/// Maximum size of a document with thumbnails, in bytes. Larger ones take too long to rasterize.
pub(super) const LARGEST_DOCUMENT: usize = 16 * 1024 * 1024;
/// New documents of an account that are rasterized. More would only cost processor time.
const ONE_A_SECOND: Quota = Quota {
    times: NonZeroU32::MIN,
    within: Duration::from_secs(1),
};
/// Maximum numbers of documents that wait or are being rasterized.
#[derive(Clone, Copy)]
struct Bounds {
    in_all: usize,
    of_account: usize,
}

/// Bounds of new documents, which stay in memory until they are rasterized.
const MADE: Bounds = Bounds {
    in_all: 8,
    of_account: 2,
};
/// Bounds of documents on the local disk, which are read when their turn comes. A user waits for them.
const LOOKED_AT: Bounds = Bounds {
    in_all: 256,
    of_account: 32,
};

/// Queue of documents to rasterize. Cheap to clone.
#[derive(Clone)]
pub struct Thumbnails(Arc<State>);

struct State {
    in_hand: Mutex<HashMap<AccountId, Vec<RenderId>>>,
    queues: Arc<AccountQueues>,
    one_at_a_time: Semaphore,
    offered: Throttle<AccountId>,
}

impl Default for Thumbnails {
    fn default() -> Self {
        Self(Arc::new(State {
            in_hand: Mutex::default(),
            queues: Arc::default(),
            one_at_a_time: Semaphore::new(1),
            offered: Throttle::default(),
        }))
    }
}

impl Thumbnails {
    /// Takes a place for a render's document. Returns `None` if the bounds are reached or the render has a place
    /// already.
    fn place(&self, account: AccountId, render: RenderId, bounds: Bounds) -> Option<TakenPlace> {
        let mut in_hand = self.in_hand();
        let in_all: usize = in_hand.values().map(Vec::len).sum();
        let of_account = in_hand.get(&account).map_or(&[][..], Vec::as_slice);
        if in_all >= bounds.in_all || of_account.len() >= bounds.of_account || of_account.contains(&render) {
            return None;
        }
        in_hand.entry(account).or_default().push(render);
        Some(TakenPlace {
            thumbnails: self.clone(),
            account,
            render,
        })
    }

    /// Waits until a document of the account may be rasterized. One document of each account waits at a time, so that
    /// the documents of an account are not all rasterized before that of another.
    async fn wait(&self, account: AccountId) -> io::Result<(Turn, SemaphorePermit<'_>)> {
        let turn = self.0.queues.wait(account.0).await?;
        let permit = self.0.one_at_a_time.acquire().await;
        Ok((turn, permit.map_err(io::Error::other)?))
    }

    /// Returns whether a render has a place.
    fn is_in_hand(&self, account: AccountId, render: RenderId) -> bool {
        self.in_hand()
            .get(&account)
            .is_some_and(|renders| renders.contains(&render))
    }

    fn in_hand(&self) -> MutexGuard<'_, HashMap<AccountId, Vec<RenderId>>> {
        self.0.in_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the queue, which is released when this is dropped.
struct TakenPlace {
    thumbnails: Thumbnails,
    account: AccountId,
    render: RenderId,
}

impl Drop for TakenPlace {
    fn drop(&mut self) {
        let mut in_hand = self.thumbnails.in_hand();
        if let Some(renders) = in_hand.get_mut(&self.account) {
            renders.retain(|render| *render != self.render);
            if renders.is_empty() {
                in_hand.remove(&self.account);
            }
        }
    }
}

/// Returns whether documents in the default storage are rasterized when they are viewed. Those in a bucket aren't,
/// because they would have to be downloaded.
pub(super) fn is_drawn_when_looked_at(app: &Services) -> bool {
    app.documents.bucket().is_none()
}

/// What is drawn of a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct PagesToDraw {
    pages: usize,
    size: Size,
}

impl PagesToDraw {
    /// Returns what is drawn of a document with `page_count` pages.
    pub(super) fn of(page_count: usize, has_report: bool) -> Self {
        Self {
            pages: page_count.min(MOST_PAGES),
            size: Size::LongerSide(if has_report {
                LONGER_SIDE_WITH_REPORT
            } else {
                LONGER_SIDE
            }),
        }
    }
}

/// Rasterizes a new document in the background, if the account has a page open and capacity permits.
pub(super) fn offer(app: &Services, account: AccountId, render: RenderId, wanted: PagesToDraw, pdf: Bytes) {
    if !app.jobs.changes().has_open_pages(account) {
        return;
    }
    let load = app.engine.status();
    if load.waiting > 0 || load.running + SPARE_SLOTS >= load.slots || pdf.len() > LARGEST_DOCUMENT {
        return;
    }
    let offered = app.thumbnails.0.offered.take(account, ONE_A_SECOND, Instant::now());
    if offered.refused_for.is_some() {
        return;
    }
    let Some(place) = app.thumbnails.place(account, render, MADE) else {
        return;
    };
    // Thumbnails must not take memory that requests need.
    let Ok(memory) = app.memory.try_reserve(account, pdf.len() as u64) else {
        return;
    };
    let app = app.clone();
    let drawing = async move {
        let _held = (place, memory);
        let drawn = async {
            if !accounts::keeps_content(&app.db, account).await? {
                return Ok(());
            }
            let _turn = app.thumbnails.wait(account).await?;
            draw(&app, account, render, wanted, &pdf).await
        };
        report(drawn.await);
    };
    tokio::spawn(drawing.in_current_span());
}

/// Returns the thumbnails of a render. Begins to rasterize a document on the local disk if it has none yet.
pub async fn list(app: &Services, account: AccountId, render: RenderId) -> Result<Pictures, StoreError> {
    let stored = render_thumbnails::list(&app.db, account, render).await?;
    if !stored.is_empty() {
        let drawn: Vec<_> = stored.into_iter().filter(|thumbnail| thumbnail.drawn).collect();
        return Ok(if drawn.is_empty() {
            Pictures::None
        } else {
            Pictures::Drawn(drawn)
        });
    }
    if app.thumbnails.is_in_hand(account, render) {
        return Ok(Pictures::Coming);
    }
    if !is_drawn_when_looked_at(app) {
        return Ok(Pictures::None);
    }
    let Some(document) = documents::find_document(&app.db, account, render, clock::now()).await? else {
        return Ok(Pictures::None);
    };
    if document.bytes.unsigned_abs() > LARGEST_DOCUMENT as u64 {
        return Ok(Pictures::None);
    }
    // Without a place, the next view tries again.
    if let Some(place) = app.thumbnails.place(account, render, LOOKED_AT) {
        let app = app.clone();
        let drawing = async move {
            let _place = place;
            report(draw_stored(&app, account, render, document).await);
        };
        tokio::spawn(drawing.in_current_span());
    }
    Ok(Pictures::Coming)
}

/// Error of creating or reading a thumbnail.
#[derive(Debug, thiserror::Error)]
pub enum ThumbnailError {
    /// The document can't be rasterized.
    #[error(transparent)]
    Drawing(#[from] DrawingError),
    /// The worker process returned an invalid picture.
    #[error("rasterized page: {0}")]
    Picture(#[from] DecodeError),
    /// The document can't be read.
    #[error("document: {0}")]
    File(#[from] io::Error),
    /// The thread panicked.
    #[error("{0}")]
    Interrupted(#[from] JoinError),
    /// The thumbnail can't be encrypted or decrypted.
    #[error("thumbnail: {0}")]
    Encryption(#[from] EncryptionError),
    /// The data key is unavailable.
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Thumbnail of a page.
#[derive(Debug)]
pub struct Thumbnail {
    /// Unique id, which changes with the content.
    pub id: Uuid,
    /// Content of the PNG file.
    pub png: Vec<u8>,
}

/// Returns the thumbnail of a page, counted from 1, or `None` if there is none.
pub async fn find(
    app: &Services,
    account: AccountId,
    render: RenderId,
    page: i16,
) -> Result<Option<Thumbnail>, ThumbnailError> {
    let Some(stored) = render_thumbnails::find(&app.db, account, render, page).await? else {
        return Ok(None);
    };
    let key = data_key(&app.db, &app.secret_keys, account, clock::now()).await?;
    let png = key.decrypt(&Place::thumbnail(account, stored.id), stored.sealed)?;
    Ok(Some(Thumbnail { id: stored.id, png }))
}

async fn draw_stored(
    app: &Services,
    account: AccountId,
    render: RenderId,
    document: OwnDocument,
) -> Result<(), ThumbnailError> {
    let _turn = app.thumbnails.wait(account).await?;
    // Another view may have rasterized it in the meantime.
    if !render_thumbnails::list(&app.db, account, render).await?.is_empty() {
        return Ok(());
    }
    let path = app.documents.files().path(document.object);
    let pdf = spawn_blocking(move || fs::read(path)).await??;
    let levels = document.conformance.as_deref().map(ConformanceLevel::parse_list);
    // Those of other processes are stored later.
    let has_violations = levels.is_some_and(|levels| !levels.is_empty() && !passes_machine_checks(&levels));
    let has_report = has_violations
        || app.accessibility_reports.is_waiting(account, render)
        || accessibility_reports::find(&app.db, account, render).await?.is_some();
    let wanted = PagesToDraw::of(document.page_count.unsigned_abs() as usize, has_report);
    draw(app, account, render, wanted, &pdf).await
}

async fn draw(
    app: &Services,
    account: AccountId,
    render: RenderId,
    wanted: PagesToDraw,
    pdf: &[u8],
) -> Result<(), ThumbnailError> {
    let drawn = app.drawing.draw(account, pdf, wanted.size, wanted.pages).await;
    let thumbnails = match drawn {
        Ok(drawn) => encrypt(app, account, drawn).await?,
        // A retry would fail alike, so an empty thumbnail records the failure.
        Err(DrawingError::TooMuch(_)) => vec![NewThumbnail {
            id: Uuid::now_v7(),
            page: 1,
            width: 0,
            height: 0,
            sealed: None,
        }],
        Err(error @ DrawingError::Process(_)) => return Err(error.into()),
    };
    render_thumbnails::insert(&app.db, account, render, thumbnails).await?;
    app.jobs.changed(account, render);
    Ok(())
}

async fn encrypt(app: &Services, account: AccountId, drawn: Vec<Drawn>) -> Result<Vec<NewThumbnail>, ThumbnailError> {
    let key = data_key(&app.db, &app.secret_keys, account, clock::now()).await?;
    let encrypted = drawn.into_iter().zip(1..).map(|(drawn, page)| {
        let id = Uuid::now_v7();
        let png = BASE64_STANDARD.decode(drawn.png)?;
        Ok(NewThumbnail {
            id,
            page,
            width: i32::try_from(drawn.width).unwrap_or(i32::MAX),
            height: i32::try_from(drawn.height).unwrap_or(i32::MAX),
            sealed: Some(key.encrypt(&Place::thumbnail(account, id), rand::random(), png)?),
        })
    });
    encrypted.collect()
}

fn report(drawn: Result<(), ThumbnailError>) {
    if let Err(error) = drawn {
        tracing::warn!(%error, "thumbnails could not be created");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_account_takes_every_place() {
        let thumbnails = Thumbnails::default();
        let account = AccountId::generate();
        let place = |account| thumbnails.place(account, RenderId::generate(), MADE);
        let mut taken: Vec<_> = (0..MADE.of_account).map(|_| place(account)).collect();
        assert!(taken.iter().all(Option::is_some));
        assert!(place(account).is_none());
        while taken.len() < MADE.in_all {
            taken.push(place(AccountId::generate()));
        }
        assert!(taken.iter().all(Option::is_some));
        assert!(place(AccountId::generate()).is_none());
        // Viewed documents don't wait for new ones.
        let looked_at = thumbnails.place(account, RenderId::generate(), LOOKED_AT);
        assert!(looked_at.is_some());
        drop(looked_at);
        taken.clear();
        assert!(thumbnails.in_hand().is_empty());
        assert!(place(account).is_some());
    }

    #[tokio::test]
    async fn documents_of_an_account_do_not_delay_those_of_another() {
        let thumbnails = Thumbnails::default();
        let (many, one) = (AccountId::generate(), AccountId::generate());
        let drawing = thumbnails.wait(many).await.expect("a turn");
        let drawn = Mutex::new(Vec::new());
        let draw = async |account| {
            let _turn = thumbnails.wait(account).await.expect("a turn");
            drawn.lock().expect("no panic").push(account);
        };
        let draw = &draw;
        tokio::join!(draw(many), draw(many), draw(one), async { drop(drawing) });
        assert_eq!(*drawn.lock().expect("no panic"), [one, many, many]);
    }

    #[test]
    fn a_render_has_one_place() {
        let thumbnails = Thumbnails::default();
        let (account, render) = (AccountId::generate(), RenderId::generate());
        let place = thumbnails.place(account, render, MADE);
        assert!(place.is_some() && thumbnails.is_in_hand(account, render));
        assert!(thumbnails.place(account, render, LOOKED_AT).is_none());
        drop(place);
        assert!(!thumbnails.is_in_hand(account, render));
    }
}
