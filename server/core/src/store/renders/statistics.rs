//! Statistics of an account's renders.

use platen_domain::{
    ids::{AccountId, ApiKeyId},
    render::statistics::{RenderFigures, RenderGlance, RenderStep},
};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::error::StoreError;

/// Returns the figures of the renders accepted from `from` on, of all keys or of one.
pub async fn figures(
    db: &PgPool,
    account: AccountId,
    key: Option<ApiKeyId>,
    from: OffsetDateTime,
) -> Result<RenderFigures, StoreError> {
    let figures = sqlx::query_as!(
        RenderFigures,
        r#"with taken as (
               select status, extract(epoch from finished_at - inserted_at)::float8 * 1000 as milliseconds
               from renders where account_id = $1 and inserted_at >= $2 and ($3::uuid is null or api_key_id = $3))
           select count(*) filter (where status = 'succeeded') as "succeeded!",
               count(*) filter (where status = 'failed') as "failed!",
               percentile_cont(0.5) within group (order by milliseconds) filter (where status = 'succeeded')
                   as median_ms,
               percentile_cont(0.95) within group (order by milliseconds) filter (where status = 'succeeded')
                   as percentile_95_ms
           from taken"#,
        account.0,
        from,
        key.map(|key| key.0),
    );
    Ok(figures.fetch_one(db).await?)
}

/// Returns the number of renders that were accepted in a range of time and have ended, of all keys or of one. `None` if
/// the range begins before the retention of the account's plan, so that some may be deleted.
pub async fn count(
    db: &PgPool,
    account: AccountId,
    key: Option<ApiKeyId>,
    [from, until]: [OffsetDateTime; 2],
    now: OffsetDateTime,
) -> Result<Option<i64>, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select case when plans.retention_days * interval '1 day' >= $5::timestamptz - $2 then (
               select count(*) from renders
               where account_id = $1 and inserted_at >= $2 and inserted_at < $3 and status in ('succeeded', 'failed')
                   and ($4::uuid is null or api_key_id = $4)) end
           from accounts join plans on plans.name = accounts.plan where accounts.id = $1"#,
        account.0,
        from,
        until,
        key.map(|key| key.0),
        now,
    );
    Ok(count.fetch_optional(db).await?.flatten())
}

/// Returns the renders accepted from `from` on by day, or by hour, in UTC. Intervals without renders are omitted.
pub async fn steps(
    db: &PgPool,
    account: AccountId,
    key: Option<ApiKeyId>,
    from: OffsetDateTime,
    by_hour: bool,
) -> Result<Vec<RenderStep>, StoreError> {
    let steps = sqlx::query_as!(
        RenderStep,
        r#"select date_trunc($3, inserted_at, 'UTC') as "from!",
               count(*) filter (where status = 'succeeded') as "succeeded!",
               count(*) filter (where status = 'failed') as "failed!"
           from renders where account_id = $1 and inserted_at >= $2 and ($4::uuid is null or api_key_id = $4)
           group by 1 order by 1"#,
        account.0,
        from,
        if by_hour { "hour" } else { "day" },
        key.map(|key| key.0),
    );
    Ok(steps.fetch_all(db).await?)
}

/// Returns up to `most` renders of an account, newest first.
pub async fn latest(db: &PgPool, account: AccountId, most: i64) -> Result<Vec<RenderGlance>, StoreError> {
    let glances = sqlx::query_as!(
        RenderGlance,
        r#"select id, status as state, extract(epoch from finished_at - inserted_at)::float8 * 1000 as milliseconds
           from renders where account_id = $1
           order by inserted_at desc, id desc limit $2"#,
        account.0,
        most,
    );
    Ok(glances.fetch_all(db).await?)
}
