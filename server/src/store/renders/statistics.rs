//! Renders of an account in numbers.

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{domain::ids::AccountId, store::error::StoreError};

/// Renders that were accepted in a span of time, test keys' included.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RenderFigures {
    /// There is a document.
    pub succeeded: i64,
    /// There is none.
    pub failed: i64,
    /// Milliseconds from acceptance to the document, in which half of those that succeeded were done.
    pub median_ms: Option<f64>,
    /// The same for 95 in a hundred.
    pub percentile_95_ms: Option<f64>,
}

/// The figures of the renders that were accepted from `from` on.
pub async fn figures(db: &PgPool, account: AccountId, from: OffsetDateTime) -> Result<RenderFigures, StoreError> {
    let figures = sqlx::query_as!(
        RenderFigures,
        r#"with taken as (
               select status, extract(epoch from finished_at - inserted_at)::float8 * 1000 as milliseconds
               from renders where account_id = $1 and inserted_at >= $2)
           select count(*) filter (where status = 'succeeded') as "succeeded!",
               count(*) filter (where status = 'failed') as "failed!",
               percentile_cont(0.5) within group (order by milliseconds) filter (where status = 'succeeded')
                   as median_ms,
               percentile_cont(0.95) within group (order by milliseconds) filter (where status = 'succeeded')
                   as percentile_95_ms
           from taken"#,
        account.0,
        from,
    );
    Ok(figures.fetch_one(db).await?)
}

/// Renders that were accepted in one step of a span of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderStep {
    /// Its beginning.
    pub from: OffsetDateTime,
    /// There is a document.
    pub succeeded: i64,
    /// There is none.
    pub failed: i64,
}

/// Steps of a day or an hour, in UTC, from `from` on; those without renders are left out.
pub async fn steps(
    db: &PgPool,
    account: AccountId,
    from: OffsetDateTime,
    by_hour: bool,
) -> Result<Vec<RenderStep>, StoreError> {
    let steps = sqlx::query_as!(
        RenderStep,
        r#"select date_trunc($3, inserted_at, 'UTC') as "from!",
               count(*) filter (where status = 'succeeded') as "succeeded!",
               count(*) filter (where status = 'failed') as "failed!"
           from renders where account_id = $1 and inserted_at >= $2
           group by 1 order by 1"#,
        account.0,
        from,
        if by_hour { "hour" } else { "day" },
    );
    Ok(steps.fetch_all(db).await?)
}

/// How far a render has come, and how long it took.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderGlance {
    /// See [`crate::domain::render::history::RenderState`].
    pub state: String,
    /// Milliseconds from acceptance to the end.
    pub milliseconds: Option<f64>,
}

/// The last renders of an account, the latest first.
pub async fn latest(db: &PgPool, account: AccountId, most: i64) -> Result<Vec<RenderGlance>, StoreError> {
    let glances = sqlx::query_as!(
        RenderGlance,
        r#"select status as state, extract(epoch from finished_at - inserted_at)::float8 * 1000 as milliseconds
           from renders where account_id = $1
           order by inserted_at desc, id desc limit $2"#,
        account.0,
        most,
    );
    Ok(glances.fetch_all(db).await?)
}
