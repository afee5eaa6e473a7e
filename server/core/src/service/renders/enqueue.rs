//! Acceptance of asynchronous renders: a request is accepted once everything its job needs is in the database.

use platen_domain::{
    callback::CallbackTarget,
    caller::Caller,
    encryption::{DataKey, Place},
    idempotency::IdempotentRequest,
    ids::{AccountId, RenderId},
    job::{JobKind, Priority},
    storage::StorageResource,
    validation::Problem,
};
use time::OffsetDateTime;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::{
    clock,
    render_request::{AsynchronousRequest, stored::StoredRequest},
    service::{
        Services,
        batches::room_in_queue,
        connections::delivery::covering,
        data_keys::data_key,
        renders::{
            charge::queue,
            failure::{FailureReason, RenderFailure},
            idempotent_responses::{ContentError, KeyHolder, take_key},
            templates::note_versions,
        },
    },
    store::{
        account_storage::{self, AccountStorage},
        idempotency_keys,
        render_contents::EncryptedContent,
        renders::queued::{EncryptedRequest, NewQueuedRender, NotQueued, Origin},
        tx,
    },
};

/// An accepted request.
#[derive(Debug)]
pub struct Accepted {
    /// Id of its render.
    pub id: RenderId,
    /// Whether an earlier request with the same idempotency key created the render.
    pub replayed: bool,
}

/// Accepts a request and stores it for a worker. In live mode, reserves a credit. A repeated idempotent request returns
/// its first render.
pub async fn enqueue(
    app: &Services,
    caller: &Caller,
    request: AsynchronousRequest,
    idempotent: Option<IdempotentRequest>,
) -> Result<Accepted, RenderFailure> {
    let accepted = accept(app, caller, request, idempotent).await;
    let accepted = accepted.map_err(|reason| RenderFailure { id: None, reason })?;
    tracing::Span::current().record("render_id", tracing::field::display(accepted.id));
    if !accepted.replayed {
        app.jobs.added(JobKind::Render);
        app.jobs.changed(caller.account, accepted.id);
    }
    Ok(accepted)
}

async fn accept(
    app: &Services,
    caller: &Caller,
    request: AsynchronousRequest,
    idempotent: Option<IdempotentRequest>,
) -> Result<Accepted, FailureReason> {
    let now = clock::now();
    // Before any check whose result may have changed since the first request.
    if let Some(request) = &idempotent
        && let Some(id) = idempotency_keys::find_accepted(&app.db, caller.account, request, now).await?
    {
        return Ok(Accepted { id, replayed: true });
    }
    let storage = room_for(app, caller.account, &request).await?;
    let AsynchronousRequest {
        mut render,
        callback,
        destination,
    } = request;
    if let Some(target) = &callback {
        check_address(app, target).map_err(FailureReason::Callback)?;
    }
    if let Some(destination) = &destination {
        covering(&app.buckets, caller.account, destination).await?;
    }
    // Fixes the templates' versions.
    let noted = note_versions(app, caller.account, &mut render).await?;
    noted.map_err(FailureReason::Templates)?;
    let id = RenderId::generate();
    let object = destination.is_none().then(Uuid::new_v4);
    let options = std::mem::take(&mut render.options);
    let request = StoredRequest { render, destination };
    let encrypted = encrypt(app, caller.account, id, request, callback, now).await;
    if let Ok(encrypted) = &encrypted {
        let bytes = encrypted.content.sealed.len();
        if storage.room_for(StorageResource::QueuedBytes, bytes).is_err() {
            room_in_queue(&app.db, caller.account, bytes).await??;
        }
    }
    let mut transaction = tx::begin(&app.db).await?;
    if let Some(idempotent) = &idempotent {
        match take_key(&mut transaction, caller.account, idempotent, id, now).await? {
            KeyHolder::ThisRender => {}
            KeyHolder::SameRequest(earlier) => {
                return Ok(Accepted {
                    id: earlier,
                    replayed: true,
                });
            }
            KeyHolder::OtherRequest => return Err(FailureReason::KeyOfOtherRequest),
        }
    }
    let new = NewQueuedRender {
        id,
        object,
        options,
        request: encrypted.map_err(FailureReason::Content)?,
    };
    let origin = Origin {
        key: caller.key,
        livemode: caller.livemode,
        priority: if caller.livemode {
            Priority::Normal
        } else {
            Priority::Trial
        },
    };
    let queued = queue(&mut transaction, caller.account, origin, &[&new], now).await?;
    queued.map_err(|NotQueued { refusal, .. }| refusal)?;
    tx::commit(transaction).await?;
    Ok(Accepted { id, replayed: false })
}

/// Fails early if the account has no room for the render. The commit decides exactly, but only after all the work. The
/// size of the stored request is checked later.
async fn room_for(
    app: &Services,
    account: AccountId,
    request: &AsynchronousRequest,
) -> Result<AccountStorage, FailureReason> {
    let storage = account_storage::find(&app.db, account).await?;
    storage.room_for(StorageResource::QueuedRenders, 1)?;
    if request.callback.is_some() {
        storage.room_for(StorageResource::PendingCallbacks, 1)?;
    }
    if request.destination.is_none() {
        storage.room_for(StorageResource::DocumentBytes, 1)?;
    }
    Ok(storage)
}

/// Refuses a webhook whose URL contains a forbidden IP address. Host names are resolved when the webhook is delivered.
pub(in crate::service) fn check_address(app: &Services, target: &CallbackTarget) -> Result<(), Problem> {
    let checked = app.outbound.check_literal(&target.url);
    checked.map_err(|refusal| {
        let detail = format!("Must be a public address: {refusal}");
        Problem::invalid("/callback/url", detail)
    })
}

async fn encrypt(
    app: &Services,
    account: AccountId,
    id: RenderId,
    request: StoredRequest,
    callback: Option<CallbackTarget>,
    now: OffsetDateTime,
) -> Result<EncryptedRequest, ContentError> {
    let key = data_key(&app.db, &app.secret_keys, account, now).await?;
    spawn_blocking(move || seal(&key, account, id, request, callback)).await?
}

/// Encrypts the content of a queued render.
pub(in crate::service) fn seal(
    key: &DataKey,
    account: AccountId,
    id: RenderId,
    request: StoredRequest,
    callback: Option<CallbackTarget>,
) -> Result<EncryptedRequest, ContentError> {
    let callback = callback.map(|target| {
        let target = serde_json::to_vec(&target).unwrap_or_default();
        key.encrypt(&Place::callback_target(account, id), rand::random(), target)
    });
    let version = request.version();
    Ok(EncryptedRequest {
        content: EncryptedContent {
            version,
            sealed: key.encrypt(
                &Place::stored_request(account, id, version),
                rand::random(),
                request.into_bytes()?,
            )?,
        },
        callback: callback.transpose()?,
    })
}
