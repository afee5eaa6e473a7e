//! On whose behalf a person acts who is logged in.

use sqlx::PgPool;

use crate::{
    config::limits::LimitsConfig,
    domain::{
        allowed_templates::AllowedTemplates,
        caller::{Caller, User},
        client::Client,
        ids::{AccountId, UserId},
        role,
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

/// A person, for the account that they have chosen or, if they do not belong to it, for the one that they have belonged to
/// the longest. `limits` win over those of its plan.
pub async fn of_person(
    db: &PgPool,
    limits: &LimitsConfig,
    user: UserId,
    client: &Client,
    chosen: Option<AccountId>,
) -> Result<Caller, CallerError> {
    let found = members::find_caller(db, user, chosen).await?;
    let found = found.ok_or(CallerError::NoAccount)?;
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
        role: Some(found.role),
        client: Some(client.clone()),
        scopes: role::scopes(found.role),
        templates: AllowedTemplates::default(),
        livemode: true,
        limits: limits.over(found.limits),
    })
}
