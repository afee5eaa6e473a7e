//! How an operator looks into an account as its owner sees it. They read, and neither documents nor secrets; every look is
//! written to the account's own log.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tower_sessions::Session;

use crate::{
    domain::{
        account_log::Deed,
        audit_log::{AuditDeed, AuditDoer},
    },
    service::{
        operators::accounts::Operation,
        sessions::{self, Look},
    },
    store::{accounts, audit_log, error::StoreError, tx},
};

/// So long a look lasts at most.
pub const LASTS: Duration = Duration::minutes(30);

/// Why a look does not begin or end.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// There is no such account.
    #[error("there is no such account")]
    NotFound,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session can't be written.
    #[error(transparent)]
    Session(#[from] tower_sessions::session::Error),
}

/// Begins a look, by the session of the operator.
pub async fn begin(db: &PgPool, session: &Session, operation: Operation<'_>) -> Result<(), LookError> {
    let minutes = LASTS.whole_minutes();
    let told = Deed::LookedInto {
        reason: operation.reason.as_str().to_owned(),
        minutes,
    };
    let mut transaction = tx::begin(db).await?;
    if !accounts::is_there(&mut transaction, operation.account).await? {
        return Err(LookError::NotFound);
    }
    let deed = AuditDeed::LookBegun { minutes };
    operation.write_down(&mut transaction, &told, deed).await?;
    // What is not written down is not looked at.
    tx::commit(transaction).await?;
    let look = Look {
        account: operation.account,
        until: operation.now + LASTS,
    };
    Ok(sessions::look(session, Some(look)).await?)
}

/// Ends a look before its time.
pub async fn end(
    db: &PgPool,
    session: &Session,
    doer: &AuditDoer,
    look: Look,
    now: OffsetDateTime,
) -> Result<(), LookError> {
    sessions::look(session, None).await?;
    let mut transaction = tx::begin(db).await?;
    let (about, deed) = (Some(look.account), AuditDeed::LookEnded {});
    audit_log::insert(&mut transaction, doer, about, deed, "", now).await?;
    Ok(tx::commit(transaction).await?)
}

/// For how many minutes it still lasts, at least one.
pub fn minutes_left(look: Look, now: OffsetDateTime) -> i64 {
    ((look.until - now).whole_seconds().max(0) + 59) / 60
}
