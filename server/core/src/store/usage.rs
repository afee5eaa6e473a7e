//! Table `usage_days`: credits by meter and UTC day.

use platen_domain::{
    credits::{Balance, Period},
    ids::AccountId,
};
use sqlx::PgPool;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::store::error::StoreError;

/// Usage of an account in a period.
pub struct PeriodUsage {
    /// Current plan of the account.
    pub plan: String,
    pub balance: Balance,
    /// Days with usage, oldest first.
    pub days: Vec<UsedDay>,
}

/// A row of the table.
pub struct UsedDay {
    pub id: Uuid,
    /// See [`platen_domain::credits::Meter`].
    pub meter: String,
    /// False for test keys.
    pub livemode: bool,
    /// UTC day.
    pub day: Date,
    pub credits: i64,
}

/// Returns the usage of an account in the period around `now`. `None` if that period has no row yet.
pub async fn find(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<Option<PeriodUsage>, StoreError> {
    // One statement, so that days and totals are consistent.
    let rows = sqlx::query!(
        r#"select accounts.plan, periods.starts_at, periods.ends_at, periods.allowance + periods.granted + periods.bought as "own!",
            periods.overage_limit, periods.used, periods.overage_used, days.id as "id?", days.meter as "meter?", days.livemode as "livemode?", days.day as "day?",
            days.credits as "credits?"
         from credit_periods as periods
         join accounts on accounts.id = periods.account_id
         left join usage_days as days
            on days.account_id = periods.account_id and days.period_starts_at = periods.starts_at
         where periods.account_id = $1 and periods.starts_at <= $2 and periods.ends_at > $2
         order by days.day, days.meter, days.livemode desc"#,
        account.0,
        now,
    )
    .fetch_all(db)
    .await?;
    let mut usage = None;
    for row in rows {
        let usage = usage.get_or_insert_with(|| PeriodUsage {
            plan: row.plan,
            balance: Balance {
                period: Period {
                    starts_at: row.starts_at,
                    ends_at: row.ends_at,
                },
                own: row.own,
                overage_limit: row.overage_limit,
                used: row.used,
                overage_used: row.overage_used,
            },
            days: Vec::new(),
        });
        if let (Some(id), Some(meter), Some(livemode), Some(day), Some(credits)) =
            (row.id, row.meter, row.livemode, row.day, row.credits)
        {
            usage.days.push(UsedDay {
                id,
                meter,
                livemode,
                day,
                credits,
            });
        }
    }
    Ok(usage)
}
