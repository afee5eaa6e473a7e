//! Suspension of accounts by operators.

use platen_domain::ids::AccountId;
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::store::{error::StoreError, statement::changes_one};

/// Suspends an account. Returns `false` if it is already suspended or doesn't exist.
pub async fn suspend(
    db: &mut PgConnection,
    id: AccountId,
    reason: &str,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update accounts set suspended_at = $3, suspended_because = $2 where id = $1 and suspended_at is null",
        id.0,
        reason,
        now,
    );
    changes_one(db, update).await
}

/// Lifts the suspension of an account. Returns `false` if it isn't suspended.
pub async fn restore(db: &mut PgConnection, id: AccountId) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update accounts set suspended_at = null, suspended_because = null
         where id = $1 and suspended_at is not null",
        id.0,
    );
    changes_one(db, update).await
}
