//! Impersonation: an operator views an account as its owner, read-only, without access to documents and secrets. Each
//! impersonation is recorded in the account's activity.

use platen_domain::{
    account_log::AccountEvent,
    audit_log::{AuditActor, AuditEvent},
};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tower_sessions::Session;

use crate::{
    service::{
        operators::accounts::Operation,
        sessions::{self, Impersonation},
    },
    store::{accounts, audit_log, error::StoreError, tx},
};

/// Maximum duration of an impersonation.
pub const LASTS: Duration = Duration::minutes(30);

/// Error of [`begin`] and [`end`].
#[derive(Debug, thiserror::Error)]
pub enum ImpersonationError {
    /// No account has this id.
    #[error("there is no such account")]
    NotFound,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session can't be written.
    #[error(transparent)]
    Session(#[from] tower_sessions::session::Error),
}

/// Begins an impersonation in the operator's session.
pub async fn begin(db: &PgPool, session: &Session, operation: Operation<'_>) -> Result<(), ImpersonationError> {
    let minutes = LASTS.whole_minutes();
    let account_event = AccountEvent::LookedInto {
        reason: operation.reason.as_str().to_owned(),
        minutes,
    };
    let mut transaction = tx::begin(db).await?;
    if !accounts::is_there(&mut transaction, operation.account).await? {
        return Err(ImpersonationError::NotFound);
    }
    let event = AuditEvent::LookBegun { minutes };
    operation.write_down(&mut transaction, &account_event, event).await?;
    // Access is granted only once it is recorded.
    tx::commit(transaction).await?;
    let look = Impersonation {
        account: operation.account,
        until: operation.now + LASTS,
    };
    Ok(sessions::look(session, Some(look)).await?)
}

/// Ends an impersonation early.
pub async fn end(
    db: &PgPool,
    session: &Session,
    actor: &AuditActor,
    look: Impersonation,
    now: OffsetDateTime,
) -> Result<(), ImpersonationError> {
    sessions::look(session, None).await?;
    let mut transaction = tx::begin(db).await?;
    let (about, event) = (Some(look.account), AuditEvent::LookEnded {});
    audit_log::insert(&mut transaction, actor, about, event, "", now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Returns the remaining minutes of an impersonation, rounded up; 0 once it has ended.
pub fn minutes_left(look: Impersonation, now: OffsetDateTime) -> i64 {
    ((look.until - now).whole_seconds().max(0) + 59) / 60
}
