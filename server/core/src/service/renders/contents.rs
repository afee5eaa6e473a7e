//! Requests of synchronous renders, stored for the dashboard after the render, in the background. This never delays or
//! fails a render: a request that exceeds the bounds of the queue or of the account's storage is left out, and the
//! render's page says why.

use std::{
    collections::{HashMap, hash_map::Entry},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use platen_domain::{
    encryption::{DataKey, Place},
    ids::{AccountId, RenderId},
    render::content::Omission,
};

use crate::{
    memory::Reservation,
    render_request::stored::{StoredRequest, compressed},
    service::{
        Services,
        renders::retained::{RetainError, encrypted},
    },
    store::render_contents::{self, NewContent},
};

/// Maximum size of the waiting requests of all accounts, in bytes: several times what arrives between two runs.
const BYTES: usize = 32 << 20;
/// Maximum size of the waiting requests of an account, in bytes. A single request may be larger.
const BYTES_OF_ACCOUNT: usize = 8 << 20;
/// Maximum number of waiting requests of an account, with those that are left out.
const REQUESTS_OF_ACCOUNT: usize = 1000;
/// Maximum number of accounts with waiting requests.
const ACCOUNTS: usize = 1000;

/// The body of a synchronous render, and the reservation of its memory.
pub(super) struct SentBody {
    bytes: Bytes,
    _memory: Reservation,
}

impl SentBody {
    /// Takes the body's share of `memory`.
    pub(super) fn new(bytes: Bytes, memory: &mut Reservation) -> Self {
        Self {
            _memory: memory.split(bytes.len() as u64),
            bytes,
        }
    }
}

/// A request to store, or why it is left out.
type WaitingRequest = (RenderId, Result<Arc<SentBody>, Omission>);

/// The queue of requests to store. Cheap to clone.
#[derive(Clone, Default)]
pub struct RequestContents(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    requests: HashMap<AccountId, Vec<WaitingRequest>>,
    bytes: usize,
}

impl RequestContents {
    /// Adds the request of an ended render.
    pub(super) fn offer(&self, account: AccountId, render: RenderId, body: Arc<SentBody>) {
        let mut waiting = self.lock();
        let (accounts, bytes) = (waiting.requests.len(), waiting.bytes + body.bytes.len());
        let requests = match waiting.requests.entry(account) {
            Entry::Occupied(requests) => requests.into_mut(),
            Entry::Vacant(_) if accounts >= ACCOUNTS => return,
            Entry::Vacant(place) => place.insert(Vec::new()),
        };
        if requests.len() >= REQUESTS_OF_ACCOUNT {
            return;
        }
        let of_account = body.bytes.len() + size(requests);
        let fits = bytes <= BYTES && of_account <= BYTES_OF_ACCOUNT || bytes == body.bytes.len();
        requests.push((render, if fits { Ok(body) } else { Err(Omission::Busy) }));
        if fits {
            waiting.bytes = bytes;
        }
    }

    fn take(&self) -> Waiting {
        mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn size(requests: &[WaitingRequest]) -> usize {
    let bodies = requests.iter().filter_map(|(_, body)| body.as_ref().ok());
    bodies.map(|body| body.bytes.len()).sum()
}

/// Stores the waiting requests, those of each account in one statement.
pub async fn store(app: &Services) {
    for (account, requests) in app.contents.take().requests {
        if let Err(error) = store_of_account(app, account, requests).await {
            tracing::warn!(%error, "requests of synchronous renders could not be stored");
        }
    }
}

async fn store_of_account(
    app: &Services,
    account: AccountId,
    requests: Vec<WaitingRequest>,
) -> Result<(), RetainError> {
    let encrypt = move |key: &DataKey, (render, body)| encrypt(key, account, render, body);
    if let Some(contents) = encrypted(app, account, requests, encrypt).await? {
        render_contents::insert_retained(&app.db, account, StoredRequest::COMPRESSED_VERSION, contents).await?;
    }
    Ok(())
}

fn encrypt(
    key: &DataKey,
    account: AccountId,
    render: RenderId,
    body: Result<Arc<SentBody>, Omission>,
) -> Result<NewContent, RetainError> {
    let (sealed, omission) = match body {
        Ok(body) => {
            let place = Place::stored_request(account, render, StoredRequest::COMPRESSED_VERSION);
            let content = compressed(&body.bytes)?;
            (key.encrypt(&place, rand::random(), content)?, None)
        }
        Err(omission) => (Vec::new(), Some(omission)),
    };
    Ok(NewContent {
        render,
        sealed,
        omission,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryBudget;

    fn body(budget: &MemoryBudget, account: AccountId, bytes: usize) -> Arc<SentBody> {
        let mut memory = budget.try_reserve(account, bytes as u64).expect("memory");
        Arc::new(SentBody::new(Bytes::from(vec![0; bytes]), &mut memory))
    }

    #[test]
    fn what_exceeds_the_bounds_is_left_out_with_a_reason() {
        let (contents, budget) = (RequestContents::default(), MemoryBudget::new(1 << 40));
        let (large, other) = (AccountId::generate(), AccountId::generate());
        for bytes in [2 * BYTES_OF_ACCOUNT, 1] {
            contents.offer(large, RenderId::generate(), body(&budget, large, bytes));
        }
        for _ in 0..2 * REQUESTS_OF_ACCOUNT {
            contents.offer(other, RenderId::generate(), body(&budget, other, 1));
        }
        let Waiting { requests, bytes } = contents.take();
        let stored = |account| requests[&account].iter().filter(|(_, body)| body.is_ok()).count();
        assert_eq!((requests[&large].len(), stored(large)), (2, 1));
        assert_eq!(
            (requests[&other].len(), stored(other)),
            (REQUESTS_OF_ACCOUNT, REQUESTS_OF_ACCOUNT)
        );
        assert_eq!(bytes, 2 * BYTES_OF_ACCOUNT + REQUESTS_OF_ACCOUNT);
        drop(requests);
        assert_eq!(budget.status().held, 0);
    }
}
