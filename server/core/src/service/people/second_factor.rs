//! Second factors of users, by authenticator app, passkeys or both: setup, challenge and removal.

pub mod new_codes;
pub mod passkeys;

use platen_domain::{
    account_log::{AccountEvent, Actor},
    audit_log::{AuditActor, AuditEvent},
    client::Client,
    email::Email,
    encryption::{Place, Wrapped},
    ids::UserId,
    mail::MailKind,
    passkey::MAX_PASSKEYS,
    second_factor::{App, AppCode, AppSecret, RECOVERY_CODES, RecoveryCode, SET_UP_WITHIN, SecondFactor, Typed, Ways},
};
use secrecy::{ExposeSecret, SecretString};
use sqlx::PgConnection;
use time::OffsetDateTime;
use tower_sessions::Session;

use crate::{
    service::people::{People, PeopleError, audit_events, devices as known_devices, email_of},
    store::{
        audit_log, devices,
        error::StoreError,
        mails, passkeys as stored_passkeys,
        second_factors::{self, Factors, StoredApp},
        tx, users,
    },
};

/// Returns the second factors of a user.
pub async fn of_user(people: &People, user: UserId, now: OffsetDateTime) -> Result<SecondFactor, PeopleError> {
    let passkeys = stored_passkeys::list(&people.db, user).await?;
    Ok(SecondFactor {
        app: app_of(people, user, now).await?,
        more_passkeys: people.relying_party.is_some() && passkeys.len() < MAX_PASSKEYS,
        passkeys_work: people.relying_party.is_some(),
        passkeys,
        codes_left: second_factors::count_recovery_codes(&people.db, user).await?,
    })
}

async fn app_of(people: &People, user: UserId, now: OffsetDateTime) -> Result<App, PeopleError> {
    let Some(stored) = second_factors::find(&people.db, user).await? else {
        return Ok(App::Off);
    };
    if let Some(since) = stored.turned_on_at {
        return Ok(App::On { since });
    }
    if !is_fresh(&stored, now) {
        return Ok(App::Off);
    }
    Ok(App::Begun {
        secret: decrypt(people, user, stored.secret)?,
        email: users::find(&people.db, user).await?.ok_or(PeopleError::NotFound)?.email,
    })
}

/// Begins a challenge for a user's second factor.
pub async fn ask(people: &People, session: &Session, user: UserId, now: OffsetDateTime) -> Result<Ways, PeopleError> {
    let app = second_factors::find(&people.db, user).await?;
    Ok(Ways {
        app: app.is_some_and(|app| app.turned_on_at.is_some()),
        passkey: passkeys::ask(people, session, user, now).await?,
        unusable_passkeys: people.relying_party.is_none() && !stored_passkeys::list(&people.db, user).await?.is_empty(),
    })
}

/// Creates a secret for a user's app. The app is turned on by its first code, with [`turn_on`].
pub async fn begin(people: &People, user: UserId, now: OffsetDateTime) -> Result<(), PeopleError> {
    let secret = AppSecret::from_random(rand::random());
    let (place, content) = (Place::app_secret(user), secret.expose().to_vec());
    let wrapped = people.secret_keys.current.wrap(&place, rand::random(), content)?;
    let begun = second_factors::begin(&people.db, user, &wrapped, now).await?;
    begun.then_some(()).ok_or(PeopleError::NotFound)
}

/// Turns a user's app on by its first code. If it is their first factor, creates recovery codes, and stores them in the
/// session for the next page.
pub async fn turn_on(
    people: &People,
    session: &Session,
    user: UserId,
    client: &Client,
    code: &SecretString,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let stored = second_factors::find(&people.db, user).await?;
    let stored = stored.filter(|stored| stored.turned_on_at.is_none() && is_fresh(stored, now));
    let stored = stored.ok_or(PeopleError::NotFound)?;
    let guesser = known_devices::guesser(people, Some(user), client).await?;
    people.limits.try_code(client, user, guesser)?;
    let secret = decrypt(people, user, stored.secret)?;
    let Some(Typed::App(code)) = Typed::parse(code.expose_secret()) else {
        return Err(PeopleError::WrongCode);
    };
    let step = secret.step_of(&code, now).ok_or(PeopleError::WrongCode)?;
    people.limits.forgive_codes(user, guesser);
    let email = email_of(people, user).await?;
    let mut transaction = tx::begin(&people.db).await?;
    let before = second_factors::lock(&mut transaction, user).await?;
    if !second_factors::turn_on(&mut transaction, user, stored.inserted_at, step, now).await? {
        return Err(PeopleError::NotFound);
    }
    let codes = first_of(&mut transaction, user, &before).await?;
    mails::insert(&mut transaction, &email, Some(user), &MailKind::SecondFactorOn, now).await?;
    let event = AccountEvent::SecondFactorOn {};
    audit_events::record(&mut transaction, user, &email, client, &event, now).await?;
    tx::commit(transaction).await?;
    match codes {
        Some(codes) => new_codes::keep(people, session, user, &codes, now).await,
        None => Ok(()),
    }
}

/// Creates the recovery codes that come with a user's first factor. Returns `None` if they had a factor `before`.
async fn first_of(
    db: &mut PgConnection,
    user: UserId,
    before: &Factors,
) -> Result<Option<Vec<RecoveryCode>>, PeopleError> {
    if before.any() {
        return Ok(None);
    }
    Ok(Some(replace_codes(db, user).await?))
}

/// Replaces a user's recovery codes, and stores the new ones in the session for the next page.
pub async fn renew_codes(
    people: &People,
    session: &Session,
    user: UserId,
    client: &Client,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let email = email_of(people, user).await?;
    let mut transaction = tx::begin(&people.db).await?;
    if !second_factors::lock(&mut transaction, user).await?.any() {
        return Err(PeopleError::NotFound);
    }
    let codes = replace_codes(&mut transaction, user).await?;
    let event = AccountEvent::RecoveryCodesRenewed {};
    audit_events::record(&mut transaction, user, &email, client, &event, now).await?;
    tx::commit(transaction).await?;
    new_codes::keep(people, session, user, &codes, now).await
}

async fn replace_codes(db: &mut PgConnection, user: UserId) -> Result<Vec<RecoveryCode>, StoreError> {
    let codes: Vec<_> = (0..RECOVERY_CODES)
        .map(|_| RecoveryCode::from_random(rand::random()))
        .collect();
    let digests: Vec<_> = codes.iter().map(RecoveryCode::digest).collect();
    second_factors::replace_recovery_codes(db, user, &digests).await?;
    Ok(codes)
}

/// Turns a user's app off. With the last factor, recovery codes and remembered browsers are deleted too.
pub async fn turn_off(people: &People, user: UserId, client: &Client, now: OffsetDateTime) -> Result<(), PeopleError> {
    let email = email_of(people, user).await?;
    let mut transaction = tx::begin(&people.db).await?;
    let mut left = second_factors::lock(&mut transaction, user).await?;
    if !second_factors::delete(&mut transaction, user).await? {
        return Err(PeopleError::NotFound);
    }
    left.app = false;
    notify_of_removal(&mut transaction, user, &email, &left, &MailKind::AppOff, now).await?;
    let event = AccountEvent::SecondFactorOff {};
    audit_events::record(&mut transaction, user, &email, client, &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Completes the removal of a factor by mailing `mail`, or by deleting recovery codes and remembered browsers if no
/// factor is `left`. A user whose account requires one must then set one up before anything else.
async fn notify_of_removal(
    db: &mut PgConnection,
    user: UserId,
    email: &Email,
    left: &Factors,
    mail: &MailKind,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    if left.any() {
        return mails::insert(db, email, Some(user), mail, now).await;
    }
    forget(db, user, email, now).await
}

/// Deletes what belongs to a user's last factor, and mails them.
async fn forget(db: &mut PgConnection, user: UserId, email: &Email, now: OffsetDateTime) -> Result<(), StoreError> {
    second_factors::delete_recovery_codes(db, user).await?;
    devices::forget_all(db, user).await?;
    mails::insert(db, email, Some(user), &MailKind::SecondFactorOff, now).await
}

/// Removes all factors of a user who has lost them and their recovery codes. For operators, who must have verified the
/// user's identity.
pub async fn remove(people: &People, email: &Email, now: OffsetDateTime) -> Result<(), PeopleError> {
    let user = users::find_by_email(&people.db, email).await?;
    let user = user.ok_or(PeopleError::NotFound)?.id;
    let event = AccountEvent::SecondFactorRemoved {
        email: email.as_str().to_owned(),
    };
    let mut transaction = tx::begin(&people.db).await?;
    if !second_factors::lock(&mut transaction, user).await?.any() {
        return Err(PeopleError::NotFound);
    }
    second_factors::delete(&mut transaction, user).await?;
    stored_passkeys::delete_all(&mut transaction, user).await?;
    forget(&mut transaction, user, email, now).await?;
    audit_events::record_by(&mut transaction, user, &Actor::OPERATOR, &event, now).await?;
    let event = AuditEvent::SecondFactorRemoved {
        email: email.as_str().to_owned(),
    };
    audit_log::insert(&mut transaction, &AuditActor::CommandLine, None, event, "", now).await?;
    tx::commit(transaction).await?;
    tracing::warn!(user_id = %user, "second factor removed by an operator");
    Ok(())
}

/// Returns whether a login of this user from this client requires the second factor.
pub(super) async fn is_asked_for(
    people: &People,
    user: UserId,
    client: &Client,
    now: OffsetDateTime,
) -> Result<bool, PeopleError> {
    if !second_factors::exists(&people.db, user).await? {
        return Ok(false);
    }
    Ok(match client.device {
        Some(browser) => !devices::is_remembered(&people.db, user, browser, now).await?,
        None => true,
    })
}

/// Second factor as shown by a user, not verified yet.
#[derive(Debug, Clone)]
pub enum Shown {
    /// A code of the app, or a recovery code.
    Code(SecretString),
    /// Response of a passkey, as JSON.
    Passkey(SecretString),
}

/// Verifies a user's second factor. Each code and challenge is accepted only once.
pub(super) async fn prove(
    people: &People,
    session: &Session,
    user: UserId,
    client: &Client,
    shown: &Shown,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let guesser = known_devices::guesser(people, Some(user), client).await?;
    people.limits.try_code(client, user, guesser)?;
    if !second_factors::exists(&people.db, user).await? {
        return Err(PeopleError::NotFound);
    }
    match shown {
        Shown::Code(typed) => prove_by_code(people, user, typed, now).await?,
        Shown::Passkey(answer) => passkeys::prove(people, session, user, answer, now).await?,
    }
    people.limits.forgive_codes(user, guesser);
    Ok(())
}

async fn prove_by_code(
    people: &People,
    user: UserId,
    typed: &SecretString,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let taken = match Typed::parse(typed.expose_secret()) {
        Some(Typed::App(code)) => match step_of(people, user, &code, now).await? {
            Some(step) => second_factors::take_step(&people.db, user, step).await?,
            None => false,
        },
        Some(Typed::Recovery(digest)) => {
            let email = email_of(people, user).await?;
            let mut transaction = tx::begin(&people.db).await?;
            let taken = second_factors::take_recovery_code(&mut transaction, user, digest).await?;
            if taken {
                let left = second_factors::count_recovery_codes(&mut *transaction, user).await?;
                let mail = MailKind::RecoveryCodeUsed { left };
                mails::insert(&mut transaction, &email, Some(user), &mail, now).await?;
            }
            tx::commit(transaction).await?;
            taken
        }
        None => false,
    };
    taken.then_some(()).ok_or(PeopleError::WrongCode)
}

/// Returns the time step of an app's code, or `None` if the code isn't valid now or the user has no app.
async fn step_of(
    people: &People,
    user: UserId,
    code: &AppCode,
    now: OffsetDateTime,
) -> Result<Option<i64>, PeopleError> {
    let stored = second_factors::find(&people.db, user).await?;
    let Some(stored) = stored.filter(|stored| stored.turned_on_at.is_some()) else {
        return Ok(None);
    };
    Ok(decrypt(people, user, stored.secret)?.step_of(code, now))
}

fn decrypt(people: &People, user: UserId, secret: Wrapped) -> Result<AppSecret, PeopleError> {
    let opened = people.secret_keys.unwrap(&Place::app_secret(user), secret)?;
    // Only app secrets are encrypted for this place.
    AppSecret::from_bytes(opened.expose_secret()).ok_or(PeopleError::NotFound)
}

fn is_fresh(stored: &StoredApp, now: OffsetDateTime) -> bool {
    now - stored.inserted_at < SET_UP_WITHIN
}
