//! Table `rate_limits`.

use std::{num::NonZeroU32, time::Duration};

use platen_domain::ids::AccountId;
use sqlx::PgPool;

use crate::store::error::StoreError;

/// What was taken of a quota.
#[derive(Debug, Clone, Copy)]
pub struct Taken {
    /// Number of requests that were taken.
    pub requests: u32,
    /// Number of requests that can still be taken.
    pub remaining: u32,
    /// Time until the quota is full.
    pub full_in: Duration,
    /// Time until the next request can be taken. Zero if one was taken.
    pub refused_for: Duration,
}

/// Takes up to `wanted` requests of an account, of which no minute may have more than `quota`.
pub async fn take(
    db: &PgPool,
    account: AccountId,
    kind: &str,
    quota: NonZeroU32,
    wanted: NonZeroU32,
) -> Result<Taken, StoreError> {
    let integer = |number: NonZeroU32| i32::try_from(number.get()).unwrap_or(i32::MAX);
    let row = sqlx::query!(
        r#"select taken as "taken!", remaining as "remaining!", full_in as "full_in!", refused_for
           from take_of_minute($1, $2, $3, $4)"#,
        account.0,
        kind,
        integer(quota),
        integer(wanted),
    )
    .fetch_one(db)
    .await?;
    // The function returns seconds between 0 and 60.
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or_default();
    Ok(Taken {
        requests: row.taken.unsigned_abs(),
        remaining: row.remaining.unsigned_abs(),
        full_in: seconds(row.full_in),
        refused_for: seconds(row.refused_for.unwrap_or_default()),
    })
}
