//! How an account stands: what every page of the dashboard shows of it.

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    domain::caller::Caller,
    service::credits,
    store::{
        accounts,
        error::StoreError,
        members::{self, Summary},
        usage::PeriodUsage,
    },
};

/// See the module.
pub struct Standing {
    /// Who asks, for what.
    pub summary: Summary,
    /// Credits of the period around now.
    pub usage: PeriodUsage,
}

/// How the caller's account stands.
pub async fn standing(db: &PgPool, caller: &Caller, now: OffsetDateTime) -> Result<Standing, StoreError> {
    Ok(Standing {
        summary: members::summarise(db, caller.account, caller.user.id, now).await?,
        usage: credits::usage(db, caller.account, now).await?,
    })
}

/// What the caller's account is called; may be empty.
pub async fn account_name(db: &PgPool, caller: &Caller) -> Result<String, StoreError> {
    accounts::find_name(db, caller.account).await
}
