//! Table `usage_days`: credits by meter and UTC day.

use sqlx::PgConnection;
use time::Date;
use uuid::Uuid;

use crate::{
    domain::{
        credits::{Meter, Period},
        ids::AccountId,
    },
    store::error::StoreError,
};

/// Credits of one kind on one day of a period.
pub struct Usage {
    /// What was used.
    pub meter: Meter,
    /// False for test keys.
    pub livemode: bool,
    /// The UTC day.
    pub day: Date,
    /// How many; more than none.
    pub credits: i64,
}

/// Counts credits. The period's row has to be there.
pub async fn add(db: &mut PgConnection, account: AccountId, period: Period, usage: Usage) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into usage_days (id, account_id, period_starts_at, day, meter, livemode, credits)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (account_id, period_starts_at, day, meter, livemode)
         do update set credits = usage_days.credits + excluded.credits",
        Uuid::now_v7(),
        account.0,
        period.starts_at,
        usage.day,
        usage.meter.as_str(),
        usage.livemode,
        usage.credits,
    )
    .execute(db)
    .await?;
    Ok(())
}
