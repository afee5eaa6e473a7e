//! The second factor of people: how it is set up, asked for and given up.

pub mod new_codes;

use secrecy::{ExposeSecret, SecretString};
use sqlx::PgConnection;
use time::OffsetDateTime;
use tower_sessions::Session;

use crate::{
    domain::{
        account_log::{Deed, Doer},
        audit_log::{AuditDeed, AuditDoer},
        client::Client,
        email::Email,
        ids::UserId,
        mail::Letter,
        sealing::{Place, Wrapped},
        second_factor::{AppSecret, RECOVERY_CODES, RecoveryCode, SET_UP_WITHIN, Typed},
    },
    service::people::{People, PeopleError, deeds, email_of},
    store::{
        audit_log, devices, mails,
        second_factors::{self, StoredFactor},
        tx, users,
    },
};

/// How a user stands with it.
#[derive(Debug)]
pub enum SecondFactor {
    /// They have none.
    Off,
    /// They have begun to set it up.
    Begun {
        /// What their app has to know.
        secret: AppSecret,
        /// What the app calls it.
        email: String,
    },
    /// They are asked for it.
    On {
        /// Since then.
        since: OffsetDateTime,
        /// Recovery codes that are not used up.
        codes_left: i64,
    },
}

/// How a user stands with it.
pub async fn of_user(people: &People, user: UserId, now: OffsetDateTime) -> Result<SecondFactor, PeopleError> {
    let Some(stored) = second_factors::find(&people.db, user).await? else {
        return Ok(SecondFactor::Off);
    };
    if let Some(since) = stored.turned_on_at {
        return Ok(SecondFactor::On {
            since,
            codes_left: stored.codes_left,
        });
    }
    if !is_fresh(&stored, now) {
        return Ok(SecondFactor::Off);
    }
    Ok(SecondFactor::Begun {
        secret: open(people, user, stored.secret)?,
        email: users::find(&people.db, user).await?.ok_or(PeopleError::NotFound)?.email,
    })
}

/// Makes a secret for a user's app. It counts once they have shown a code of it.
pub async fn begin(people: &People, user: UserId, now: OffsetDateTime) -> Result<(), PeopleError> {
    let secret = AppSecret::from_random(rand::random());
    let (place, content) = (Place::app_secret(user), secret.expose().to_vec());
    let wrapped = people.secret_keys.current.wrap(&place, rand::random(), content)?;
    let begun = second_factors::begin(&people.db, user, &wrapped, now).await?;
    begun.then_some(()).ok_or(PeopleError::NotFound)
}

/// Turns it on by the first code of the app. The recovery codes wait in the session for the next page.
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
    people.limits.try_code(client, user)?;
    let secret = open(people, user, stored.secret)?;
    let Some(Typed::App(code)) = Typed::parse(code.expose_secret()) else {
        return Err(PeopleError::WrongCode);
    };
    let step = secret.step_of(&code, now).ok_or(PeopleError::WrongCode)?;
    people.limits.forgive_codes(user);
    let email = email_of(people, user).await?;
    let mut transaction = tx::begin(&people.db).await?;
    if !second_factors::turn_on(&mut transaction, user, stored.inserted_at, step, now).await? {
        return Err(PeopleError::NotFound);
    }
    let codes = replace_codes(&mut transaction, user).await?;
    mails::insert(&mut transaction, &email, Some(user), &Letter::SecondFactorOn, now).await?;
    let doer = deeds::person(user, &email, client);
    deeds::write_down(&mut transaction, user, &doer, &Deed::SecondFactorOn {}, now).await?;
    tx::commit(transaction).await?;
    new_codes::keep(people, session, user, &codes, now).await
}

/// Gives a user new recovery codes in place of those that are left. They wait in the session for the next page.
pub async fn renew_codes(
    people: &People,
    session: &Session,
    user: UserId,
    client: &Client,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let doer = deeds::person(user, &email_of(people, user).await?, client);
    let mut transaction = tx::begin(&people.db).await?;
    let codes = replace_codes(&mut transaction, user).await?;
    deeds::write_down(&mut transaction, user, &doer, &Deed::RecoveryCodesRenewed {}, now).await?;
    tx::commit(transaction).await?;
    new_codes::keep(people, session, user, &codes, now).await
}

async fn replace_codes(db: &mut PgConnection, user: UserId) -> Result<Vec<RecoveryCode>, PeopleError> {
    let codes: Vec<_> = (0..RECOVERY_CODES)
        .map(|_| RecoveryCode::from_random(rand::random()))
        .collect();
    let digests: Vec<_> = codes.iter().map(RecoveryCode::digest).collect();
    let replaced = second_factors::replace_recovery_codes(db, user, &digests).await?;
    replaced.then_some(codes).ok_or(PeopleError::NotFound)
}

/// Turns it off, with its codes and with what was remembered of browsers.
pub async fn turn_off(people: &People, user: UserId, client: &Client, now: OffsetDateTime) -> Result<(), PeopleError> {
    let email = email_of(people, user).await?;
    let doer = deeds::person(user, &email, client);
    let mut transaction = tx::begin(&people.db).await?;
    delete(&mut transaction, user, &email, &doer, &Deed::SecondFactorOff {}, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Turns off that of somebody who has lost their app and their codes. For operators, who have found out who asks for it.
pub async fn remove(people: &People, email: &Email, now: OffsetDateTime) -> Result<(), PeopleError> {
    let user = users::find_by_email(&people.db, email).await?;
    let user = user.ok_or(PeopleError::NotFound)?.id;
    let deed = Deed::SecondFactorRemoved {
        email: email.as_str().to_owned(),
    };
    let mut transaction = tx::begin(&people.db).await?;
    delete(&mut transaction, user, email, &Doer::OPERATOR, &deed, now).await?;
    let deed = AuditDeed::SecondFactorRemoved {
        email: email.as_str().to_owned(),
    };
    audit_log::insert(&mut transaction, &AuditDoer::CommandLine, None, deed, "", now).await?;
    tx::commit(transaction).await?;
    tracing::warn!(user_id = %user, "an operator has removed a second factor");
    Ok(())
}

async fn delete(
    db: &mut PgConnection,
    user: UserId,
    email: &Email,
    doer: &Doer,
    deed: &Deed,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    if !second_factors::delete(db, user).await? {
        return Err(PeopleError::NotFound);
    }
    devices::forget_all(db, user).await?;
    mails::insert(db, email, Some(user), &Letter::SecondFactorOff, now).await?;
    Ok(deeds::write_down(db, user, doer, deed, now).await?)
}

/// Whether a log-in of this user from this client does not end with the password.
pub(super) async fn is_asked_for(
    people: &People,
    user: UserId,
    client: &Client,
    now: OffsetDateTime,
) -> Result<bool, PeopleError> {
    let stored = second_factors::find(&people.db, user).await?;
    if stored.is_none_or(|stored| stored.turned_on_at.is_none()) {
        return Ok(false);
    }
    Ok(match client.device {
        Some(browser) => !devices::is_remembered(&people.db, user, browser, now).await?,
        None => true,
    })
}

/// Takes a code of the user's app or a recovery code of theirs; each counts once.
pub(super) async fn prove(
    people: &People,
    user: UserId,
    client: &Client,
    typed: &SecretString,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    people.limits.try_code(client, user)?;
    let stored = second_factors::find(&people.db, user).await?;
    let stored = stored.filter(|stored| stored.turned_on_at.is_some());
    let stored = stored.ok_or(PeopleError::NotFound)?;
    let taken = match Typed::parse(typed.expose_secret()) {
        Some(Typed::App(code)) => match open(people, user, stored.secret)?.step_of(&code, now) {
            Some(step) => second_factors::take_step(&people.db, user, step).await?,
            None => false,
        },
        Some(Typed::Recovery(digest)) => {
            let email = email_of(people, user).await?;
            let mut transaction = tx::begin(&people.db).await?;
            let taken = second_factors::take_recovery_code(&mut transaction, user, digest).await?;
            if taken {
                let left = second_factors::count_recovery_codes(&mut transaction, user).await?;
                let letter = Letter::RecoveryCodeUsed { left };
                mails::insert(&mut transaction, &email, Some(user), &letter, now).await?;
            }
            tx::commit(transaction).await?;
            taken
        }
        None => false,
    };
    if !taken {
        return Err(PeopleError::WrongCode);
    }
    people.limits.forgive_codes(user);
    Ok(())
}

fn open(people: &People, user: UserId, secret: Wrapped) -> Result<AppSecret, PeopleError> {
    let opened = people.secret_keys.unwrap(&Place::app_secret(user), secret)?;
    // What is sealed for this place is nothing else.
    AppSecret::from_bytes(opened.expose_secret()).ok_or(PeopleError::NotFound)
}

fn is_fresh(stored: &StoredFactor, now: OffsetDateTime) -> bool {
    now - stored.inserted_at < SET_UP_WITHIN
}
