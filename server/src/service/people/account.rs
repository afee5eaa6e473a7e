//! What people see and decide of themselves and of the accounts that they own.

use time::{Date, Duration, OffsetDateTime, UtcOffset};
use tower_sessions::Session;

use crate::{
    domain::{
        account_log::{Deed, Doer},
        caller::Caller,
        display_name::DisplayName,
        ids::{AccountId, UserId},
        mail::Letter,
    },
    service::{
        accounts::{self, DeleteAccountError},
        people::{People, PeopleError, email_of, read},
        sessions,
    },
    storage::{default_storage::DefaultStorage, exports::ExportFiles},
    store::{
        account_log,
        accounts::{self as store, OwnersChoices},
        mails,
        members::{self, Membership},
        tx,
        users::{self, Person},
    },
};

/// So long an account that is to be deleted can be taken back.
pub const GRACE: Duration = Duration::days(7);

/// What a user sees of themselves; `None`: they are gone.
pub async fn person(people: &People, user: UserId) -> Result<Option<Person>, PeopleError> {
    Ok(users::find_person(&people.db, user).await?)
}

/// The accounts that a user belongs to, those first that they have belonged to the longest.
pub async fn accounts_of(people: &People, user: UserId) -> Result<Vec<Membership>, PeopleError> {
    Ok(members::list_of_user(&people.db, user).await?)
}

/// Lets the person of a session act for another one of their accounts.
pub async fn switch(people: &People, session: &Session, user: UserId, account: AccountId) -> Result<(), PeopleError> {
    let own = members::list_of_user(&people.db, user).await?;
    if !own.iter().any(|own| own.account == account) {
        return Err(PeopleError::NotFound);
    }
    Ok(sessions::switch_account(session, account).await?)
}

/// Gives a user another name. A fault is at `/name`.
pub async fn rename(people: &People, user: UserId, name: &str) -> Result<(), PeopleError> {
    Ok(users::update_name(&people.db, user, &read_name(name)?).await?)
}

/// Gives an account another name; its owner may. A fault is at `/name`.
pub async fn rename_account(
    people: &People,
    caller: &Caller,
    name: &str,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let name = read_name(name)?;
    let deed = Deed::AccountRenamed {
        name: name.as_str().to_owned(),
    };
    let mut transaction = tx::begin(&people.db).await?;
    if !store::update_name(&mut transaction, caller.account, caller.user.id, &name).await? {
        return Err(PeopleError::NotFound);
    }
    account_log::insert(&mut transaction, caller.account, &Doer::of_caller(caller), &deed, now).await?;
    Ok(tx::commit(transaction).await?)
}

fn read_name(name: &str) -> Result<DisplayName, PeopleError> {
    let mut faults = Vec::new();
    read(&mut faults, "/name", name.parse()).ok_or(PeopleError::Invalid(faults))
}

/// What the owner of an account has decided of it; `None`: this user does not own it.
pub async fn owned(people: &People, user: UserId, account: AccountId) -> Result<Option<OwnersChoices>, PeopleError> {
    Ok(store::find_of_owner(&people.db, account, user).await?)
}

/// Decides whether the content of an account's requests is kept once their renders have ended; its owner may. If not, what
/// was kept so far is deleted within minutes.
pub async fn keep_content(
    people: &People,
    caller: &Caller,
    keep: bool,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let found = owned(people, caller.user.id, caller.account).await?;
    found.ok_or(PeopleError::NotFound)?;
    let doer = Doer::of_caller(caller);
    Ok(accounts::keep_content(&people.db, caller.account, &doer, keep, now).await?)
}

/// Decides from which day on only people with a second factor act for the account; `None`: everybody does. Its owner may.
/// Keys go on in any case.
pub async fn require_second_factor(
    people: &People,
    caller: &Caller,
    from: Option<Date>,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let deed = match from {
        Some(from) => Deed::SecondFactorRequired { from: from.to_string() },
        None => Deed::SecondFactorOptional {},
    };
    let from = from.map(|from| from.midnight().assume_utc());
    let mut transaction = tx::begin(&people.db).await?;
    if !store::update_second_factor_from(&mut transaction, caller.account, caller.user.id, from).await? {
        return Err(PeopleError::NotFound);
    }
    account_log::insert(&mut transaction, caller.account, &Doer::of_caller(caller), &deed, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Lets an account be deleted after seven days; its owner may. Until then everything goes on, and it can be taken back.
/// Says when.
pub async fn request_deletion(
    people: &People,
    caller: &Caller,
    now: OffsetDateTime,
) -> Result<OffsetDateTime, PeopleError> {
    let (account, user) = (caller.account, caller.user.id);
    let email = email_of(people, user).await?;
    let delete_at = now + GRACE;
    let mut transaction = tx::begin(&people.db).await?;
    let name = store::update_delete_at(&mut transaction, account, user, Some(delete_at), now).await?;
    let letter = Letter::DeletionAsked {
        account_name: name.ok_or(PeopleError::NotFound)?,
        delete_at,
    };
    mails::insert(&mut transaction, &email, Some(user), &letter, now).await?;
    let deed = Deed::DeletionAsked {
        on: delete_at.to_offset(UtcOffset::UTC).date().to_string(),
    };
    account_log::insert(&mut transaction, account, &Doer::of_caller(caller), &deed, now).await?;
    tx::commit(transaction).await?;
    Ok(delete_at)
}

/// Takes back an account that is to be deleted; its owner may.
pub async fn undo_deletion(people: &People, caller: &Caller, now: OffsetDateTime) -> Result<(), PeopleError> {
    let (account, doer) = (caller.account, Doer::of_caller(caller));
    let mut transaction = tx::begin(&people.db).await?;
    let name = store::update_delete_at(&mut transaction, account, caller.user.id, None, now).await?;
    name.ok_or(PeopleError::NotFound)?;
    account_log::insert(&mut transaction, account, &doer, &Deed::DeletionUndone {}, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Deletes the accounts whose time has come.
pub async fn delete_due(
    people: &People,
    documents: &DefaultStorage,
    exports: &ExportFiles,
    now: OffsetDateTime,
) -> Result<(), DeleteAccountError> {
    for (account, order) in store::list_to_delete(&people.db, now).await? {
        accounts::delete(&people.db, documents, exports, account, order, now).await?;
        tracing::info!(account_id = %account.account, "an account was deleted, as its owner asked");
    }
    Ok(())
}
