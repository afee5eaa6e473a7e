//! Profiles of users, and settings of the accounts that they own.

use platen_domain::{
    account_log::{AccountEvent, Actor},
    caller::Caller,
    display_name::DisplayName,
    download_link::DocumentLinks,
    ids::{AccountId, UserId},
    mail::MailKind,
};
use time::{Date, Duration, OffsetDateTime, UtcOffset};
use tower_sessions::Session;

use crate::{
    service::{
        accounts::{self, DeleteAccountError},
        people::{People, PeopleError, email_of, read},
        sessions,
    },
    storage::default_storage::DefaultStorage,
    store::{
        account_log,
        accounts::{self as store, OwnersChoices},
        mails,
        members::{self, Membership},
        tx,
        users::{self, Person},
    },
};

/// Time for which a requested deletion of an account can be undone.
pub const GRACE: Duration = Duration::days(7);

/// Returns a user's profile, or `None` if they no longer exist.
pub async fn person(people: &People, user: UserId) -> Result<Option<Person>, PeopleError> {
    Ok(users::find_person(&people.db, user).await?)
}

/// Returns a user's memberships, the earliest first.
pub async fn accounts_of(people: &People, user: UserId) -> Result<Vec<Membership>, PeopleError> {
    Ok(members::list_of_user(&people.db, user).await?)
}

/// Switches a session to another account of its user.
pub async fn switch(people: &People, session: &Session, user: UserId, account: AccountId) -> Result<(), PeopleError> {
    let own = members::list_of_user(&people.db, user).await?;
    if !own.iter().any(|own| own.account == account) {
        return Err(PeopleError::NotFound);
    }
    Ok(sessions::switch_account(session, account).await?)
}

/// Renames a user. A validation error is at `/name`.
pub async fn rename(people: &People, user: UserId, name: &str) -> Result<(), PeopleError> {
    Ok(users::update_name(&people.db, user, &read_name(name)?).await?)
}

/// Renames an account. The caller must be its owner. A validation error is at `/name`.
pub async fn rename_account(
    people: &People,
    caller: &Caller,
    name: &str,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let name = read_name(name)?;
    let event = AccountEvent::AccountRenamed {
        name: name.as_str().to_owned(),
    };
    let mut transaction = tx::begin(&people.db).await?;
    if !store::update_name(&mut transaction, caller.account, caller.user.id, &name).await? {
        return Err(PeopleError::NotFound);
    }
    account_log::insert(&mut transaction, caller.account, &Actor::of_caller(caller), &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

fn read_name(name: &str) -> Result<DisplayName, PeopleError> {
    let mut problems = Vec::new();
    read(&mut problems, "/name", name.parse()).ok_or(PeopleError::Invalid(problems))
}

/// Returns the owner's settings of an account, or `None` if the user isn't its owner.
pub async fn owned(people: &People, user: UserId, account: AccountId) -> Result<Option<OwnersChoices>, PeopleError> {
    Ok(store::find_of_owner(&people.db, account, user).await?)
}

/// Sets whether the content of the account's requests is stored after their renders end. With `false`, content that is
/// already stored is deleted within minutes. The caller must be the account's owner.
pub async fn keep_content(
    people: &People,
    caller: &Caller,
    keep: bool,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let found = owned(people, caller.user.id, caller.account).await?;
    found.ok_or(PeopleError::NotFound)?;
    let actor = Actor::of_caller(caller);
    Ok(accounts::keep_content(&people.db, caller.account, &actor, keep, now).await?)
}

/// Sets the addresses of new documents. The caller must be the account's owner.
pub async fn set_document_links(
    people: &People,
    caller: &Caller,
    links: DocumentLinks,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let found = owned(people, caller.user.id, caller.account).await?;
    found.ok_or(PeopleError::NotFound)?;
    let event = match links {
        DocumentLinks::Public => AccountEvent::DocumentsMadePublic {},
        DocumentLinks::ByPlan => AccountEvent::DocumentLinksByPlan {},
        DocumentLinks::Lasting(seconds) => AccountEvent::DocumentLinksSet { minutes: seconds / 60 },
    };
    let mut transaction = tx::begin(&people.db).await?;
    store::update_links(&mut transaction, caller.account, links).await?;
    account_log::insert(&mut transaction, caller.account, &Actor::of_caller(caller), &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Sets the day from which members need a second factor to act for the account; `None` removes the requirement. API
/// keys are not affected. The caller must be the account's owner.
pub async fn require_second_factor(
    people: &People,
    caller: &Caller,
    from: Option<Date>,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let event = match from {
        Some(from) => AccountEvent::SecondFactorRequired { from: from.to_string() },
        None => AccountEvent::SecondFactorOptional {},
    };
    let from = from.map(|from| from.midnight().assume_utc());
    let mut transaction = tx::begin(&people.db).await?;
    if !store::update_second_factor_from(&mut transaction, caller.account, caller.user.id, from).await? {
        return Err(PeopleError::NotFound);
    }
    account_log::insert(&mut transaction, caller.account, &Actor::of_caller(caller), &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Requests the deletion of an account after seven days, and returns its time. Until then the account remains usable,
/// and the request can be undone. The caller must be the account's owner.
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
    let mail = MailKind::DeletionAsked {
        account_name: name.ok_or(PeopleError::NotFound)?,
        delete_at,
    };
    mails::insert(&mut transaction, &email, Some(user), &mail, now).await?;
    let event = AccountEvent::DeletionAsked {
        on: delete_at.to_offset(UtcOffset::UTC).date().to_string(),
    };
    account_log::insert(&mut transaction, account, &Actor::of_caller(caller), &event, now).await?;
    tx::commit(transaction).await?;
    Ok(delete_at)
}

/// Undoes the request to delete an account. The caller must be its owner.
pub async fn undo_deletion(people: &People, caller: &Caller, now: OffsetDateTime) -> Result<(), PeopleError> {
    let (account, actor) = (caller.account, Actor::of_caller(caller));
    let mut transaction = tx::begin(&people.db).await?;
    let name = store::update_delete_at(&mut transaction, account, caller.user.id, None, now).await?;
    name.ok_or(PeopleError::NotFound)?;
    account_log::insert(&mut transaction, account, &actor, &AccountEvent::DeletionUndone {}, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Deletes the accounts whose deletion is due.
pub async fn delete_due(
    people: &People,
    documents: &DefaultStorage,
    now: OffsetDateTime,
) -> Result<(), DeleteAccountError> {
    for (account, order) in store::list_to_delete(&people.db, now).await? {
        accounts::delete(&people.db, documents, account, order, now).await?;
        tracing::info!(account_id = %account.account, "account deleted on its owner's request");
    }
    Ok(())
}
