//! Account status that every page of the dashboard shows.

use platen_domain::{caller::Caller, ids::AccountId};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    service::credits,
    store::{
        accounts,
        error::StoreError,
        members::{self, Summary},
        usage::PeriodUsage,
    },
};

/// Summary and usage of the caller's account.
pub struct AccountSummary {
    /// Summary of the user and the account.
    pub summary: Summary,
    /// Credits of the current period.
    pub usage: PeriodUsage,
}

/// Returns the status of the caller's account.
pub async fn find(db: &PgPool, caller: &Caller, now: OffsetDateTime) -> Result<AccountSummary, StoreError> {
    Ok(AccountSummary {
        summary: members::summarise(db, caller.account, caller.user.id, now).await?,
        usage: credits::usage(db, caller.account, now).await?,
    })
}

/// Dismisses the checklist of the first steps for the caller.
pub async fn dismiss_checklist(db: &PgPool, caller: &Caller, now: OffsetDateTime) -> Result<(), StoreError> {
    members::dismiss_checklist(db, caller.account, caller.user.id, now).await
}

/// Returns an account's display name: its name or, if that is empty, its owner's email address.
pub async fn called(db: &PgPool, account: AccountId) -> Result<String, StoreError> {
    Ok(accounts::find_called(db, account).await?.unwrap_or_default())
}

/// Returns the name of the caller's account, which may be empty.
pub async fn account_name(db: &PgPool, caller: &Caller) -> Result<String, StoreError> {
    accounts::find_name(db, caller.account).await
}
