//! Operators of the service: appointment, dismissal and authorization.

pub mod accounts;
pub mod audit;
pub mod directory;
pub mod log;
pub mod look;

use platen_domain::{
    audit_log::{AuditActor, AuditEvent},
    caller::User,
    client::Client,
    email::Email,
    ids::UserId,
    operator::Operator,
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{
    audit_log,
    error::StoreError,
    operators::{self, StoredOperator},
    tx,
};

/// Error of [`of_person`].
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// The user is no operator.
    #[error("the user is not an operator")]
    NotOperator,
    /// Operators need a second factor, whatever their accounts require.
    #[error("the operator has no second factor")]
    SecondFactorFirst,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns a logged-in user as an operator, if they are one and have a second factor.
pub async fn of_person(db: &PgPool, user: UserId, client: &Client) -> Result<Operator, OperatorError> {
    let found = operators::find(db, user).await?.ok_or(OperatorError::NotOperator)?;
    if !found.has_second_factor {
        return Err(OperatorError::SecondFactorFirst);
    }
    Ok(Operator {
        user: User {
            id: user,
            email: found.email,
        },
        name: found.name,
        client: client.clone(),
    })
}

/// Returns all operators, by the time of their appointment, the earliest first.
pub async fn list(db: &PgPool) -> Result<Vec<StoredOperator>, StoreError> {
    operators::list(db).await
}

/// Appoints the user with this email address as an operator. Returns `false` if there is no such user, or they are one
/// already.
pub async fn appoint(db: &PgPool, email: &Email, now: OffsetDateTime) -> Result<bool, StoreError> {
    let mut transaction = tx::begin(db).await?;
    let appointed = appoint_within(&mut transaction, email, now).await?;
    tx::commit(transaction).await?;
    Ok(appointed)
}

/// As [`appoint`], within the caller's transaction.
pub(super) async fn appoint_within(
    db: &mut PgConnection,
    email: &Email,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let appointed = operators::appoint(db, email, now).await?;
    if appointed {
        let event = AuditEvent::OperatorAppointed {
            email: email.as_str().to_owned(),
        };
        audit_log::insert(db, &AuditActor::CommandLine, None, event, "", now).await?;
    }
    Ok(appointed)
}

/// Dismisses an operator by email address, and ends all their sessions. Returns `false` if they are no operator.
pub async fn dismiss(db: &PgPool, email: &Email, now: OffsetDateTime) -> Result<bool, StoreError> {
    let mut transaction = tx::begin(db).await?;
    let dismissed = operators::dismiss(&mut transaction, email).await?;
    if dismissed {
        let event = AuditEvent::OperatorDismissed {
            email: email.as_str().to_owned(),
        };
        audit_log::insert(&mut transaction, &AuditActor::CommandLine, None, event, "", now).await?;
    }
    tx::commit(transaction).await?;
    Ok(dismissed)
}
