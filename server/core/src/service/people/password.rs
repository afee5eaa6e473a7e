//! Password reset and password change. Both end all other sessions, invalidate all links mailed before, and require the
//! second factor from all browsers again.

use platen_domain::{
    client::Client,
    email::Email,
    ids::UserId,
    mail::MailKind,
    one_time_token::{Purpose, TokenDigest},
    password::Password,
};
use secrecy::SecretString;
use sqlx::PgConnection;
use time::OffsetDateTime;
use tower_sessions::Session;

use crate::{
    service::{
        people::{People, PeopleError, email_of, read, read_email},
        sessions,
    },
    store::{
        devices, mails, one_time_tokens,
        sessions::{Holder, delete_others},
        tx, users,
    },
};

/// Mails a link for a password reset, if the address has a user.
pub async fn request_reset(
    people: &People,
    client: &Client,
    email: &str,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let email = read_email(email)?;
    people.limits.ask_for_mail(client, &email)?;
    let mut transaction = tx::begin(&people.db).await?;
    mails::insert(&mut transaction, &email, None, &MailKind::ResetPassword, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Resets a password by the token of a link, without logging in. A validation error is at `/password`.
pub async fn reset(
    people: &People,
    token: &str,
    password: SecretString,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let password = chosen(password)?;
    let digest = TokenDigest::of(token);
    let subject = one_time_tokens::find(&people.db, digest, Purpose::ResetPassword, now).await?;
    let subject = subject.ok_or(PeopleError::WorthlessLink)?;
    let user = subject.user.ok_or(PeopleError::WorthlessLink)?;
    let hash = people.passwords.hash(password).await?;
    let mut transaction = tx::begin(&people.db).await?;
    if !one_time_tokens::use_up(&mut transaction, digest, Purpose::ResetPassword, now).await? {
        return Err(PeopleError::WorthlessLink);
    }
    let replaced = replace(&mut transaction, user, &subject.email, &hash, now).await?;
    // The user has changed their address since the link was mailed.
    replaced.ok_or(PeopleError::WorthlessLink)?;
    tx::commit(transaction).await?;
    people.limits.forgive_everybody(&subject.email);
    Ok(())
}

/// Changes the password of a logged-in user. Their current session continues under a new id. Validation errors are at
/// `/password`.
pub async fn change(
    people: &People,
    user: UserId,
    session: &Session,
    client: &Client,
    password: SecretString,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let password = chosen(password)?;
    let email = email_of(people, user).await?;
    let hash = people.passwords.hash(password).await?;
    let mut transaction = tx::begin(&people.db).await?;
    let epoch = replace(&mut transaction, user, &email, &hash, now).await?;
    let epoch = epoch.ok_or(PeopleError::NotFound)?;
    tx::commit(transaction).await?;
    Ok(sessions::renew(session, Holder { user, epoch }, client, now).await?)
}

fn chosen(password: SecretString) -> Result<Password, PeopleError> {
    let mut problems = Vec::new();
    read(&mut problems, "/password", Password::parse(password)).ok_or(PeopleError::Invalid(problems))
}

/// Replaces the password's hash. Returns the epoch of new sessions, or `None` if the user has changed their address.
async fn replace(
    db: &mut PgConnection,
    user: UserId,
    email: &Email,
    hash: &str,
    now: OffsetDateTime,
) -> Result<Option<i32>, PeopleError> {
    let epoch = users::update_password(db, user, email, hash, now).await?;
    delete_others(db, user, None).await?;
    devices::forget_all(db, user).await?;
    one_time_tokens::delete_of_user(db, user, None).await?;
    mails::delete_address_changes(db, user).await?;
    mails::insert(db, email, Some(user), &MailKind::PasswordChanged, now).await?;
    Ok(epoch)
}
