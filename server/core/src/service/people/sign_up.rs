//! Sign-up. A user is created when access to the mailbox and knowledge of the chosen password are proven together. So
//! an attacker can't prepare an account for a victim who only follows a link.

use platen_domain::{
    client::Client,
    display_name::DisplayName,
    email::Email,
    ids::UserId,
    mail::MailKind,
    one_time_token::{Purpose, TokenDigest},
    password::{Check, Password},
};
use secrecy::{ExposeSecret, SecretString};
use time::{Duration, OffsetDateTime};
use tower_sessions::Session;

use crate::{
    service::{
        accounts::{self, CreateAccountError, NewOwner, PlanChoice},
        people::{People, PeopleError, devices, limits::Guesser, read, read_email},
        sessions::{self, Stay},
    },
    store::{
        mails, one_time_tokens,
        sessions::Holder,
        sign_ups::{self, NewSignUp, SignUp},
        tx,
    },
};

/// Plan of new accounts.
const PLAN: &str = "Free";
/// Time for which a sign-up can be confirmed. Its mail can be sent again.
const LIFETIME: Duration = Duration::days(7);

/// Content of the sign-up form. Validation errors are at `/name`, `/email`, `/account_name` and `/password`.
#[derive(Debug, Clone)]
pub struct SignUpForm {
    /// Display name of the user.
    pub name: String,
    /// Email address as typed.
    pub email: String,
    /// Display name of the account.
    pub account_name: String,
    pub password: SecretString,
}

/// Stores a sign-up and mails a link to its address. If the address has an account, only the content of the mail
/// differs.
pub async fn sign_up(
    people: &People,
    client: &Client,
    form: SignUpForm,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let mut problems = Vec::new();
    let name = read(&mut problems, "/name", form.name.parse::<DisplayName>());
    let email = read(&mut problems, "/email", form.email.trim().parse::<Email>());
    let account_name = read(&mut problems, "/account_name", form.account_name.parse::<DisplayName>());
    let password = read(&mut problems, "/password", Password::parse(form.password));
    let (Some(name), Some(email), Some(account_name), Some(password)) = (name, email, account_name, password) else {
        return Err(PeopleError::Invalid(problems));
    };
    people.limits.ask_for_mail(client, &email)?;
    let password_hash = people.passwords.hash(password).await?;
    let new = NewSignUp {
        email: &email,
        name: &name,
        account_name: &account_name,
        password_hash: &password_hash,
        expires_at: now + LIFETIME,
    };
    let mut transaction = tx::begin(&people.db).await?;
    sign_ups::insert(&mut transaction, new, now).await?;
    mails::insert(&mut transaction, &email, None, &MailKind::VerifyAddress, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Sends the mail of a sign-up again, if there is one with this address.
pub async fn send_again(people: &People, client: &Client, email: &str, now: OffsetDateTime) -> Result<(), PeopleError> {
    let email = read_email(email)?;
    people.limits.ask_for_mail(client, &email)?;
    let mut connection = tx::begin(&people.db).await?;
    mails::insert(&mut connection, &email, None, &MailKind::VerifyAddress, now).await?;
    Ok(tx::commit(connection).await?)
}

/// Completes a sign-up by the token of its link and the chosen password: creates the user and the account, and logs the
/// user in.
pub async fn verify(
    people: &People,
    session: &Session,
    client: &Client,
    token: &str,
    password: SecretString,
    now: OffsetDateTime,
) -> Result<UserId, PeopleError> {
    let digest = TokenDigest::of(token);
    let subject = one_time_tokens::find(&people.db, digest, Purpose::Verify, now).await?;
    let email = subject.ok_or(PeopleError::WorthlessLink)?.email;
    people.limits.try_password(client, &email, Guesser::LinkHolder)?;
    let sign_ups = sign_ups::list(&people.db, &email, now).await?;
    if sign_ups.is_empty() {
        return Err(PeopleError::WorthlessLink);
    }
    let sign_up = chosen_with(people, sign_ups, &password)
        .await?
        .ok_or(PeopleError::WrongPassword)?;
    let mut transaction = tx::begin(&people.db).await?;
    if !one_time_tokens::use_up(&mut transaction, digest, Purpose::Verify, now).await? {
        return Err(PeopleError::WorthlessLink);
    }
    let owner = NewOwner {
        email: &email,
        name: &sign_up.name,
        account_name: &sign_up.account_name,
        password_hash: &sign_up.password_hash,
    };
    let plan = PlanChoice {
        plan: PLAN.to_owned(),
        credits: None,
    };
    let created = accounts::insert(&mut transaction, &owner, &plan, now).await;
    let user = created.map_err(cannot_create)?.owner;
    sign_ups::delete(&mut transaction, &email).await?;
    one_time_tokens::delete_verifying(&mut transaction, &email).await?;
    tx::commit(transaction).await?;
    people.limits.forgive(&email, Guesser::LinkHolder);
    devices::note(people, user, &email, client, None, now).await?;
    let holder = Holder { user, epoch: 0 };
    sessions::begin(session, holder, client, Stay::WhileOpen, now).await?;
    Ok(user)
}

/// Returns the latest sign-up with this password.
async fn chosen_with(
    people: &People,
    sign_ups: Vec<SignUp>,
    password: &SecretString,
) -> Result<Option<SignUp>, PeopleError> {
    for sign_up in sign_ups {
        let hash = sign_up.password_hash.clone();
        let typed = password.expose_secret().to_owned().into();
        if people.passwords.check(typed, Some(hash)).await? != Check::Wrong {
            return Ok(Some(sign_up));
        }
    }
    Ok(None)
}

fn cannot_create(error: CreateAccountError) -> PeopleError {
    match error {
        CreateAccountError::EmailTaken(_) => PeopleError::EmailTaken,
        CreateAccountError::UnknownPlan(unknown) => {
            tracing::error!(%unknown, "the plan of new accounts does not exist");
            PeopleError::NotFound
        }
        CreateAccountError::Store(error) => error.into(),
    }
}
