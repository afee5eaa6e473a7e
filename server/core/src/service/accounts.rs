//! Accounts and their owners.

use platen_domain::{
    account_log::{AccountEvent, Actor},
    api_key::PlaintextKey,
    audit_log::{AuditActor, AuditEvent},
    email::Email,
    ids::{AccountId, ApiKeyId, UserId},
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    service::operators,
    storage::default_storage::{DefaultStorage, DefaultStorageError},
    store::{
        account_log,
        accounts::{self, OwnedAccount},
        api_keys::{self, KeySettings, NewApiKey},
        audit_log,
        deletions::{self, Deletion, DeletionOrder},
        error::StoreError,
        members, plans, tx,
        users::{self, NewUser},
    },
};

/// Plan to assign to an account.
#[derive(Debug, Clone)]
pub struct PlanChoice {
    /// The plan's name, in any case.
    pub plan: String,
    /// Credits of one period, if they differ from the plan's.
    pub credits: Option<i64>,
}

/// No plan has the given name.
#[derive(Debug, thiserror::Error)]
#[error("there is no plan {given}; the plans are {}", .plans.join(", "))]
pub struct UnknownPlan {
    given: String,
    plans: Vec<String>,
}

/// Error of [`create`].
#[derive(Debug, thiserror::Error)]
pub enum CreateAccountError {
    /// Another user has this email address.
    #[error("a user with the address {0} already exists")]
    EmailTaken(Email),
    /// No plan has the given name.
    #[error(transparent)]
    UnknownPlan(#[from] UnknownPlan),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Owner of a new account. The names may be empty.
#[derive(Debug, Clone, Copy)]
pub struct NewOwner<'a> {
    /// Email address, with which they log in.
    pub email: &'a Email,
    /// Display name of the user.
    pub name: &'a str,
    /// Display name of the account.
    pub account_name: &'a str,
    /// PHC string.
    pub password_hash: &'a str,
}

/// Creates an account, its user and the owner's membership, in one transaction.
pub async fn create(
    db: &PgPool,
    owner: &NewOwner<'_>,
    plan: &PlanChoice,
    now: OffsetDateTime,
) -> Result<OwnedAccount, CreateAccountError> {
    let mut transaction = tx::begin(db).await?;
    let created = insert(&mut transaction, owner, plan, now).await?;
    tx::commit(transaction).await?;
    Ok(created)
}

/// Creates the first account: as [`create`], with a key that has all scopes, and with the owner as an operator.
pub async fn create_with_key(
    db: &PgPool,
    owner: &NewOwner<'_>,
    plan: &PlanChoice,
    key_name: &str,
    key: &PlaintextKey,
    now: OffsetDateTime,
) -> Result<OwnedAccount, CreateAccountError> {
    let mut transaction = tx::begin(db).await?;
    let created = insert(&mut transaction, owner, plan, now).await?;
    let new = NewApiKey {
        id: ApiKeyId::generate(),
        created_by: created.owner,
        hint: key.hint(),
        digest: key.digest(),
        livemode: true,
        settings: &KeySettings::unrestricted(key_name),
        counter: None,
    };
    api_keys::insert(&mut transaction, created.account, new, now).await?;
    operators::appoint_within(&mut transaction, owner.email, now).await?;
    tx::commit(transaction).await?;
    Ok(created)
}

/// As [`create`], within the caller's transaction.
pub(super) async fn insert(
    db: &mut PgConnection,
    owner: &NewOwner<'_>,
    choice: &PlanChoice,
    now: OffsetDateTime,
) -> Result<OwnedAccount, CreateAccountError> {
    let created = OwnedAccount {
        account: AccountId::generate(),
        owner: UserId::generate(),
    };
    let user = NewUser {
        id: created.owner,
        email: owner.email,
        name: owner.name,
        password_hash: owner.password_hash,
    };
    users::insert(db, user, now).await.map_err(|error| {
        if error.violates(users::EMAIL_KEY) {
            CreateAccountError::EmailTaken(owner.email.clone())
        } else {
            error.into()
        }
    })?;
    let plan = known_plan(db, &choice.plan).await??;
    accounts::insert(db, created.account, owner.account_name, &plan, choice.credits, now).await?;
    members::insert_owner(db, created.account, created.owner, now).await?;
    Ok(created)
}

/// Returns a plan's name in its own spelling.
pub(super) async fn known_plan(db: &mut PgConnection, name: &str) -> Result<Result<String, UnknownPlan>, StoreError> {
    if let Some(name) = plans::find_name(db, name).await? {
        return Ok(Ok(name));
    }
    Ok(Err(UnknownPlan {
        given: name.to_owned(),
        plans: plans::list_names(db).await?,
    }))
}

/// How a command selects an account.
#[derive(Debug, Clone)]
pub enum Selection {
    /// The only account that the user with this email address owns.
    OwnedBy(Email),
    /// By its id.
    Id(AccountId),
}

/// Error of [`select`].
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// No user with this email address owns an account.
    #[error("no account belongs to {0}; `platen accounts create --email {0}` creates one")]
    NoneOwnedBy(Email),
    /// The user owns several accounts.
    #[error("{email} owns several accounts; choose one with --account: {}", .accounts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Several {
        email: Email,
        /// Accounts to choose from.
        accounts: Vec<AccountId>,
    },
    /// No account has this id.
    #[error("there is no account {0}")]
    NoSuchId(AccountId),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the account that a command selects.
pub async fn select(db: &PgPool, selection: Selection) -> Result<OwnedAccount, SelectError> {
    match selection {
        Selection::Id(account) => match members::find_owner(db, account).await? {
            Some(owner) => Ok(OwnedAccount { account, owner }),
            None => Err(SelectError::NoSuchId(account)),
        },
        Selection::OwnedBy(email) => match accounts::list_owned_by(db, email.as_str()).await?.as_slice() {
            [] => Err(SelectError::NoneOwnedBy(email)),
            [only] => Ok(*only),
            several => Err(SelectError::Several {
                email,
                accounts: several.iter().map(|owned| owned.account).collect(),
            }),
        },
    }
}

/// Returns whether no account exists yet.
pub async fn none_exist(db: &PgPool) -> Result<bool, StoreError> {
    accounts::exist(db).await.map(|exist| !exist)
}

/// Error of [`delete`]: the account is not deleted, or some of its files remain.
#[derive(Debug, thiserror::Error)]
pub enum DeleteAccountError {
    /// The database failed; nothing was deleted.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The account is deleted; some of its documents remain until they expire.
    #[error("the account is deleted, but some of its documents are not: {0}; they are deleted after 14 days")]
    Documents(#[from] DefaultStorageError),
}

/// Deletes an account at once: its keys, templates, renders, secrets, exports, and documents in the default
/// storage. Its renders in progress record nothing more. A proof of deletion remains, without any of the account's
/// content.
pub async fn delete(
    db: &PgPool,
    documents: &DefaultStorage,
    account: OwnedAccount,
    order: DeletionOrder,
    now: OffsetDateTime,
) -> Result<(), DeleteAccountError> {
    let mut transaction = tx::begin(db).await?;
    let called = accounts::find_called(&mut *transaction, account.account).await?;
    deletions::insert(&mut transaction, account.account, order, now).await?;
    let objects = accounts::delete(&mut transaction, account).await?;
    let (actor, asked_by) = match order.asked_by {
        Some(_) => (AuditActor::Service, "its owner"),
        None => (AuditActor::CommandLine, "an operator"),
    };
    let event = AuditEvent::AccountDeleted {
        asked_by: asked_by.to_owned(),
    };
    audit_log::insert_named(&mut transaction, &actor, Some(account.account), called, event, "", now).await?;
    tx::commit(transaction).await?;
    Ok(documents.remove(objects).await?)
}

/// Returns the deleted accounts, the latest first.
pub async fn list_deletions(db: &PgPool) -> Result<Vec<Deletion>, StoreError> {
    deletions::list(db).await
}

/// Sets whether the content of the account's requests is stored after their renders end. With `false`, content that is
/// already stored is deleted within minutes.
pub async fn keep_content(
    db: &PgPool,
    account: AccountId,
    actor: &Actor,
    keep: bool,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let event = if keep {
        AccountEvent::ContentKept {}
    } else {
        AccountEvent::ContentForgotten {}
    };
    let mut transaction = tx::begin(db).await?;
    accounts::update_keep_content(&mut transaction, account, keep, now).await?;
    account_log::insert(&mut transaction, account, actor, &event, now).await?;
    tx::commit(transaction).await
}
