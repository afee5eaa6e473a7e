//! Logging in. Logging out, and the list of sessions, are in [`sessions`].

use secrecy::SecretString;
use time::OffsetDateTime;
use tower_sessions::Session;

use crate::{
    domain::{
        client::Client,
        email::Email,
        ids::UserId,
        password::{Check, Password},
    },
    service::{
        people::{People, PeopleError, read_email},
        sessions::{self, Stay},
    },
    store::{
        sessions::Holder,
        users::{self, Credentials},
    },
};

/// What somebody types who wants to log in. A fault is at `/email`.
#[derive(Debug, Clone)]
pub struct LogInForm {
    /// Log-in name.
    pub email: String,
    /// Theirs, it is to be hoped.
    pub password: SecretString,
    /// How long the browser is to keep the session.
    pub stay: Stay,
}

/// Logs a user in, under another session id than before.
pub async fn log_in(
    people: &People,
    session: &Session,
    client: &Client,
    form: LogInForm,
    now: OffsetDateTime,
) -> Result<UserId, PeopleError> {
    let email = read_email(&form.email)?;
    people.limits.try_password(client, &email)?;
    let user = users::find_by_email(&people.db, &email).await?;
    let stored = user.as_ref().map(|user| user.password_hash.clone());
    let check = people.passwords.check(form.password.clone(), stored).await?;
    let (Some(user), Check::Right | Check::Outdated) = (user, check) else {
        return Err(PeopleError::WrongCredentials);
    };
    people.limits.forgive(&email);
    if check == Check::Outdated {
        hash_again(people, &user, form.password).await?;
    }
    let holder = Holder {
        user: user.id,
        epoch: user.session_epoch,
    };
    sessions::begin(session, holder, client, form.stay, now).await?;
    Ok(user.id)
}

async fn hash_again(people: &People, user: &Credentials, password: SecretString) -> Result<(), PeopleError> {
    // One that is too short today was chosen when it was not, and stays as it is.
    let Ok(password) = Password::parse(password) else {
        return Ok(());
    };
    let hash = people.passwords.hash(password).await?;
    Ok(users::update_hash(&people.db, user, &hash).await?)
}

/// The user who is logged in, if this is their password.
pub(super) async fn prove(
    people: &People,
    user: UserId,
    client: &Client,
    password: SecretString,
) -> Result<(Credentials, Email), PeopleError> {
    let user = users::find(&people.db, user).await?.ok_or(PeopleError::NotFound)?;
    let email = read_email(&user.email)?;
    people.limits.try_password(client, &email)?;
    let stored = Some(user.password_hash.clone());
    if people.passwords.check(password, stored).await? == Check::Wrong {
        return Err(PeopleError::WrongPassword);
    }
    people.limits.forgive(&email);
    Ok((user, email))
}
