//! People: how they sign up and log in, and what they decide about themselves.
//!
//! Whether an address has an account shows in no answer and in no answer's time: every path does the same hashing and
//! the same statements, and what depends on it is decided when the mail is written (`service/mail.rs`).

pub mod account;
pub mod callers;
pub mod confirm;
mod deeds;
pub mod devices;
pub mod email;
pub mod invitations;
mod limits;
pub mod log_in;
pub mod password;
pub mod second_factor;
pub mod sessions;
pub mod sign_up;
pub mod team;

use std::{sync::Arc, time::Duration};

use sqlx::PgPool;
use time::OffsetDateTime;
use url::Url;

use crate::{
    domain::{
        email::{Email, InvalidEmail},
        ids::UserId,
        passkey::{MAX_PASSKEYS, PasskeyError, RelyingParty},
        sealing::{SealingError, SecretKeys},
        validation::Fault,
    },
    service::{
        accounts::DeleteAccountError,
        mail,
        passwords::{HashError, Passwords},
        people::limits::Limits,
    },
    storage::{default_storage::DefaultStorage, exports::ExportFiles},
    store::{account_log, error::StoreError, one_time_tokens, sessions as session_store, sign_ups, users},
};

/// What acting for people needs; cheap to clone.
#[derive(Clone)]
pub struct People {
    /// Connections to the database.
    pub db: PgPool,
    /// Computes hashes.
    pub passwords: Passwords,
    secret_keys: Arc<SecretKeys>,
    /// `None`: there are no passkeys.
    relying_party: Option<Arc<RelyingParty>>,
    limits: Limits,
}

impl People {
    /// Nobody has tried anything yet.
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

/// Why something is not done for a person.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// A form is faulty: each fault at `/` and the field's name.
    #[error("{}", .0.iter().map(|fault| format!("{}: {}", fault.pointer, fault.detail)).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<Fault>),
    /// Nobody has this address and this password.
    #[error("e-mail address or password is wrong")]
    WrongCredentials,
    /// The person who is logged in typed another password than theirs.
    #[error("this is not your password")]
    WrongPassword,
    /// It is no code of the person's app that counts now, and no recovery code of theirs that is left.
    #[error("this is not the code that the app shows, or it was used before")]
    WrongCode,
    /// No passkey was asked for in this session, or too long ago, or another page has asked since.
    #[error("the passkey was shown too late")]
    PasskeyTooLate,
    /// It is no answer to what was asked, or not by a passkey of the person.
    #[error("the passkey is refused")]
    PasskeyRefused,
    /// The address of the service has no name, which passkeys need.
    #[error("there are no passkeys at an address without a name")]
    NoPasskeysHere,
    /// The person has as many as they may.
    #[error("a person has {MAX_PASSKEYS} passkeys at most")]
    TooManyPasskeys,
    /// Nobody waits in this session to show their second factor, or not any more.
    #[error("the log-in has taken too long; begin again")]
    LogInAnew,
    /// Too many tries.
    #[error("too many tries; try again in {}", in_words(*.retry_after))]
    TooMany {
        /// Until the next one.
        retry_after: Duration,
    },
    /// A link is worthless.
    #[error("this link has been used, replaced, or is too old; ask for a new one")]
    WorthlessLink,
    /// Somebody has the address already.
    #[error("this address belongs to another account by now")]
    EmailTaken,
    /// The invitation is for somebody else.
    #[error("this invitation is for another address than yours")]
    OthersInvitation,
    /// The account has sent many invitations today.
    #[error("no more invitations today; try again tomorrow")]
    TooManyInvitations,
    /// The owner of an account is that until they hand it over.
    #[error("the owner of an account stays its owner until they hand it over")]
    OwnerStays,
    /// The person has no such session or account.
    #[error("there is no such thing")]
    NotFound,
    /// What is sealed can't be opened.
    #[error("the second factor: {0}")]
    Sealing(#[from] SealingError),
    /// A passkey can't be asked for, or written down.
    #[error("passkeys: {0}")]
    Passkey(#[from] PasskeyError),
    /// No hash.
    #[error(transparent)]
    Hash(#[from] HashError),
    /// The session can't be read.
    #[error(transparent)]
    Session(#[from] tower_sessions::session::Error),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How long somebody has to wait, for people: `1 minute`.
fn in_words(wait: Duration) -> String {
    match wait.as_secs().div_ceil(60) {
        0 | 1 => "1 minute".to_owned(),
        minutes => format!("{minutes} minutes"),
    }
}

/// Reads a member of a form, and notes what is wrong with it.
fn read<T, E: std::fmt::Display>(faults: &mut Vec<Fault>, pointer: &str, read: Result<T, E>) -> Option<T> {
    read.map_err(|error| faults.push(Fault::invalid(pointer, error.to_string())))
        .ok()
}

/// The address of a user.
async fn email_of(people: &People, user: UserId) -> Result<Email, PeopleError> {
    let user = users::find(&people.db, user).await?.ok_or(PeopleError::NotFound)?;
    read_email(&user.email)
}

/// The address that somebody typed into `/email`.
fn read_email(typed: &str) -> Result<Email, PeopleError> {
    let read: Result<Email, InvalidEmail> = typed.trim().parse();
    read.map_err(|error| PeopleError::Invalid(vec![Fault::invalid("/email", error.to_string())]))
}

/// Deletes the accounts whose grace is over, and forgets sign-ups, links, sessions, mails and what was done in accounts, once
/// their time is over.
pub async fn purge(
    people: &People,
    documents: &DefaultStorage,
    exports: &ExportFiles,
    now: OffsetDateTime,
) -> Result<(), DeleteAccountError> {
    sign_ups::delete_expired(&people.db, now).await?;
    one_time_tokens::delete_expired(&people.db, now).await?;
    session_store::delete_expired(&people.db, now).await?;
    devices::purge(people, now).await?;
    mail::purge(&people.db, now).await?;
    account_log::delete_old(&people.db, now).await?;
    invitations::purge(people, now).await?;
    account::delete_due(people, documents, exports, now).await
}
