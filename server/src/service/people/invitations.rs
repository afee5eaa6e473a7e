//! Asking people into an account, and coming in. An invitation is bound to an address: whoever follows its link reads
//! the mail of that address, and comes in as the user who has it, or as a new one.
//!
//! Whoever asks somebody in learns nothing of them: all is the same whether the address has a user or not.

use platen_app::model::role::Role;
use secrecy::SecretString;
use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};
use tower_sessions::Session;

use crate::{
    domain::{
        account_log::{Deed, Doer},
        caller::{Caller, User},
        client::Client,
        display_name::DisplayName,
        email::Email,
        ids::{AccountId, InvitationId, UserId},
        mail::Letter,
        one_time_token::TokenDigest,
        password::Password,
        validation::Fault,
    },
    service::{
        people::{People, PeopleError, devices, limits::Guesser, read, read_email},
        sessions::{self, Stay},
    },
    store::{
        account_log,
        error::StoreError,
        invitations::{self, Invitation, NewInvitation, Opened},
        mails, members, one_time_tokens,
        sessions::Holder,
        sign_ups, tx,
        users::{self, NewUser},
    },
};

/// So long somebody may take to come.
pub const LIFETIME: Duration = Duration::days(7);
/// So long an invitation that was not followed is shown as such.
const SHOWN: Duration = Duration::days(30);
/// Addresses that can be asked in by one form.
const MOST_AT_ONCE: usize = 20;
/// Mails of invitations that an account can cause in a day: it is no way to write to strangers.
const MOST_A_DAY: usize = 50;

/// Asks people into the caller's account, by one mail each; whoever is asked already gets another mail. Faults are at
/// `/emails`. Says how many are asked.
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
    // Nobody else asks for this account, joins it or leaves it meanwhile.
    members::lock_account(&mut transaction, caller.account).await?;
    if members::any_has_address(&mut transaction, caller.account, &emails).await? {
        return Err(faulty());
    }
    hold_to_limits(people, &mut transaction, caller.account, client, &emails, now).await?;
    for email in &emails {
        let deed = Deed::MemberInvited {
            email: email.as_str().to_owned(),
            role: role.as_str().to_owned(),
        };
        write(&mut transaction, caller, email, role, &deed, now).await?;
    }
    tx::commit(transaction).await?;
    Ok(emails.len())
}

/// Makes an invitation, or renews the one that the address has, and lets its mail be sent.
async fn write(
    transaction: &mut PgConnection,
    caller: &Caller,
    email: &Email,
    role: Role,
    deed: &Deed,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let new = NewInvitation {
        email,
        role,
        invited_by: &caller.user.email,
        expires_at: now + LIFETIME,
    };
    let invitation = invitations::upsert(transaction, caller.account, new, now).await?;
    mails::insert(transaction, email, None, &Letter::Invitation { invitation }, now).await?;
    account_log::insert(transaction, caller.account, &Doer::of_caller(caller), deed, now).await
}

fn faulty() -> PeopleError {
    let detail = "one to twenty addresses, separated by commas, of people who are not members";
    PeopleError::Invalid(vec![Fault::invalid("/emails", detail)])
}

/// What somebody has typed, each address once; `None`: not all are addresses, or there are too many or none.
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

/// Refuses more mails than an account, an address or a place may cause.
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

/// Those who are asked into an account, the latest first.
pub async fn list(people: &People, account: AccountId) -> Result<Vec<Invitation>, PeopleError> {
    Ok(invitations::list(&people.db, account).await?)
}

/// Mails an invitation again, with another link; the former one is worthless then.
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
    hold_to_limits(
        people,
        &mut transaction,
        caller.account,
        client,
        std::slice::from_ref(&email),
        now,
    )
    .await?;
    let deed = Deed::InvitationSentAgain {
        email: email.as_str().to_owned(),
    };
    write(&mut transaction, caller, &email, role, &deed, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Takes an invitation back; its link is worthless then.
pub async fn withdraw(
    people: &People,
    caller: &Caller,
    id: InvitationId,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let mut transaction = tx::begin(&people.db).await?;
    let email = invitations::delete(&mut transaction, caller.account, id).await?;
    let deed = Deed::InvitationWithdrawn {
        email: email.ok_or(PeopleError::NotFound)?,
    };
    account_log::insert(&mut transaction, caller.account, &Doer::of_caller(caller), &deed, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Who has opened a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guest {
    /// Whoever it is for; they are logged in.
    Themselves,
    /// Somebody is logged in under this other address.
    SomebodyElse(String),
    /// Nobody is logged in, but whoever it is for has a user.
    LoggedOut,
    /// Nobody is logged in, and whoever it is for is new here.
    New,
}

/// What a link leads to, and who has opened it; `user`: who is logged in. It stays good. Whoever has the link reads the
/// mail of its address, so that they may know whether it has a user.
pub async fn open(
    people: &People,
    token: &str,
    user: Option<UserId>,
    now: OffsetDateTime,
) -> Result<(Opened, Guest), PeopleError> {
    let opened = invitations::find(&people.db, TokenDigest::of(token), now).await?;
    let opened = opened.ok_or(PeopleError::WorthlessLink)?;
    let visitor = match user {
        Some(user) => users::find(&people.db, user).await?,
        None => None,
    };
    let guest = match visitor {
        Some(visitor) if visitor.email == opened.email => Guest::Themselves,
        Some(visitor) => Guest::SomebodyElse(visitor.email),
        None => match users::find_by_email(&people.db, &read_email(&opened.email)?).await? {
            Some(_) => Guest::LoggedOut,
            None => Guest::New,
        },
    };
    Ok((opened, guest))
}

/// Lets whoever is logged in join, if the invitation is theirs; from now on their session is about that account.
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

/// Makes a user for an invitation, who joins and is logged in. Faults are at `/name` and `/password`.
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
    let mut faults = Vec::new();
    let name = read(&mut faults, "/name", name.parse::<DisplayName>());
    let password = read(&mut faults, "/password", Password::parse(password));
    let (Some(name), Some(password)) = (name, password) else {
        return Err(PeopleError::Invalid(faults));
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
    users::insert(&mut transaction, new, now).await.map_err(|error| {
        if error.violates(users::EMAIL_KEY) {
            PeopleError::EmailTaken
        } else {
            error.into()
        }
    })?;
    join(&mut transaction, &opened, guest, client, token, now).await?;
    // Whoever wanted an account of their own with this address has to begin again.
    sign_ups::delete(&mut transaction, &email).await?;
    one_time_tokens::delete_verifying(&mut transaction, &email).await?;
    tx::commit(transaction).await?;
    people.limits.forgive(&email, Guesser::LinkHolder);
    devices::note(people, user, &email, client, None, now).await?;
    let holder = Holder { user, epoch: 0 };
    sessions::begin(session, holder, client, Stay::WhileOpen, now).await?;
    Ok(sessions::choose_account(session, opened.account).await?)
}

/// Uses the invitation up, once whoever else changes who belongs to the account is done.
async fn join(
    transaction: &mut PgConnection,
    opened: &Opened,
    guest: User,
    client: &Client,
    token: &str,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let role = invitations::use_up(transaction, opened.account, TokenDigest::of(token), now).await?;
    let role = role.ok_or(PeopleError::WorthlessLink)?;
    members::insert(transaction, opened.account, guest.id, role, now).await?;
    let deed = Deed::MemberJoined {
        role: role.as_str().to_owned(),
    };
    let doer = Doer::of_person(guest, client);
    Ok(account_log::insert(transaction, opened.account, &doer, &deed, now).await?)
}

/// Forgets those that nobody has followed for long.
pub(super) async fn purge(people: &People, now: OffsetDateTime) -> Result<(), StoreError> {
    invitations::delete_expired(&people.db, now - SHOWN).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_separated_by_whatever_separates() {
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
