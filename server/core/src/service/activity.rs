//! Statistics of an account's renders.

use platen_domain::{
    ids::{AccountId, ApiKeyId},
    render::statistics::{RenderFigures, RenderGlance, RenderStep},
};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use crate::store::{
    error::StoreError,
    renders::{hours, statistics},
};

/// Number of latest renders that are returned one by one.
const LATEST: i64 = 60;

/// A span of time that is not over yet.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    pub from: OffsetDateTime,
    pub now: OffsetDateTime,
    /// Length of the whole span. The part until now is compared with the same part of the span before.
    pub length: Duration,
    /// Whether it is divided by hour; otherwise by day.
    pub by_hour: bool,
}

/// Statistics of an account's renders over a span of time.
pub struct Activity {
    /// Figures of the whole span.
    pub figures: RenderFigures,
    /// Number of ended renders in the same part of the span before; `None` if some of them may be deleted.
    pub before: Option<i64>,
    /// Figures of each of its days or hours; those without renders are omitted.
    pub steps: Vec<RenderStep>,
}

/// Returns the statistics of an account's renders over a span, of all keys or of one.
pub async fn activity(
    db: &PgPool,
    account: AccountId,
    key: Option<ApiKeyId>,
    span: Span,
) -> Result<Activity, StoreError> {
    let whole = [span.from, span.from + span.length];
    let before = [span.from - span.length, span.now - span.length];
    let ((figures, steps), before) = tokio::try_join!(
        figures(db, account, key, whole, span.by_hour),
        statistics::count(db, account, key, before, span.now),
    )?;
    Ok(Activity { figures, before, steps })
}

/// Returns the figures of the renders that were accepted in a range of time, of all keys or of one, and those of its days or hours.
pub(in crate::service) async fn figures(
    db: &PgPool,
    account: AccountId,
    key: Option<ApiKeyId>,
    range: [OffsetDateTime; 2],
    by_hour: bool,
) -> Result<(RenderFigures, Vec<RenderStep>), StoreError> {
    let (durations, steps) = tokio::try_join!(
        statistics::durations(db, account, key, range),
        statistics::steps(db, account, key, range, by_hour),
    )?;
    let figures = RenderFigures {
        succeeded: steps.iter().map(|step| step.succeeded).sum(),
        failed: steps.iter().map(|step| step.failed).sum(),
        median_ms: durations.median_ms,
        percentile_95_ms: durations.percentile_95_ms,
    };
    Ok((figures, steps))
}

/// Counts the renders of all accounts by hour, so that figures of long spans are fast, and deletes numbers past the retention of
/// their renders.
pub async fn update_hours(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    hours::insert_ended(db, now).await?;
    hours::delete_old(db, now).await
}

/// Returns the latest 60 renders of an account, the latest first.
pub async fn latest(db: &PgPool, account: AccountId) -> Result<Vec<RenderGlance>, StoreError> {
    statistics::latest(db, account, LATEST).await
}
