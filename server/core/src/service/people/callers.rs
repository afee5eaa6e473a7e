//! Callers of logged-in users: the account for which they act, and their access to it.

use platen_domain::{
    allowed::{AllowedChannels, AllowedTemplates},
    api_key::Scopes,
    caller::{Access, Caller, User},
    client::Client,
    ids::{AccountId, UserId},
    role::Role,
};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tower_sessions::Session;

use crate::{
    config::limits::LimitsConfig,
    service::{
        operators::{self, OperatorError},
        sessions::{self, LoggedIn},
    },
    store::{account_limits, error::StoreError, members},
};

/// Error of finding a user's caller.
#[derive(Debug, thiserror::Error)]
pub enum CallerError {
    /// The user no longer belongs to any account.
    #[error("the user belongs to no account")]
    NoAccount,
    /// The user no longer belongs to the chosen account.
    #[error("the user no longer belongs to the account")]
    NotMember,
    /// The session can't be read or written.
    #[error(transparent)]
    Session(#[from] tower_sessions::session::Error),
    /// The account requires a second factor, and the user has none.
    #[error("the account requires a second factor")]
    SecondFactorFirst,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Interval at which a member's activity is recorded.
const TOUCH_AFTER: Duration = Duration::minutes(5);

/// Returns the caller of a session, for the chosen account. If none is chosen, chooses the account of the earliest
/// membership and stores that in the session, because a page must act for the account it was shown for. An operator who
/// views an account acts for that one.
pub async fn of_session(
    db: &PgPool,
    limits: &LimitsConfig,
    session: &Session,
    person: &LoggedIn,
    client: &Client,
    now: OffsetDateTime,
) -> Result<Caller, CallerError> {
    let user = person.user;
    if let Some(look) = person.look(now) {
        return of_looking_operator(db, limits, user, client, look.account).await;
    }
    let chosen = sessions::chosen_account(session).await?;
    let caller = of_person(db, limits, user, client, chosen, now).await?;
    if chosen.is_none() {
        sessions::choose_account(session, caller.account).await?;
    }
    Ok(caller)
}

/// Returns a user as caller, for the chosen account or, if none is chosen, for that of the earliest membership.
/// `limits` take precedence over those of the account's plan.
pub async fn of_person(
    db: &PgPool,
    limits: &LimitsConfig,
    user: UserId,
    client: &Client,
    chosen: Option<AccountId>,
    now: OffsetDateTime,
) -> Result<Caller, CallerError> {
    let found = members::find_caller(db, user, chosen).await?;
    let found = found.ok_or(match chosen {
        Some(_) => CallerError::NotMember,
        None => CallerError::NoAccount,
    })?;
    if found.needs_second_factor {
        return Err(CallerError::SecondFactorFirst);
    }
    if found.seen_at.is_none_or(|seen| now - seen >= TOUCH_AFTER) {
        members::update_seen(db, found.account, user, now).await?;
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
        scopes: Scopes::of_role(found.role),
        templates: AllowedTemplates::default(),
        channels: AllowedChannels::default(),
        livemode: true,
        limits: limits.over(found.limits),
        access: if found.suspended {
            Access::Suspended
        } else {
            Access::Full
        },
    })
}

/// Returns an operator as caller who views an account as its owner: without access to content, and without counting as
/// a member's activity.
async fn of_looking_operator(
    db: &PgPool,
    limits: &LimitsConfig,
    user: UserId,
    client: &Client,
    account: AccountId,
) -> Result<Caller, CallerError> {
    let operator = operators::of_person(db, user, client)
        .await
        .map_err(|error| match error {
            OperatorError::NotOperator => CallerError::NotMember,
            OperatorError::SecondFactorFirst => CallerError::SecondFactorFirst,
            OperatorError::Store(error) => CallerError::Store(error),
        })?;
    let found = account_limits::find(db, account).await?;
    let found = found.ok_or(CallerError::NotMember)?;
    Ok(Caller {
        account,
        key: None,
        user: operator.user,
        role: Some(Role::Owner),
        client: Some(operator.client),
        scopes: Scopes::from_iter([]),
        templates: AllowedTemplates::default(),
        channels: AllowedChannels::default(),
        livemode: true,
        limits: limits.over(found),
        access: Access::Looking,
    })
}
