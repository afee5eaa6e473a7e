//! Those who run the service: who they are.

pub mod accounts;
pub mod audit;
pub mod directory;
pub mod log;
pub mod look;

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    domain::{
        audit_log::{AuditDeed, AuditDoer},
        caller::User,
        client::Client,
        email::Email,
        ids::UserId,
        operator::Operator,
    },
    store::{
        audit_log,
        error::StoreError,
        operators::{self, StoredOperator},
        tx,
    },
};

/// Why somebody can't act as an operator.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// They are none.
    #[error("the person is no operator")]
    NotOperator,
    /// Operators need one of their own, whatever their accounts ask for.
    #[error("the operator has no second factor")]
    SecondFactorFirst,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Somebody who is logged in, as an operator.
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

/// Whether somebody is an operator, with or without a second factor.
pub async fn is_operator(db: &PgPool, user: UserId) -> Result<bool, StoreError> {
    Ok(operators::find(db, user).await?.is_some())
}

/// All operators, those who have been it the longest first.
pub async fn list(db: &PgPool) -> Result<Vec<StoredOperator>, StoreError> {
    operators::list(db).await
}

/// Makes the user with this address an operator. `false`: there is none, or they are it already.
pub async fn appoint(db: &PgPool, email: &Email, now: OffsetDateTime) -> Result<bool, StoreError> {
    let mut transaction = tx::begin(db).await?;
    let appointed = appoint_within(&mut transaction, email, now).await?;
    tx::commit(transaction).await?;
    Ok(appointed)
}

/// As [`appoint`], within a transaction.
pub(super) async fn appoint_within(
    db: &mut PgConnection,
    email: &Email,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let appointed = operators::appoint(db, email, now).await?;
    if appointed {
        let deed = AuditDeed::OperatorAppointed {
            email: email.as_str().to_owned(),
        };
        audit_log::insert(db, &AuditDoer::CommandLine, None, deed, "", now).await?;
    }
    Ok(appointed)
}

/// Takes the user with this address out of the operators, and logs them out everywhere. `false`: they are none.
pub async fn dismiss(db: &PgPool, email: &Email, now: OffsetDateTime) -> Result<bool, StoreError> {
    let mut transaction = tx::begin(db).await?;
    let dismissed = operators::dismiss(&mut transaction, email).await?;
    if dismissed {
        let deed = AuditDeed::OperatorDismissed {
            email: email.as_str().to_owned(),
        };
        audit_log::insert(&mut transaction, &AuditDoer::CommandLine, None, deed, "", now).await?;
    }
    tx::commit(transaction).await?;
    Ok(dismissed)
}
