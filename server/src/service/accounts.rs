//! Accounts and the people who own them.

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    domain::{
        account_log::{Deed, Doer},
        allowed_templates::AllowedTemplates,
        api_key::{PlaintextKey, Scopes},
        audit_log::{AuditDeed, AuditDoer},
        email::Email,
        ids::{AccountId, ApiKeyId, UserId},
    },
    service::operators,
    storage::{
        default_storage::{DefaultStorage, DefaultStorageError},
        exports::ExportFiles,
    },
    store::{
        account_log,
        accounts::{self, OwnedAccount},
        api_keys::{self, NewApiKey},
        audit_log,
        deletions::{self, Deletion, DeletionOrder},
        error::StoreError,
        members, plans, tx,
        users::{self, NewUser},
    },
};

/// The plan that an account is to have.
#[derive(Debug, Clone)]
pub struct PlanChoice {
    /// The plan's name, in whatever case.
    pub plan: String,
    /// Credits of one period, when they are not to be the plan's.
    pub credits: Option<i64>,
}

/// No plan has this name.
#[derive(Debug, thiserror::Error)]
#[error("there is no plan {given}; there are {}", .plans.join(", "))]
pub struct UnknownPlan {
    given: String,
    plans: Vec<String>,
}

/// Why there is no new account.
#[derive(Debug, thiserror::Error)]
pub enum CreateAccountError {
    /// Somebody has this address already.
    #[error("there is a user with the address {0} already")]
    EmailTaken(Email),
    /// There is no such plan.
    #[error(transparent)]
    UnknownPlan(#[from] UnknownPlan),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Who is to own a new account. The names may be empty.
#[derive(Debug, Clone, Copy)]
pub struct NewOwner<'a> {
    /// Log-in name.
    pub email: &'a Email,
    /// What they call themselves.
    pub name: &'a str,
    /// What they call the account.
    pub account_name: &'a str,
    /// PHC string.
    pub password_hash: &'a str,
}

/// Makes an account, its user and the membership that makes the user its owner: all or nothing.
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

/// As [`create`], with a key that may do everything, and its owner an operator of the service: the first account.
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
        name: key_name,
        hint: key.hint(),
        digest: key.digest(),
        scopes: &Scopes::all(),
        livemode: true,
        expires_at: None,
        allowed_networks: &[],
        allowed_templates: &AllowedTemplates::default(),
    };
    api_keys::insert(&mut transaction, created.account, new, now).await?;
    operators::appoint_within(&mut transaction, owner.email, now).await?;
    tx::commit(transaction).await?;
    Ok(created)
}

/// As [`create`], within a transaction.
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

/// A plan's name as it is written.
pub(super) async fn known_plan(db: &mut PgConnection, name: &str) -> Result<Result<String, UnknownPlan>, StoreError> {
    if let Some(name) = plans::find_name(db, name).await? {
        return Ok(Ok(name));
    }
    Ok(Err(UnknownPlan {
        given: name.to_owned(),
        plans: plans::list_names(db).await?,
    }))
}

/// Which account a command means.
#[derive(Debug, Clone)]
pub enum Selection {
    /// The one that the user with this address owns.
    OwnedBy(Email),
    /// This one.
    Id(AccountId),
}

/// Why a selection names no account.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// Nobody with this address owns one.
    #[error("no account belongs to {0}; `platen accounts create --email {0}` makes one")]
    NoneOwnedBy(Email),
    /// More than one is theirs.
    #[error("{email} owns several accounts; choose one by --account: {}", .accounts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Several {
        /// Whose.
        email: Email,
        /// Which ones.
        accounts: Vec<AccountId>,
    },
    /// There is no such account.
    #[error("there is no account {0}")]
    NoSuchId(AccountId),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Finds the one account that a command means.
pub async fn select(db: &PgPool, selection: Selection) -> Result<OwnedAccount, SelectError> {
    match selection {
        Selection::Id(id) => accounts::find_owned(db, id).await?.ok_or(SelectError::NoSuchId(id)),
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

/// Whether there is no account yet.
pub async fn none_exist(db: &PgPool) -> Result<bool, StoreError> {
    accounts::exist(db).await.map(|exist| !exist)
}

/// Why an account is not deleted, or not wholly.
#[derive(Debug, thiserror::Error)]
pub enum DeleteAccountError {
    /// The database failed; nothing is deleted.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The account is gone; archives of it are left, which go when their time is over.
    #[error("the account is deleted, but not all of its exports: {0}; they go after 7 days")]
    Exports(#[from] std::io::Error),
    /// The account is gone; documents are left, which go when their time is over.
    #[error("the account is deleted, but not all of its documents: {0}; they go after 14 days")]
    Documents(#[from] DefaultStorageError),
}

/// Deletes an account at once: keys, templates, renders, secrets, its archives, and its documents in the service's own
/// storage. Work that is under way for it records nothing any more. What remains is a proof without anything of its content.
pub async fn delete(
    db: &PgPool,
    documents: &DefaultStorage,
    exports: &ExportFiles,
    account: OwnedAccount,
    order: DeletionOrder,
    now: OffsetDateTime,
) -> Result<(), DeleteAccountError> {
    let mut transaction = tx::begin(db).await?;
    let called = accounts::find_called(&mut *transaction, account.account).await?;
    deletions::insert(&mut transaction, account.account, order, now).await?;
    let left = accounts::delete(&mut transaction, account).await?;
    let (doer, asked_by) = match order.asked_by {
        Some(_) => (AuditDoer::Service, "its owner"),
        None => (AuditDoer::CommandLine, "an operator"),
    };
    let deed = AuditDeed::AccountDeleted {
        asked_by: asked_by.to_owned(),
    };
    audit_log::insert_named(&mut transaction, &doer, Some(account.account), called, deed, "", now).await?;
    tx::commit(transaction).await?;
    // Of both as much as can be, whatever becomes of the other.
    let removed = documents.remove(left.objects).await;
    exports.remove(left.exports)?;
    Ok(removed?)
}

/// The accounts that were deleted, the latest first.
pub async fn list_deletions(db: &PgPool) -> Result<Vec<Deletion>, StoreError> {
    deletions::list(db).await
}

/// Whether the content of an account's requests is kept once their renders have ended. If not, what was kept so far is
/// deleted within minutes.
pub async fn keep_content(
    db: &PgPool,
    account: AccountId,
    doer: &Doer,
    keep: bool,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let deed = if keep {
        Deed::ContentKept {}
    } else {
        Deed::ContentForgotten {}
    };
    let mut transaction = tx::begin(db).await?;
    accounts::update_keep_content(&mut transaction, account, keep, now).await?;
    account_log::insert(&mut transaction, account, doer, &deed, now).await?;
    tx::commit(transaction).await
}
