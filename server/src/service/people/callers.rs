//! On whose behalf a person acts who is logged in.

use sqlx::PgPool;

use crate::{
    config::limits::LimitsConfig,
    domain::{
        allowed_templates::AllowedTemplates,
        api_key::Scopes,
        caller::{Caller, User},
        ids::UserId,
    },
    store::{error::StoreError, members},
};

/// Why a person can't act for their account.
#[derive(Debug, thiserror::Error)]
pub enum CallerError {
    /// They belong to none any more.
    #[error("the person belongs to no account")]
    NoAccount,
    /// By an operator.
    #[error("the account is suspended")]
    Suspended,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A person, for the account that they have belonged to the longest. `limits` win over those of its plan.
pub async fn of_person(db: &PgPool, limits: &LimitsConfig, user: UserId) -> Result<Caller, CallerError> {
    let found = members::find_caller(db, user).await?.ok_or(CallerError::NoAccount)?;
    if found.suspended {
        return Err(CallerError::Suspended);
    }
    Ok(Caller {
        account: found.account,
        key: None,
        user: User {
            id: user,
            email: found.email,
        },
        scopes: Scopes::all(),
        templates: AllowedTemplates::default(),
        livemode: true,
        limits: limits.over(found.limits),
    })
}
