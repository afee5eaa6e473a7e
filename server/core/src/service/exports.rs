//! Exports of accounts: an owner requests an archive, a worker creates it, and the owner downloads it, logged in, until
//! it expires.

mod archive;
pub mod pieces;

use std::time::Duration as StdDuration;

use platen_domain::{
    account_log::{AccountEvent, Actor},
    caller::Caller,
    export::{self, Export, LIFETIME},
    ids::{AccountId, ExportId},
    job::{CRASHES, JobKind},
    mail::MailKind,
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tokio::{
    runtime::Handle,
    task::{JoinError, spawn_blocking},
};
use tokio_util::sync::CancellationToken;

use crate::{
    clock,
    service::{
        Services,
        exports::archive::{ArchiveError, Stop},
        mail::write_to,
    },
    store::{
        account_log,
        error::StoreError,
        exports::{self, QueuedExport, ReadyExport},
        jobs::{self, Claim},
        tx,
    },
};

/// Error of [`request`].
#[derive(Debug, thiserror::Error)]
pub enum RequestExportError {
    /// An export is already waiting or running.
    #[error("an export of this account is in progress")]
    UnderWay,
    /// The daily limit is reached.
    #[error("an account can request up to {} exports a day", export::MOST_A_DAY)]
    TooMany,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Requests an archive of the caller's account. The caller must be its owner.
pub async fn request(db: &PgPool, caller: &Caller, now: OffsetDateTime) -> Result<(), RequestExportError> {
    let (account, actor) = (caller.account, Actor::of_caller(caller));
    let mut transaction = tx::begin(db).await?;
    match exports::insert(&mut transaction, account, caller.user.id, now).await {
        Ok(true) => {}
        Ok(false) => return Err(RequestExportError::TooMany),
        Err(error) if error.violates(exports::UNDER_WAY) => return Err(RequestExportError::UnderWay),
        Err(error) => return Err(error.into()),
    }
    account_log::insert(&mut transaction, account, &actor, &AccountEvent::ExportAsked {}, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Returns the archives of an account, the latest first. Only its owner may see them.
pub async fn list(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<Vec<Export>, StoreError> {
    exports::list(db, account, now).await
}

/// Returns an archive to the owner of its account; `None` if it doesn't exist, isn't ready, or belongs to someone else.
pub async fn find(
    app: &Services,
    caller: &Caller,
    id: ExportId,
    now: OffsetDateTime,
) -> Result<Option<ReadyExport>, StoreError> {
    exports::find_ready(&app.db, caller.account, caller.user.id, id, now).await
}

/// Records the audit event of a download.
pub async fn note_fetched(db: &PgPool, caller: &Caller, now: OffsetDateTime) -> Result<(), StoreError> {
    let (account, actor) = (caller.account, Actor::of_caller(caller));
    let mut transaction = tx::begin(db).await?;
    account_log::insert(&mut transaction, account, &actor, &AccountEvent::ExportFetched {}, now).await?;
    tx::commit(transaction).await
}

/// Creates the archive of a claimed job. `is_stopping` returns whether the service is shutting down; the job is then
/// released for another process.
pub async fn make(
    app: &Services,
    claim: &Claim,
    export_id: ExportId,
    is_stopping: impl Fn() -> bool + Send + 'static,
) -> Result<(), StoreError> {
    let db = &app.db;
    let Some(export) = exports::find(db, export_id).await? else {
        jobs::complete(db, claim).await?;
        return Ok(());
    };
    let account_id = export.account;
    if claim.crashes >= CRASHES {
        tracing::error!(%export_id, %account_id, "export discarded after crashes");
        let error = "the service ended unexpectedly during each attempt";
        return finish(app, claim, &export, Err(error)).await;
    }
    match write(app, claim, export, is_stopping).await {
        Ok(bytes) => {
            tracing::info!(%export_id, %account_id, bytes, "export created");
            finish(app, claim, &export, Ok(bytes)).await?;
        }
        Err(MakeError::Archive(ArchiveError::Stopped(Stop::Service))) => {
            jobs::release(db, claim, Some(StdDuration::ZERO), None).await?;
        }
        Err(MakeError::Archive(ArchiveError::Stopped(Stop::Lost))) => {}
        Err(error) => {
            let delay = JobKind::Export.delay(claim.failures, rand::random());
            tracing::error!(%export_id, %account_id, %error, again = delay.is_some(), "export failed");
            let error = error.to_string();
            if delay.is_some() {
                jobs::release(db, claim, delay, Some(&error)).await?;
            } else {
                finish(app, claim, &export, Err(&error)).await?;
            }
        }
    }
    Ok(())
}

#[derive(Debug, thiserror::Error)]
enum MakeError {
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("{0}")]
    Interrupted(#[from] JoinError),
}

/// Creates the archive on a thread of its own, because writing it blocks. The thread stops if the future is dropped.
async fn write(
    app: &Services,
    claim: &Claim,
    export: QueuedExport,
    is_stopping: impl Fn() -> bool + Send + 'static,
) -> Result<i64, MakeError> {
    let lost = CancellationToken::new();
    let _guard = lost.clone().drop_guard();
    let stop = move || {
        let lost = lost.is_cancelled().then_some(Stop::Lost);
        lost.or_else(|| is_stopping().then_some(Stop::Service))
    };
    let (app, claim, runtime) = (app.clone(), claim.id, Handle::current());
    let writing = spawn_blocking(move || runtime.block_on(archive::make(&app, claim, &export, stop)));
    Ok(writing.await??)
}

/// Records the outcome and mails the user who requested the export. An export that failed remains as a dead letter.
async fn finish(
    app: &Services,
    claim: &Claim,
    export: &QueuedExport,
    outcome: Result<i64, &str>,
) -> Result<(), StoreError> {
    let now = clock::now();
    let mut transaction = tx::begin(&app.db).await?;
    let db = &mut *transaction;
    let held = match outcome {
        Ok(bytes) => {
            if let Some(asker) = exports::finish(db, export.id, Some(bytes), now).await? {
                let mail = MailKind::ExportReady {
                    account_name: asker.account_name,
                    delete_at: export.inserted_at + LIFETIME,
                };
                write_to(db, &asker.email, Some(asker.user), &mail, now).await?;
            }
            jobs::complete(&mut *db, claim).await?
        }
        Err(error) => {
            fail(db, export.id, now).await?;
            jobs::release(&mut *db, claim, None, Some(error)).await?
        }
    };
    if held {
        tx::commit(transaction).await?;
    }
    Ok(())
}

/// Marks an export as failed, and mails the user who requested it.
pub(super) async fn fail(db: &mut PgConnection, id: ExportId, now: OffsetDateTime) -> Result<(), StoreError> {
    let Some(asker) = exports::finish(db, id, None, now).await? else {
        return Ok(());
    };
    let mail = MailKind::ExportFailed {
        account_name: asker.account_name,
    };
    write_to(db, &asker.email, Some(asker.user), &mail, now).await
}
