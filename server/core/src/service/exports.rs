//! Exports of accounts: an owner requests an archive, a worker creates it, and the owner downloads it, logged in, until
//! it expires.

mod archive;

use std::path::PathBuf;

use platen_domain::{
    account_log::{AccountEvent, Actor},
    caller::Caller,
    email::Email,
    export::{self, Export, LIFETIME},
    ids::{AccountId, ExportId},
    mail::MailKind,
};
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tokio::{
    runtime::Handle,
    task::{JoinError, spawn_blocking},
};

use crate::{
    clock,
    service::{
        Services,
        exports::archive::{ArchiveError, Stop},
    },
    storage::exports::ExportFiles,
    store::{
        account_log,
        error::StoreError,
        exports::{self, Asker, ClaimedExport},
        mails, tx,
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

/// An archive that can be downloaded.
#[derive(Debug)]
pub struct Fetched {
    pub path: PathBuf,
    /// Time of the request.
    pub asked_at: OffsetDateTime,
}

/// Returns an archive to the owner of its account; `None` if it doesn't exist, isn't ready, or belongs to someone else.
pub async fn find(
    app: &Services,
    caller: &Caller,
    id: ExportId,
    now: OffsetDateTime,
) -> Result<Option<Fetched>, StoreError> {
    let asked_at = exports::find_ready(&app.db, caller.account, caller.user.id, id, now).await?;
    Ok(asked_at.map(|asked_at| Fetched {
        path: app.exports.path(id),
        asked_at,
    }))
}

/// Records the audit event of a download.
pub async fn note_fetched(db: &PgPool, caller: &Caller, now: OffsetDateTime) -> Result<(), StoreError> {
    let (account, actor) = (caller.account, Actor::of_caller(caller));
    let mut transaction = tx::begin(db).await?;
    account_log::insert(&mut transaction, account, &actor, &AccountEvent::ExportFetched {}, now).await?;
    tx::commit(transaction).await
}

/// Creates the archive that has waited the longest. Returns `false` if none is waiting. `stop` returns whether the
/// service is shutting down; the archive is then released for another process.
pub async fn make_next(app: &Services, stop: impl Fn() -> bool + Send + 'static) -> Result<bool, StoreError> {
    let Some(claimed) = exports::claim(&app.db).await? else {
        return Ok(false);
    };
    let (export_id, account_id) = (claimed.id, claimed.account);
    if claimed.failures >= export::TRIES {
        // The processes that ran it ended without recording an error.
        tracing::error!(%export_id, %account_id, "export discarded after crashes");
        finish(app, &claimed, Err("the service ended unexpectedly during each attempt")).await?;
        return Ok(true);
    }
    match make(app, claimed, stop).await {
        Ok(bytes) => {
            tracing::info!(%export_id, %account_id, bytes, "export created");
            finish(app, &claimed, Ok(bytes)).await?;
            if !exports::exists(&app.db, export_id).await? {
                // The account was deleted in the meantime.
                app.exports.remove([export_id]).unwrap_or_else(|error| {
                    tracing::warn!(%export_id, %error, "export of a deleted account remains; it expires after 7 days");
                });
            }
        }
        Err(MakeError::Archive(ArchiveError::Stopped(Stop::Service))) => {
            exports::release(&app.db, &claimed, 0.0, None).await?;
        }
        Err(MakeError::Archive(ArchiveError::Stopped(Stop::Lost))) => {}
        Err(error) => {
            let delay = export::delay(claimed.failures, rand::random());
            tracing::error!(%export_id, %account_id, %error, again = delay.is_some(), "export failed");
            let error = error.to_string();
            match delay {
                Some(delay) => exports::release(&app.db, &claimed, delay.as_secs_f64(), Some(&error)).await?,
                None => finish(app, &claimed, Err(&error)).await?,
            }
        }
    }
    Ok(true)
}

#[derive(Debug, thiserror::Error)]
enum MakeError {
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("{0}")]
    Interrupted(#[from] JoinError),
}

/// Creates the archive on a thread of its own, because writing it blocks.
async fn make(
    app: &Services,
    claimed: ClaimedExport,
    stop: impl Fn() -> bool + Send + 'static,
) -> Result<i64, MakeError> {
    let (app, runtime) = (app.clone(), Handle::current());
    let making = spawn_blocking(move || runtime.block_on(archive::make(&app, &claimed, stop)));
    Ok(making.await??)
}

/// Records the outcome and mails the user who requested the export.
async fn finish(app: &Services, claimed: &ClaimedExport, outcome: Result<i64, &str>) -> Result<(), StoreError> {
    let now = clock::now();
    let mut transaction = tx::begin(&app.db).await?;
    let asker = exports::finish(&mut transaction, claimed, outcome, now).await?;
    match (asker, outcome) {
        (Some(asker), Ok(_)) => {
            let mail = MailKind::ExportReady {
                account_name: asker.account_name.clone(),
                delete_at: claimed.inserted_at + LIFETIME,
            };
            notify(&mut transaction, &asker, &mail, now).await?;
        }
        (Some(asker), Err(_)) => notify_of_failure(&mut transaction, &asker, now).await?,
        (None, _) => {}
    }
    tx::commit(transaction).await
}

/// Mails the user who requested an export that it failed.
pub(super) async fn notify_of_failure(
    db: &mut PgConnection,
    asker: &Asker,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let mail = MailKind::ExportFailed {
        account_name: asker.account_name.clone(),
    };
    notify(db, asker, &mail, now).await
}

async fn notify(db: &mut PgConnection, asker: &Asker, mail: &MailKind, now: OffsetDateTime) -> Result<(), StoreError> {
    match asker.email.parse::<Email>() {
        Ok(email) => mails::insert(db, &email, Some(asker.user), mail, now).await,
        Err(_) => Ok(()),
    }
}

/// Error of [`purge`].
#[derive(Debug, thiserror::Error)]
pub enum PurgeExportsError {
    /// A file could not be removed.
    #[error("folder of exports: {0}")]
    File(#[from] std::io::Error),
    /// The thread panicked.
    #[error("{0}")]
    Interrupted(#[from] JoinError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Deletes expired archives, and files that belong to none.
pub async fn purge(db: &PgPool, files: &ExportFiles, now: OffsetDateTime) -> Result<(), PurgeExportsError> {
    let expired = exports::delete_expired(db, now).await?;
    let files = files.clone();
    let removing = spawn_blocking(move || {
        files.remove(expired)?;
        files.remove_written_before((now - LIFETIME - Duration::HOUR).into())
    });
    Ok(removing.await??)
}
