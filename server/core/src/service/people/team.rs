//! Members of an account and their roles. An account always has one owner, who remains until they transfer it.

use platen_domain::{
    account_log::{AccountEvent, Actor},
    caller::Caller,
    ids::{AccountId, UserId},
    mail::MailKind,
    role::Role,
    team::Member,
};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{
    service::people::{People, PeopleError, read_email},
    store::{account_log, accounts, api_keys, mails, members, tx, users},
};

/// Returns the members of an account, its owner first.
pub async fn list(people: &People, account: AccountId) -> Result<Vec<Member>, PeopleError> {
    Ok(members::list(&people.db, account).await?)
}

/// Changes a member's role to admin or member. Returns [`PeopleError::OwnerStays`] for the owner and for the role of
/// owner.
pub async fn change_role(
    people: &People,
    caller: &Caller,
    user: UserId,
    role: Role,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let mut transaction = tx::begin(&people.db).await?;
    members::lock_account(&mut transaction, caller.account).await?;
    let member = of_account(&mut transaction, caller.account, user).await?;
    if member.role == Role::Owner || role == Role::Owner {
        return Err(PeopleError::OwnerStays);
    }
    members::update_role(&mut transaction, caller.account, user, role).await?;
    let event = AccountEvent::RoleChanged {
        email: member.email,
        from: member.role.into_str().to_owned(),
        to: role.into_str().to_owned(),
    };
    account_log::insert(&mut transaction, caller.account, &Actor::of_caller(caller), &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Removes a member from the account at once. Their API keys pass to the caller and remain valid.
pub async fn remove(people: &People, caller: &Caller, user: UserId, now: OffsetDateTime) -> Result<(), PeopleError> {
    if user == caller.user.id {
        return leave(people, caller, now).await;
    }
    let account = caller.account;
    let mut transaction = tx::begin(&people.db).await?;
    members::lock_account(&mut transaction, account).await?;
    let member = of_account(&mut transaction, account, user).await?;
    part(&mut transaction, account, &member, caller.user.id).await?;
    let mail = MailKind::Removed {
        account_name: accounts::find_name(&mut *transaction, account).await?,
    };
    let email = read_email(&member.email)?;
    mails::insert(&mut transaction, &email, None, &mail, now).await?;
    let event = AccountEvent::MemberRemoved { email: member.email };
    account_log::insert(&mut transaction, account, &Actor::of_caller(caller), &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Ends the caller's membership. Their API keys pass to the owner and remain valid.
pub async fn leave(people: &People, caller: &Caller, now: OffsetDateTime) -> Result<(), PeopleError> {
    let account = caller.account;
    let mut transaction = tx::begin(&people.db).await?;
    members::lock_account(&mut transaction, account).await?;
    let member = of_account(&mut transaction, account, caller.user.id).await?;
    let owner = members::find_owner(&mut *transaction, account).await?;
    part(&mut transaction, account, &member, owner.ok_or(PeopleError::NotFound)?).await?;
    let event = AccountEvent::MemberLeft {};
    account_log::insert(&mut transaction, account, &Actor::of_caller(caller), &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Ends a membership. A user without any account is deleted, so that they can sign up again.
async fn part(
    transaction: &mut PgConnection,
    account: AccountId,
    member: &Member,
    heir: UserId,
) -> Result<(), PeopleError> {
    if member.role == Role::Owner {
        return Err(PeopleError::OwnerStays);
    }
    members::delete(transaction, account, member.user).await?;
    api_keys::update_creator(transaction, account, member.user, heir, member.called()).await?;
    Ok(users::delete_without_account(transaction, member.user).await?)
}

/// Transfers the account from the caller to another member. The caller becomes an admin.
pub async fn hand_over(people: &People, caller: &Caller, to: UserId, now: OffsetDateTime) -> Result<(), PeopleError> {
    let (account, owner) = (caller.account, caller.user.id);
    let email = read_email(&caller.user.email)?;
    let mut transaction = tx::begin(&people.db).await?;
    members::lock_account(&mut transaction, account).await?;
    let heir = of_account(&mut transaction, account, to).await?;
    if members::find_owner(&mut *transaction, account).await? != Some(owner) || to == owner {
        return Err(PeopleError::NotFound);
    }
    // An account never has more than one owner.
    members::update_role(&mut transaction, account, owner, Role::Admin).await?;
    members::update_role(&mut transaction, account, to, Role::Owner).await?;
    let mail = MailKind::OwnerChanged {
        account_name: accounts::find_name(&mut *transaction, account).await?,
        owner: heir.email.clone(),
    };
    let heir_email = read_email(&heir.email)?;
    mails::insert(&mut transaction, &email, Some(owner), &mail, now).await?;
    mails::insert(&mut transaction, &heir_email, Some(to), &mail, now).await?;
    let event = AccountEvent::OwnerChanged {
        from: caller.user.email.clone(),
        to: heir.email,
    };
    account_log::insert(&mut transaction, account, &Actor::of_caller(caller), &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

async fn of_account(transaction: &mut PgConnection, account: AccountId, user: UserId) -> Result<Member, PeopleError> {
    let found = members::find(transaction, account, user).await?;
    found.ok_or(PeopleError::NotFound)
}
