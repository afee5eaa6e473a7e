//! On whose behalf a person acts who is logged in.

use platen_app::model::role::Role;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tower_sessions::Session;

use crate::{
    config::limits::LimitsConfig,
    domain::{
        allowed_templates::AllowedTemplates,
        api_key::Scopes,
        caller::{Access, Caller, User},
        client::Client,
        ids::{AccountId, UserId},
        role,
    },
    service::{
        operators::{self, OperatorError},
        sessions::{self, LoggedIn},
    },
    store::{account_limits, error::StoreError, members},
};

/// Why a person can't act for their account.
#[derive(Debug, thiserror::Error)]
pub enum CallerError {
    /// They belong to none any more.
    #[error("the person belongs to no account")]
    NoAccount,
    /// They have chosen an account to which they do not belong any more.
    #[error("the person does not belong to the account any more")]
    NotMember,
    /// The session can't be read.
    #[error(transparent)]
    Session(#[from] tower_sessions::session::Error),
    /// The account wants everybody to have a second factor, and they have none.
    #[error("the account asks for a second factor")]
    SecondFactorFirst,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// As often as that it is written down that somebody acts for their account.
const TOUCH_AFTER: Duration = Duration::minutes(5);

/// Who is logged in, for the account that they have chosen. Whoever has not chosen one chooses the one that they have
/// belonged to the longest, and stays there: a page never acts for another account than that for which it was shown. An
/// operator who looks into an account acts for that one.
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

/// A person, for the account that they have chosen or, if they have chosen none yet, for the one that they have
/// belonged to the longest. `limits` win over those of its plan.
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
        scopes: role::scopes(found.role),
        templates: AllowedTemplates::default(),
        livemode: true,
        limits: limits.over(found.limits),
        access: if found.suspended {
            Access::Suspended
        } else {
            Access::Full
        },
    })
}

/// Somebody who may see what the owner of an account sees; of its content nothing, and without leaving a trace as a member.
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
        livemode: true,
        limits: limits.over(found),
        access: Access::Looking,
    })
}
