//! Invitations to accounts. An invitation is bound to an email address: its link proves access to that mailbox, and
//! admits the user with the address, or creates one.
//!
//! Inviting reveals nothing about an address: the behavior is the same whether it has a user or not.

use platen_domain::{
    account_log::{AccountEvent, Actor},
    caller::{Caller, User},
    client::Client,
    display_name::DisplayName,
    email::Email,
    ids::{AccountId, InvitationId, UserId},
    mail::MailKind,
    one_time_token::TokenDigest,
    password::Password,
    role::Role,
    team::{Guest, Invitation, OpenedInvitation},
    validation::Problem,
};
use secrecy::SecretString;
use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};
use tower_sessions::Session;

use crate::{
    service::{
        people::{People, PeopleError, devices, limits::Guesser, read, read_email, taken_or},
        sessions::{self, Stay},
    },
    store::{
        account_log,
        error::StoreError,
        invitations::{self, NewInvitation},
        mails, members, one_time_tokens,
        sessions::Holder,
        sign_ups, tx,
        users::{self, NewUser},
    },
};

/// Time for which an invitation is valid.
pub const LIFETIME: Duration = Duration::days(7);
/// Time for which an expired invitation remains listed.
const SHOWN: Duration = Duration::days(30);
/// Addresses that one form can invite.
const MOST_AT_ONCE: usize = 20;
/// Invitation mails that an account can send in a day, so that invitations can't be used for spam.
const MOST_A_DAY: usize = 50;

/// Invites users to the caller's account, by one mail each. Renews existing invitations. Returns the number of invited
/// addresses. Validation errors are at `/emails`.
pub async fn invite(
    people: &People,
    caller: &Caller,
    client: &Client,
    emails: &str,
    role: Role,
    now: OffsetDateTime,
) -> Result<usize, PeopleError> {
    let emails = addresses(emails).ok_or_else(faulty)?;
    let mut transaction = tx::begin(&people.db).await?;
    // Serializes invitations and changes of membership of this account.
    members::lock_account(&mut transaction, caller.account).await?;
    if members::any_has_address(&mut transaction, caller.account, &emails).await? {
        return Err(faulty());
    }
    hold_to_limits(people, &mut transaction, caller.account, client, &emails, now).await?;
    for email in &emails {
        let event = AccountEvent::MemberInvited {
            email: email.as_str().to_owned(),
            role: role.into_str().to_owned(),
        };
        write(&mut transaction, caller, email, role, &event, now).await?;
    }
    tx::commit(transaction).await?;
    Ok(emails.len())
}

/// Creates an invitation, or renews the address's existing one, and enqueues its mail.
async fn write(
    transaction: &mut PgConnection,
    caller: &Caller,
    email: &Email,
    role: Role,
    event: &AccountEvent,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let new = NewInvitation {
        email,
        role,
        invited_by: &caller.user.email,
        expires_at: now + LIFETIME,
    };
    let invitation = invitations::upsert(transaction, caller.account, new, now).await?;
    mails::insert(transaction, email, None, &MailKind::Invitation { invitation }, now).await?;
    account_log::insert(transaction, caller.account, &Actor::of_caller(caller), event, now).await
}

fn faulty() -> PeopleError {
    let detail = "1 to 20 addresses of people who are not members, separated by commas";
    PeopleError::Invalid(vec![Problem::invalid("/emails", detail)])
}

/// Parses and deduplicates the typed addresses. Returns `None` if one is invalid, or there are none or too many.
fn addresses(typed: &str) -> Option<Vec<Email>> {
    let parts = typed.split(|character: char| character.is_whitespace() || matches!(character, ',' | ';'));
    let read: Option<Vec<Email>> = parts
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().ok())
        .collect();
    let mut emails = read?;
    emails.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
    emails.dedup();
    (1..=MOST_AT_ONCE).contains(&emails.len()).then_some(emails)
}

/// Enforces the limits of mails by account, address and client.
async fn hold_to_limits(
    people: &People,
    transaction: &mut PgConnection,
    account: AccountId,
    client: &Client,
    emails: &[Email],
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let sent = account_log::count_invitations(transaction, account, now - Duration::DAY).await?;
    if sent + emails.len() > MOST_A_DAY {
        return Err(PeopleError::TooManyInvitations);
    }
    for email in emails {
        people.limits.ask_for_mail(client, email)?;
    }
    Ok(())
}

/// Returns the invitations of an account, the latest first.
pub async fn list(people: &People, account: AccountId) -> Result<Vec<Invitation>, PeopleError> {
    Ok(invitations::list(&people.db, account).await?)
}

/// Sends an invitation again, with a new link that invalidates the previous one.
pub async fn send_again(
    people: &People,
    caller: &Caller,
    client: &Client,
    id: InvitationId,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let mut transaction = tx::begin(&people.db).await?;
    members::lock_account(&mut transaction, caller.account).await?;
    let found = invitations::lock(&mut transaction, caller.account, id).await?;
    let (email, role) = found.ok_or(PeopleError::NotFound)?;
    let email = read_email(&email)?;
    let emails = std::slice::from_ref(&email);
    hold_to_limits(people, &mut transaction, caller.account, client, emails, now).await?;
    let event = AccountEvent::InvitationSentAgain {
        email: email.as_str().to_owned(),
    };
    write(&mut transaction, caller, &email, role, &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Withdraws an invitation and invalidates its link.
pub async fn withdraw(
    people: &People,
    caller: &Caller,
    id: InvitationId,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let mut transaction = tx::begin(&people.db).await?;
    let email = invitations::delete(&mut transaction, caller.account, id).await?;
    let event = AccountEvent::InvitationWithdrawn {
        email: email.ok_or(PeopleError::NotFound)?,
    };
    account_log::insert(&mut transaction, caller.account, &Actor::of_caller(caller), &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Returns the invitation of a link, and its visitor. `user` is the logged-in user, if any. The link remains valid. It
/// may reveal whether its address has a user, because its holder reads that address's mail.
pub async fn open(
    people: &People,
    token: &str,
    user: Option<UserId>,
    now: OffsetDateTime,
) -> Result<(OpenedInvitation, Guest), PeopleError> {
    let opened = invitations::find(&people.db, TokenDigest::of(token), now).await?;
    let opened = opened.ok_or(PeopleError::WorthlessLink)?;
    let visitor = match user {
        Some(user) => users::find(&people.db, user).await?,
        None => None,
    };
    let guest = match visitor {
        Some(visitor) if visitor.email == opened.email => Guest::Themselves,
        Some(visitor) => Guest::OtherUser(visitor.email),
        None => match users::find_by_email(&people.db, &read_email(&opened.email)?).await? {
            Some(_) => Guest::LoggedOut,
            None => Guest::New,
        },
    };
    Ok((opened, guest))
}

/// Adds the logged-in user to the account, if the invitation is for their address, and switches their session to it.
pub async fn accept(
    people: &People,
    session: &Session,
    user: UserId,
    client: &Client,
    token: &str,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let (opened, guest) = open(people, token, Some(user), now).await?;
    if guest != Guest::Themselves {
        return Err(PeopleError::OthersInvitation);
    }
    let guest = User {
        id: user,
        email: opened.email.clone(),
    };
    let mut transaction = tx::begin(&people.db).await?;
    join(&mut transaction, &opened, guest, client, token, now).await?;
    tx::commit(transaction).await?;
    Ok(sessions::switch_account(session, opened.account).await?)
}

/// Creates a user for an invitation, adds them to the account and logs them in. Validation errors are at `/name` and
/// `/password`.
pub async fn join_as_new(
    people: &People,
    session: &Session,
    client: &Client,
    token: &str,
    name: &str,
    password: SecretString,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let (opened, guest) = open(people, token, None, now).await?;
    let mut problems = Vec::new();
    let name = read(&mut problems, "/name", name.parse::<DisplayName>());
    let password = read(&mut problems, "/password", Password::parse(password));
    let (Some(name), Some(password)) = (name, password) else {
        return Err(PeopleError::Invalid(problems));
    };
    if guest != Guest::New {
        return Err(PeopleError::EmailTaken);
    }
    let email = read_email(&opened.email)?;
    people.limits.try_password(client, &email, Guesser::LinkHolder)?;
    let password_hash = people.passwords.hash(password).await?;
    let user = UserId::generate();
    let new = NewUser {
        id: user,
        email: &email,
        name: name.as_str(),
        password_hash: &password_hash,
    };
    let guest = User {
        id: user,
        email: opened.email.clone(),
    };
    let mut transaction = tx::begin(&people.db).await?;
    users::insert(&mut transaction, new, now).await.map_err(taken_or)?;
    join(&mut transaction, &opened, guest, client, token, now).await?;
    // Pending sign-ups with this address become invalid.
    sign_ups::delete(&mut transaction, &email).await?;
    one_time_tokens::delete_verifying(&mut transaction, &email).await?;
    tx::commit(transaction).await?;
    people.limits.forgive(&email, Guesser::LinkHolder);
    devices::note(people, user, &email, client, None, now).await?;
    let holder = Holder { user, epoch: 0 };
    sessions::begin(session, holder, client, Stay::WhileOpen, now).await?;
    Ok(sessions::choose_account(session, opened.account).await?)
}

/// Redeems the invitation, after concurrent changes of the account's membership.
async fn join(
    transaction: &mut PgConnection,
    opened: &OpenedInvitation,
    guest: User,
    client: &Client,
    token: &str,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let role = invitations::use_up(transaction, opened.account, TokenDigest::of(token), now).await?;
    let role = role.ok_or(PeopleError::WorthlessLink)?;
    members::insert(transaction, opened.account, guest.id, role, now).await?;
    let event = AccountEvent::MemberJoined {
        role: role.into_str().to_owned(),
    };
    let actor = Actor::of_person(guest, client);
    Ok(account_log::insert(transaction, opened.account, &actor, &event, now).await?)
}

/// Deletes invitations that expired too long ago to be listed.
pub(super) async fn purge(people: &People, now: OffsetDateTime) -> Result<(), StoreError> {
    invitations::delete_expired(&people.db, now - SHOWN).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invited_addresses_are_split_normalized_and_limited() {
        let read = |typed: &str| {
            addresses(typed).map(|emails| emails.iter().map(|email| email.as_str().to_owned()).collect::<Vec<_>>())
        };
        let expected = ["ann@example.org", "bob@example.org"].map(str::to_owned).to_vec();
        assert_eq!(
            read(" bob@example.org,Ann@example.org; ann@example.org\r\n"),
            Some(expected)
        );
        assert_eq!(read("ann@example.org, bob"), None);
        assert_eq!(read(" , "), None);
        let many: Vec<_> = (0..=MOST_AT_ONCE)
            .map(|number| format!("a{number}@example.org"))
            .collect();
        assert_eq!(read(&many.join(",")), None);
    }
}
