//! Passkeys of users: registration, challenge and removal. A challenge is stored in the session until the authenticator
//! responds, and is valid once.

use platen_domain::{
    account_log::AccountEvent,
    client::Client,
    display_name::DisplayName,
    ids::{PasskeyId, UserId},
    mail::MailKind,
    passkey::{Authentication, CHALLENGE_LASTS, MAX_PASSKEYS, PasskeyError, Registration, RelyingParty},
    validation::Problem,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use time::OffsetDateTime;
use tower_sessions::Session;

use crate::{
    service::{
        people::{People, PeopleError, audit_events, email_of, second_factor},
        sessions::short_lived,
    },
    store::{
        mails,
        passkeys::{self, CREDENTIAL_KEY, NewPasskey, UsedPasskey},
        second_factors, tx,
    },
};

/// Key in the session's data for the challenge of a registration.
const REGISTRATION: &str = "passkey_registration";
/// Key in the session's data for the challenge of an authentication.
const AUTHENTICATION: &str = "passkey_authentication";

#[derive(Serialize, Deserialize)]
struct Waiting<C> {
    user: UserId,
    challenge: C,
}

/// Begins the registration of a passkey. Returns the options for the browser, as JSON. Replaces an earlier challenge.
pub async fn ask_for_new(
    people: &People,
    session: &Session,
    user: UserId,
    now: OffsetDateTime,
) -> Result<String, PeopleError> {
    let here = relying_party(people)?;
    let stored = passkeys::list_credentials(&people.db, user).await?;
    if stored.len() >= MAX_PASSKEYS {
        return Err(PeopleError::TooManyPasskeys);
    }
    let asked = here.begin_registration(user, &email_of(people, user).await?, stored)?;
    keep(session, REGISTRATION, user, asked.challenge, now).await?;
    Ok(asked.options)
}

/// Content of the form for a new passkey.
#[derive(Debug, Clone)]
pub struct NewPasskeyForm {
    /// Display name.
    pub name: String,
    /// Response of the authenticator, as JSON.
    pub answer: SecretString,
}

/// Result of [`add`]: whether recovery codes were created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// The passkey is the user's first factor. The codes are stored in the session for the next page.
    WithCodes,
    /// The user keeps their existing codes.
    Beside,
}

/// Adds a passkey. A validation error is at `/passkey_name`.
pub async fn add(
    people: &People,
    session: &Session,
    user: UserId,
    client: &Client,
    form: NewPasskeyForm,
    now: OffsetDateTime,
) -> Result<Added, PeopleError> {
    let name: DisplayName = form
        .name
        .parse()
        .map_err(|error| PeopleError::Invalid(vec![Problem::invalid("/passkey_name", format!("{error}"))]))?;
    let challenge: Registration = take(session, REGISTRATION, user, now).await?;
    let credential = relying_party(people)?.finish_registration(&challenge, form.answer.expose_secret());
    let credential = credential.map_err(refused)?;
    let passkey = NewPasskey {
        id: PasskeyId::generate(),
        credential_id: &credential.id,
        credential: &credential.stored,
        name: &name,
    };
    let email = email_of(people, user).await?;
    let mut transaction = tx::begin(&people.db).await?;
    let before = second_factors::lock(&mut transaction, user).await?;
    if usize::try_from(before.passkeys).is_ok_and(|count| count >= MAX_PASSKEYS) {
        return Err(PeopleError::TooManyPasskeys);
    }
    let inserted = passkeys::insert(&mut transaction, user, passkey, now).await;
    inserted.map_err(|error| {
        if error.violates(CREDENTIAL_KEY) {
            PeopleError::PasskeyRefused
        } else {
            error.into()
        }
    })?;
    let name = name.as_str().to_owned();
    let mail = MailKind::PasskeyAdded { name: name.clone() };
    let codes = second_factor::first_of(&mut transaction, user, &before).await?;
    mails::insert(&mut transaction, &email, Some(user), &mail, now).await?;
    let event = AccountEvent::PasskeyAdded { name };
    audit_events::record(&mut transaction, user, &email, client, &event, now).await?;
    tx::commit(transaction).await?;
    match codes {
        Some(codes) => {
            second_factor::new_codes::keep(people, session, user, &codes, now).await?;
            Ok(Added::WithCodes)
        }
        None => Ok(Added::Beside),
    }
}

/// Removes a passkey. With the last factor, recovery codes and remembered browsers are deleted too.
pub async fn remove(
    people: &People,
    user: UserId,
    client: &Client,
    id: PasskeyId,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let email = email_of(people, user).await?;
    let mut transaction = tx::begin(&people.db).await?;
    let mut left = second_factors::lock(&mut transaction, user).await?;
    let name = passkeys::delete(&mut transaction, user, id).await?;
    let name = name.ok_or(PeopleError::NotFound)?;
    left.passkeys -= 1;
    let mail = MailKind::PasskeyRemoved { name: name.clone() };
    second_factor::notify_of_removal(&mut transaction, user, &email, &left, &mail, now).await?;
    let event = AccountEvent::PasskeyRemoved { name };
    audit_events::record(&mut transaction, user, &email, client, &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Begins an authentication by passkey. Returns the options for the browser, as JSON, or `None` if the user has no
/// passkey or the base URL has no host name. Replaces an earlier challenge.
pub async fn ask(
    people: &People,
    session: &Session,
    user: UserId,
    now: OffsetDateTime,
) -> Result<Option<String>, PeopleError> {
    let Ok(here) = relying_party(people) else {
        return Ok(None);
    };
    let stored = passkeys::list_credentials(&people.db, user).await?;
    let Some(asked) = here.begin_authentication(stored)? else {
        return Ok(None);
    };
    keep(session, AUTHENTICATION, user, asked.challenge, now).await?;
    Ok(Some(asked.options))
}

/// Verifies the response of one of a user's passkeys.
pub(super) async fn prove(
    people: &People,
    session: &Session,
    user: UserId,
    answer: &SecretString,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let challenge: Authentication = take(session, AUTHENTICATION, user, now).await?;
    let stored = passkeys::list_credentials(&people.db, user).await?;
    let shown = relying_party(people)?.finish_authentication(&challenge, stored, answer.expose_secret());
    let shown = shown.map_err(refused)?;
    let passkey = UsedPasskey {
        credential_id: &shown.credential.id,
        credential: &shown.credential.stored,
        sign_count: shown.sign_count,
    };
    let taken = passkeys::take_use(&people.db, user, passkey, now).await?;
    taken.then_some(()).ok_or(PeopleError::PasskeyRefused)
}

fn relying_party(people: &People) -> Result<&RelyingParty, PeopleError> {
    people.relying_party.as_deref().ok_or(PeopleError::NoPasskeysHere)
}

/// Converts errors of the browser's response to a refusal that the user can retry.
fn refused(error: PasskeyError) -> PeopleError {
    match error {
        PasskeyError::Unwritable(_) => PeopleError::Passkey(error),
        PasskeyError::Unreadable | PasskeyError::Ceremony(_) => {
            tracing::warn!(error = %error, "passkey refused");
            PeopleError::PasskeyRefused
        }
    }
}

async fn keep<C: Serialize>(
    session: &Session,
    member: &str,
    user: UserId,
    challenge: C,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    Ok(short_lived::keep(session, member, Waiting { user, challenge }, now + CHALLENGE_LASTS).await?)
}

/// Removes a challenge from the session and returns it, so that it is valid only once.
async fn take<C: DeserializeOwned>(
    session: &Session,
    member: &str,
    user: UserId,
    now: OffsetDateTime,
) -> Result<C, PeopleError> {
    let waiting: Option<Waiting<C>> = short_lived::take(session, member, now).await?;
    let waiting = waiting.filter(|waiting| waiting.user == user);
    Ok(waiting.ok_or(PeopleError::PasskeyTooLate)?.challenge)
}
