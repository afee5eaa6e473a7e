//! What an account was doing, in numbers.

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    domain::ids::AccountId,
    store::{
        error::StoreError,
        renders::statistics::{self, RenderFigures, RenderGlance, RenderStep},
    },
};

/// So many renders are shown one by one.
const LATEST: i64 = 60;

/// See the module.
pub struct Activity {
    /// Of the whole time.
    pub figures: RenderFigures,
    /// Of its days or hours; those without renders are left out.
    pub steps: Vec<RenderStep>,
    /// The last renders at all, the latest first.
    pub latest: Vec<RenderGlance>,
}

/// What an account was doing from `from` on.
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

/// The last renders of an account, the latest first.
pub async fn latest(db: &PgPool, account: AccountId) -> Result<Vec<RenderGlance>, StoreError> {
    statistics::latest(db, account, LATEST).await
}
