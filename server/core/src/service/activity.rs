//! Statistics of an account's renders.

use platen_domain::{
    ids::AccountId,
    render::statistics::{RenderFigures, RenderGlance, RenderStep},
};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{error::StoreError, renders::statistics};

/// Number of latest renders that are returned one by one.
const LATEST: i64 = 60;

/// Statistics of an account's renders over a span of time.
pub struct Activity {
    /// Figures of the whole span.
    pub figures: RenderFigures,
    /// Figures of each of its days or hours; those without renders are omitted.
    pub steps: Vec<RenderStep>,
    /// Latest renders, the latest first, even if they are older than the span.
    pub latest: Vec<RenderGlance>,
}

/// Returns the statistics of an account's renders since `from`.
pub async fn activity(
    db: &PgPool,
    account: AccountId,
    from: OffsetDateTime,
    by_hour: bool,
) -> Result<Activity, StoreError> {
    let (figures, steps, latest) = tokio::try_join!(
        statistics::figures(db, account, from),
        statistics::steps(db, account, from, by_hour),
        latest(db, account),
    )?;
    Ok(Activity { figures, steps, latest })
}

/// Returns the latest 60 renders of an account, the latest first.
pub async fn latest(db: &PgPool, account: AccountId) -> Result<Vec<RenderGlance>, StoreError> {
    statistics::latest(db, account, LATEST).await
}
