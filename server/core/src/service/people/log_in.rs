//! Login by password and, for users who have one, by second factor. Logout and the list of sessions are in
//! [`sessions`].

use platen_domain::{
    client::Client,
    email::Email,
    ids::UserId,
    password::{Check, Password},
    second_factor::{REMEMBERED, Ways},
};
use secrecy::SecretString;
use time::OffsetDateTime;
use tower_sessions::Session;

use crate::{
    service::{
        people::{
            People, PeopleError, devices, read_email,
            second_factor::{self, Shown},
        },
        sessions::{self, Stay, waiting},
    },
    store::{
        sessions::Holder,
        users::{self, Credentials},
    },
};

/// Content of the login form. A validation error is at `/email`.
#[derive(Debug, Clone)]
pub struct LogInForm {
    /// Email address as typed.
    pub email: String,
    /// Password as typed.
    pub password: SecretString,
    /// Lifetime of the session in the browser.
    pub stay: Stay,
}

/// Progress of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogInStep {
    /// The user is logged in.
    LoggedIn(UserId),
    /// The second factor is required; the user isn't logged in yet.
    SecondFactor,
}

/// Logs a user in by password, under a new session id, or makes the session wait for the second factor.
pub async fn log_in(
    people: &People,
    session: &Session,
    client: &Client,
    form: LogInForm,
    now: OffsetDateTime,
) -> Result<LogInStep, PeopleError> {
    let email = read_email(&form.email)?;
    let user = users::find_by_email(&people.db, &email).await?;
    let guesser = devices::guesser(people, user.as_ref().map(|user| user.id), client).await?;
    people.limits.try_password(client, &email, guesser)?;
    let stored = user.as_ref().map(|user| user.password_hash.clone());
    let check = people.passwords.check(form.password.clone(), stored).await?;
    let (Some(user), Check::Right | Check::Outdated) = (user, check) else {
        return Err(PeopleError::WrongCredentials);
    };
    people.limits.forgive(&email, guesser);
    if check == Check::Outdated {
        hash_again(people, &user, form.password).await?;
    }
    let holder = Holder {
        user: user.id,
        epoch: user.session_epoch,
    };
    if second_factor::is_asked_for(people, user.id, client, now).await? {
        waiting::begin(session, holder, form.stay, now).await?;
        return Ok(LogInStep::SecondFactor);
    }
    devices::note(people, user.id, &email, client, None, now).await?;
    sessions::begin(session, holder, client, form.stay, now).await?;
    Ok(LogInStep::LoggedIn(user.id))
}

/// Content of the form for the second factor.
#[derive(Debug, Clone)]
pub struct SecondStepForm {
    /// Code or response of a passkey, not verified yet.
    pub shown: Shown,
    /// Whether this browser skips the second factor for some time.
    pub remember: bool,
}

/// Begins a challenge for the waiting login. Returns `None` if no login waits, or it has expired.
pub async fn ask_for_second_factor(
    people: &People,
    session: &Session,
    now: OffsetDateTime,
) -> Result<Option<Ways>, PeopleError> {
    let Some(waiting) = waiting::current(session, now).await? else {
        return Ok(None);
    };
    let ways = second_factor::ask(people, session, waiting.holder().user, now).await?;
    Ok(Some(ways))
}

/// Completes a login that waits for the second factor, under another new session id.
pub async fn log_in_by_second_factor(
    people: &People,
    session: &Session,
    client: &Client,
    form: SecondStepForm,
    now: OffsetDateTime,
) -> Result<UserId, PeopleError> {
    let waiting = waiting::current(session, now).await?.ok_or(PeopleError::LogInAnew)?;
    let holder = waiting.holder();
    let user = users::find(&people.db, holder.user).await?;
    // A password change in the meantime ends this session too.
    let user = user.filter(|user| user.session_epoch == holder.epoch);
    let email = read_email(&user.ok_or(PeopleError::LogInAnew)?.email)?;
    let proved = second_factor::prove(people, session, holder.user, client, &form.shown, now).await;
    proved.map_err(|error| match error {
        // The second factor was turned off in the meantime, so the password alone suffices.
        PeopleError::NotFound => PeopleError::LogInAnew,
        other => other,
    })?;
    let remembered_until = form.remember.then(|| now + REMEMBERED);
    devices::note(people, holder.user, &email, client, remembered_until, now).await?;
    sessions::begin(session, holder, client, waiting.stay, now).await?;
    Ok(holder.user)
}

async fn hash_again(people: &People, user: &Credentials, password: SecretString) -> Result<(), PeopleError> {
    // A password chosen under an earlier minimum length can't be parsed any more; its hash remains.
    let Ok(password) = Password::parse(password) else {
        return Ok(());
    };
    let hash = people.passwords.hash(password).await?;
    Ok(users::update_hash(&people.db, user, &hash).await?)
}

/// Verifies the password of a logged-in user. Returns the user, or [`PeopleError::WrongPassword`].
pub(super) async fn prove(
    people: &People,
    user: UserId,
    client: &Client,
    password: SecretString,
) -> Result<(Credentials, Email), PeopleError> {
    let user = users::find(&people.db, user).await?.ok_or(PeopleError::NotFound)?;
    let email = read_email(&user.email)?;
    let guesser = devices::guesser(people, Some(user.id), client).await?;
    people.limits.try_password(client, &email, guesser)?;
    let stored = Some(user.password_hash.clone());
    if people.passwords.check(password, stored).await? == Check::Wrong {
        return Err(PeopleError::WrongPassword);
    }
    people.limits.forgive(&email, guesser);
    Ok((user, email))
}
