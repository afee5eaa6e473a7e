//! Credits of renders: reserved at acceptance, charged in the statement that records the success.

use std::{sync::Arc, time::Duration};

use platen_domain::{
    ids::{AccountId, ApiKeyId, RenderId},
    job::JobKind,
    mail::MailKind,
    webhook_endpoint::EventType,
};
use serde_json::json;
use sqlx::{Connection, PgConnection, PgPool};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::time::{Instant, sleep};

use crate::{
    clock,
    grouping::Grouping,
    service::{Services, credits::make_period, mail::write_to_owner, renders::failure::FailureReason},
    store::{
        accounts,
        error::StoreError,
        idempotency_keys::{self, StoredResponse},
        jobs::RenderJob,
        renders::{
            self, NewRender,
            charges::{self, AvailableCredits, Bill, Charge, Completion, OwnCredits, SharedCharge},
            queued::{self, NewQueuedRender, NotQueued, Origin},
        },
        tx, webhook_endpoints,
    },
};

/// Opens a synchronous render, which reserves a credit in live mode. Refused if credits are missing or the key has changed.
pub(super) async fn open(
    db: &mut PgConnection,
    account: AccountId,
    render: &NewRender,
    now: OffsetDateTime,
) -> Result<(), FailureReason> {
    let mut opened = renders::insert(db, account, render, now).await?;
    if opened.is_none() {
        make_period(db, account, now).await?;
        opened = renders::insert(db, account, render, now).await?;
    }
    Ok(opened.ok_or_else(no_period)??)
}

/// Queues renders, which reserve a credit each in live mode. Queues none if credits are missing for one of them.
pub(in crate::service) async fn queue(
    db: &mut PgConnection,
    account: AccountId,
    origin: Origin,
    renders: &[&NewQueuedRender],
    now: OffsetDateTime,
) -> Result<Result<(), NotQueued>, StoreError> {
    let mut queued = queued::insert(db, account, origin, renders, now).await?;
    if queued.is_none() {
        make_period(db, account, now).await?;
        queued = queued::insert(db, account, origin, renders, now).await?;
    }
    queued.ok_or_else(no_period)
}

/// Returns the credits of live renders of a key, or of users without one.
pub(in crate::service) async fn available_credits(
    db: &mut PgConnection,
    account: AccountId,
    key: Option<ApiKeyId>,
    now: OffsetDateTime,
) -> Result<AvailableCredits, StoreError> {
    let mut available = charges::available_credits(db, account, key, now).await?;
    if available.is_none() {
        make_period(db, account, now).await?;
        available = charges::available_credits(db, account, key, now).await?;
    }
    available.ok_or_else(no_period)
}

/// Reserves the actual price of an unfinished live render before its document is delivered, which can't be undone.
/// Refused if credits are missing.
pub(super) async fn reserve_price(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    price: i64,
    now: OffsetDateTime,
) -> Result<(), FailureReason> {
    let mut reserved = charges::reserve_price(db, account, render, price, now).await?;
    if reserved.is_none() {
        make_period(db, account, now).await?;
        reserved = charges::reserve_price(db, account, render, price, now).await?;
    }
    Ok(reserved.ok_or_else(no_period)??)
}

/// Like [`record_success`], for a queued render, together with others that end at the same time.
pub(super) async fn record_queued_success(
    app: &Services,
    job: &RenderJob,
    completion: Completion,
) -> Result<(), FailureReason> {
    let account = job.account;
    let completion = Arc::new(completion);
    // A render is in progress until it is recorded, and others of its account may wait for its place.
    let running = app.jobs.running(account);
    let (grouping, enough) = if job.is_of_batch && running >= PATIENT_FROM {
        (&app.groups.completions_of_batches, running / WAITING_SHARE)
    } else {
        (&app.groups.completions, usize::MAX)
    };
    let started = Instant::now();
    let charged = loop {
        // Others may lock the account each time. Alone, the success waits in their order.
        if started.elapsed() < TOGETHER {
            let recording = grouping.process_from(
                enough,
                |(owner, _)| *owner == account,
                &app.db,
                (account, Arc::clone(&completion)),
                |db, completions| async move { record_together(&db, &completions).await },
            );
            match recording.await {
                Ok(SharedCharge::Made { has_callback }) => break Charged { has_callback },
                // Holds no connection meanwhile.
                Ok(SharedCharge::AccountBusy) => {
                    sleep(ACCOUNT_BUSY).await;
                    continue;
                }
                Ok(SharedCharge::Unsuitable) => {}
                Err(error) => tracing::info!(%error, "a success is recorded alone"),
            }
        }
        if let Some(charged) = record_queued_alone(app, account, &completion).await? {
            break charged;
        }
        sleep(ACCOUNT_BUSY).await;
    };
    announce(app, account, &completion.bill, &charged);
    Ok(())
}

/// Time in which a success joins groups, until it is recorded alone.
const TOGETHER: Duration = Duration::from_secs(1);
/// Renders of an account that this process is running from which the rows of its batches wait for larger groups.
const PATIENT_FROM: usize = 8;
/// Of these renders, at most one in so many waits.
const WAITING_SHARE: usize = 3;
/// Delay of a success whose account another transaction has locked, besides that until the next group.
const ACCOUNT_BUSY: Duration = Duration::from_millis(20);

/// Queued renders whose successes are recorded together.
pub(in crate::service) type Completions = Grouping<(AccountId, Arc<Completion>), SharedCharge, StoreError>;

async fn record_together(
    db: &PgPool,
    completions: &[(AccountId, Arc<Completion>)],
) -> Result<Vec<SharedCharge>, StoreError> {
    let mut db = db.acquire().await?;
    charges::succeed_together(&mut db, completions, clock::now()).await
}

/// Records the success of a queued render by itself. Returns `None`, and records nothing, if another transaction has locked the
/// account for too long.
async fn record_queued_alone(
    app: &Services,
    account: AccountId,
    completion: &Completion,
) -> Result<Option<Charged>, FailureReason> {
    // One at a time, so that an account that is locked for long takes one connection from the others.
    let turn = app.groups.completions_alone.wait(account.0).await;
    let _turn = turn.map_err(|error| StoreError::from(sqlx::Error::from(error)))?;
    // The transaction has locked the job. A longer wait for the account would stop renewals of leases.
    let mut transaction = tx::begin_impatient(&app.db).await?;
    match charge(&mut transaction, account, completion, clock::now()).await {
        Ok(charged) => {
            tx::commit(transaction).await?;
            Ok(Some(charged))
        }
        Err(FailureReason::Store(error)) if error.is_lock_timeout() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Ends a render as succeeded, charges for it, and announces that. With `response`, the response to a repeated request is
/// recorded in the same transaction. Refused if credits are missing or the render has ended.
pub(super) async fn record_success(
    app: &Services,
    account: AccountId,
    completion: &Completion,
    response: Option<StoredResponse>,
) -> Result<(), FailureReason> {
    let (now, bill) = (clock::now(), &completion.bill);
    let mut db = app.db.acquire().await.map_err(StoreError::from)?;
    let charged = match response {
        None => charge_alone(&mut db, account, completion, now).await?,
        Some(response) => {
            let mut transaction = db.begin().await.map_err(StoreError::from)?;
            let charged = charge(&mut transaction, account, completion, now).await?;
            idempotency_keys::set_response(&mut transaction, account, bill.render, response).await?;
            transaction.commit().await.map_err(StoreError::from)?;
            charged
        }
    };
    drop(db);
    announce(app, account, bill, &charged);
    Ok(())
}

fn announce(app: &Services, account: AccountId, bill: &Bill, charged: &Charged) {
    if charged.has_callback {
        app.jobs.added(JobKind::Callback);
    }
    app.jobs.changed(account, bill.render);
    if bill.livemode {
        app.metrics.credits_charged(bill.price);
    }
}

/// A render that has succeeded and is charged.
struct Charged {
    /// Whether the delivery of its webhook was enqueued.
    has_callback: bool,
}

/// Like [`charge`], but `db` is no transaction: one statement suffices, unless the owner is to be mailed or the period
/// has to be created.
async fn charge_alone(
    db: &mut PgConnection,
    account: AccountId,
    completion: &Completion,
    now: OffsetDateTime,
) -> Result<Charged, FailureReason> {
    match charges::succeed(db, account, completion, false, now).await? {
        Some(Charge::Made { has_callback, .. }) => return Ok(Charged { has_callback }),
        Some(Charge::Ended) => return Err(FailureReason::Ended),
        Some(Charge::Refused(refusal)) => return Err(refusal.into()),
        Some(Charge::NeedsTransaction) | None => {}
    }
    let mut transaction = db.begin().await.map_err(StoreError::from)?;
    let charged = charge(&mut transaction, account, completion, now).await?;
    transaction.commit().await.map_err(StoreError::from)?;
    Ok(charged)
}

/// Ends a render as succeeded, charges for it, and mails the owner when credits run out. `db` must be a transaction,
/// which must be rolled back if this fails.
async fn charge(
    db: &mut PgConnection,
    account: AccountId,
    completion: &Completion,
    now: OffsetDateTime,
) -> Result<Charged, FailureReason> {
    let mut charged = charges::succeed(db, account, completion, true, now).await?;
    if charged.is_none() {
        make_period(db, account, now).await?;
        charged = charges::succeed(db, account, completion, true, now).await?;
    }
    match charged.ok_or_else(no_period)? {
        Charge::Made { notice, has_callback } => {
            if let Some(credits) = notice {
                publish_low_credits(db, account, &credits).await?;
                notify_owner(db, account, &credits, now).await?;
            }
            Ok(Charged { has_callback })
        }
        Charge::Ended | Charge::NeedsTransaction => Err(FailureReason::Ended),
        Charge::Refused(refusal) => Err(refusal.into()),
    }
}

/// Sends an event to webhook endpoints, together with the mail of [`notify_owner`].
async fn publish_low_credits(
    db: &mut PgConnection,
    account: AccountId,
    credits: &OwnCredits,
) -> Result<(), StoreError> {
    let data = json!({
        "credits_used": credits.used,
        "credits": credits.own,
        "overage_limit": credits.overage_limit,
        "period_ends_at": credits.ends_at.format(&Rfc3339).ok(),
    });
    webhook_endpoints::publish(db, account, EventType::CreditsLow, None, &data).await
}

/// Mails the owner that credits are running out.
async fn notify_owner(
    db: &mut PgConnection,
    account: AccountId,
    credits: &OwnCredits,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let Some(owner) = accounts::find_owner_address(db, account).await? else {
        return Ok(());
    };
    let mail = MailKind::CreditsUsed {
        account: owner.called.clone(),
        used: credits.used,
        own: credits.own,
        overage_limit: credits.overage_limit,
        ends_at: credits.ends_at,
    };
    write_to_owner(db, &owner, &mail, now).await
}

/// Returns the error for a missing period: the account has been deleted.
fn no_period() -> StoreError {
    sqlx::Error::RowNotFound.into()
}
