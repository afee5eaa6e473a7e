//! How an account stands: what every page of the dashboard shows of it.

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    domain::{caller::Caller, ids::AccountId},
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

/// What an account is called, for people: its name or, where it has none, its owner's address.
pub async fn called(db: &PgPool, account: AccountId) -> Result<String, StoreError> {
    Ok(accounts::find_called(db, account).await?.unwrap_or_default())
}

/// What the caller's account is called; may be empty.
pub async fn account_name(db: &PgPool, caller: &Caller) -> Result<String, StoreError> {
    accounts::find_name(db, caller.account).await
}
