//! Users: sign-up, login, and management of their own profiles, accounts and teams.
//!
//! Responses and their timing don't reveal whether an address has an account: every path does the same hashing and the
//! same statements, and differences are decided when the mail is composed (`service/mail.rs`).

pub mod account;
mod audit_events;
pub mod callers;
pub mod confirm;
pub mod devices;
pub mod email;
pub mod invitations;
mod limits;
pub mod log_in;
pub mod password;
pub mod refused_form;
pub mod second_factor;
pub mod sent_mail;
pub mod sessions;
pub mod sign_up;
pub mod team;

use std::{sync::Arc, time::Duration};

use platen_domain::{
    email::{Email, InvalidEmail},
    encryption::{EncryptionError, SecretKeys},
    ids::UserId,
    one_time_token::{Purpose, TokenDigest},
    passkey::{MAX_PASSKEYS, PasskeyError, RelyingParty},
    validation::Problem,
};
use sqlx::PgPool;
use time::OffsetDateTime;
use url::Url;

use crate::{
    service::{
        accounts::DeleteAccountError,
        mail,
        passwords::{HashError, Passwords},
        people::limits::Limits,
    },
    storage::default_storage::DefaultStorage,
    store::{account_log, error::StoreError, one_time_tokens, sessions as session_store, sign_ups, users},
};

/// Dependencies of the use cases of users. Cheap to clone.
#[derive(Clone)]
pub struct People {
    pub db: PgPool,
    pub passwords: Passwords,
    secret_keys: Arc<SecretKeys>,
    /// `None` if the base URL has no host name, which passkeys need.
    relying_party: Option<Arc<RelyingParty>>,
    limits: Limits,
}

impl People {
    /// Creates the use cases, with no attempts counted yet.
    pub fn new(db: PgPool, secret_keys: Arc<SecretKeys>, base_url: &Url) -> Self {
        Self {
            db,
            passwords: Passwords::default(),
            secret_keys,
            relying_party: RelyingParty::at(base_url).map(Arc::new),
            limits: Limits::default(),
        }
    }
}

/// Error of a user's request.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// A form is invalid. Each validation error is at `/` and the field's name.
    #[error("{}", .0.iter().map(|problem| format!("{}: {}", problem.pointer, problem.detail)).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<Problem>),
    /// No user has this email address and password.
    #[error("email address or password is wrong")]
    WrongCredentials,
    /// The logged-in user typed a wrong password.
    #[error("the password is wrong")]
    WrongPassword,
    /// The code is neither a current one of the user's app nor an unused recovery code.
    #[error("the code is wrong or was used before")]
    WrongCode,
    /// The session has no pending challenge for a passkey, or it has expired or was replaced by another page's.
    #[error("the passkey challenge has expired")]
    PasskeyTooLate,
    /// The response doesn't match the challenge, or isn't from a passkey of the user.
    #[error("the passkey was refused")]
    PasskeyRefused,
    /// The base URL of the service has no host name, which passkeys need.
    #[error("passkeys need a base URL with a host name")]
    NoPasskeysHere,
    /// The user has the maximum number of passkeys.
    #[error("a user can have up to {MAX_PASSKEYS} passkeys")]
    TooManyPasskeys,
    /// No login in this session waits for a second factor, or it has expired.
    #[error("the log-in took too long; log in again")]
    LogInAnew,
    /// Too many attempts.
    #[error("too many attempts; try again in {}", in_words(*.retry_after))]
    TooMany {
        /// Time until the next attempt.
        retry_after: Duration,
    },
    /// The link is invalid, used or expired.
    #[error("this link has been used or replaced, or has expired; request a new one")]
    WorthlessLink,
    /// Another user has this email address.
    #[error("this address now belongs to another account")]
    EmailTaken,
    /// The invitation is for another email address.
    #[error("this invitation is for another email address")]
    OthersInvitation,
    /// The account's daily limit of invitations is reached.
    #[error("no more invitations today; try again tomorrow")]
    TooManyInvitations,
    /// The owner's membership can't be changed or ended before they transfer the account.
    #[error("the owner must transfer the account first")]
    OwnerStays,
    /// The user has no such session, account or other item.
    #[error("not found")]
    NotFound,
    /// A secret can't be encrypted or decrypted.
    #[error("second factor: {0}")]
    Encryption(#[from] EncryptionError),
    /// A challenge can't be created, or a passkey can't be stored.
    #[error("passkeys: {0}")]
    Passkey(#[from] PasskeyError),
    /// The password could not be hashed.
    #[error(transparent)]
    Hash(#[from] HashError),
    /// The session can't be read or written.
    #[error(transparent)]
    Session(#[from] tower_sessions::session::Error),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Converts the error of a statement that stores a user's email address.
fn taken_or(error: StoreError) -> PeopleError {
    if error.violates(users::EMAIL_KEY) {
        PeopleError::EmailTaken
    } else {
        error.into()
    }
}

/// Returns a wait in words, rounded up: `1 minute`.
fn in_words(wait: Duration) -> String {
    match wait.as_secs().div_ceil(60) {
        0 | 1 => "1 minute".to_owned(),
        minutes => format!("{minutes} minutes"),
    }
}

/// Returns a parsed field of a form, or collects its validation error.
fn read<T, E: std::fmt::Display>(problems: &mut Vec<Problem>, pointer: &str, read: Result<T, E>) -> Option<T> {
    read.map_err(|error| problems.push(Problem::invalid(pointer, error.to_string())))
        .ok()
}

/// Returns the email address of a user.
async fn email_of(people: &People, user: UserId) -> Result<Email, PeopleError> {
    let user = users::find(&people.db, user).await?.ok_or(PeopleError::NotFound)?;
    read_email(&user.email)
}

/// Parses an email address typed into `/email`.
fn read_email(typed: &str) -> Result<Email, PeopleError> {
    let read: Result<Email, InvalidEmail> = typed.trim().parse();
    read.map_err(|error| PeopleError::Invalid(vec![Problem::invalid("/email", error.to_string())]))
}

/// Returns the address to which a valid link was mailed, without using the link.
pub async fn address_of_link(
    people: &People,
    purpose: Purpose,
    token: &str,
    now: OffsetDateTime,
) -> Result<Option<Email>, StoreError> {
    let subject = one_time_tokens::find(&people.db, TokenDigest::of(token), purpose, now).await?;
    Ok(subject.map(|subject| subject.email))
}

/// Deletes accounts after their grace period, and expired sign-ups, links, sessions, devices, mails, account activity
/// and invitations.
pub async fn purge(people: &People, documents: &DefaultStorage, now: OffsetDateTime) -> Result<(), DeleteAccountError> {
    sign_ups::delete_expired(&people.db, now).await?;
    one_time_tokens::delete_expired(&people.db, now).await?;
    session_store::delete_expired(&people.db, now).await?;
    devices::purge(people, now).await?;
    mail::purge(&people.db, now).await?;
    account_log::delete_old(&people.db, now).await?;
    invitations::purge(people, now).await?;
    account::delete_due(people, documents, now).await
}
