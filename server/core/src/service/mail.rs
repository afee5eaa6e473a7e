//! Mail. Messages are composed when they are sent, so that they are up to date and the database stores no links.

use std::{sync::Arc, time::Duration as StdDuration};

use platen_domain::{
    email::Email,
    ids::{AccountId, MailId, UserId},
    job::{CRASHES, JobKind},
    mail::{
        ComposedMail, MailKind,
        texts::{self, payment, second_factor},
    },
    one_time_token::{OneTimeToken, Purpose},
};
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tokio::time::sleep;
use url::Url;

use crate::{
    clock,
    config::http::HttpConfig,
    outbound::mail::{SendMailError, SmtpClient},
    service::metrics::{Metrics, outcome::MailOutcome},
    store::{
        accounts::OwnerAddress,
        error::StoreError,
        invitations,
        jobs::{self, Claim},
        mails::{self, QueuedMail, StoredMail},
        members, one_time_tokens, sign_ups, tx, users,
    },
};

/// Mails that the development inbox shows.
const SHOWN: i64 = 200;
/// Interval between attempts to delete a sent mail.
const TRY_AGAIN: StdDuration = StdDuration::from_secs(1);
/// Retention of mails. An older mail that wasn't sent is of no use any more.
const LIFETIME: Duration = Duration::days(3);

/// Destination of mail.
#[derive(Clone)]
pub enum Delivery {
    /// Mail is sent through a server.
    Smtp(Arc<SmtpClient>),
    /// Mail is stored as it would have been sent, for developers.
    Stored,
    /// Mail waits until a server is configured.
    None,
}

impl Delivery {
    /// Returns [`Self::Smtp`] if a server is configured; else [`Self::Stored`] if only this machine can reach the
    /// service, and [`Self::None`] otherwise.
    pub fn choose(smtp: Option<SmtpClient>, http: &HttpConfig) -> Self {
        match smtp {
            Some(client) => Self::Smtp(Arc::new(client)),
            None if http.is_private() => Self::Stored,
            None => Self::None,
        }
    }
}

/// Dependencies of sending mail. Cheap to clone.
#[derive(Clone)]
pub struct Mailing {
    pub db: PgPool,
    pub delivery: Delivery,
    /// Base of the links in mails.
    pub base_url: Url,
    pub metrics: Arc<Metrics>,
}

impl Mailing {
    /// Returns whether mail is sent or stored, rather than waiting for a server to be configured.
    pub fn is_delivered(&self) -> bool {
        !matches!(self.delivery, Delivery::None)
    }
}

/// Sends the mail of a claimed job.
pub async fn send(mailing: &Mailing, claim: &Claim, id: MailId) -> Result<(), StoreError> {
    let db = &mailing.db;
    if claim.crashes >= CRASHES {
        jobs::release(db, claim, None, Some("the service crashed during each attempt")).await?;
        return Ok(());
    }
    let Some(mail) = mails::find(db, id).await? else {
        jobs::complete(db, claim).await?;
        return Ok(());
    };
    let Some(written) = write(mailing, &mail, clock::now()).await? else {
        return mails::delete(db, id).await;
    };
    let client = match &mailing.delivery {
        Delivery::Smtp(client) => client,
        Delivery::Stored | Delivery::None => return store(db, claim, id, &written).await,
    };
    let kind = mail.letter.into_str();
    let outcome = match client.send(id, &mail.recipient, written).await {
        Ok(()) => {
            tracing::info!(mail_id = %id, kind, "sent a mail");
            // Until it is deleted, it would be sent again.
            while let Err(error) = mails::delete(db, id).await {
                tracing::warn!(mail_id = %id, %error, "a sent mail could not be deleted; trying again");
                sleep(TRY_AGAIN).await;
            }
            MailOutcome::Sent
        }
        Err(error) => {
            let delay = match &error {
                SendMailError::Passing(_) => JobKind::Mail.delay(claim.failures, rand::random()),
                SendMailError::Final(_) => None,
            };
            tracing::warn!(mail_id = %id, kind, %error, again = delay.is_some(), "a mail could not be sent");
            jobs::release(db, claim, delay, Some(&error.to_string())).await?;
            delay.map_or(MailOutcome::GivenUp, |_| MailOutcome::Retried)
        }
    };
    mailing.metrics.mail_tried(outcome);
    Ok(())
}

async fn store(db: &PgPool, claim: &Claim, id: MailId, written: &ComposedMail) -> Result<(), StoreError> {
    let mut transaction = tx::begin(db).await?;
    mails::store(&mut transaction, id, written).await?;
    jobs::complete(&mut *transaction, claim).await?;
    tx::commit(transaction).await
}

/// Enqueues a mail to the owner of an account, in the transaction of its cause.
pub(super) async fn write_to_owner(
    db: &mut PgConnection,
    owner: &OwnerAddress,
    mail: &MailKind,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    write_to(db, &owner.email, None, mail, now).await
}

/// Enqueues a mail to the owner and each admin of an account, in the transaction of its cause.
pub(super) async fn write_to_managers(
    db: &mut PgConnection,
    account: AccountId,
    mail: &MailKind,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    for address in members::list_manager_addresses(db, account).await? {
        write_to(db, &address, None, mail, now).await?;
    }
    Ok(())
}

/// Enqueues a mail to a stored address, in the transaction of its cause. `user` is the user whom it concerns, if any.
pub(super) async fn write_to(
    db: &mut PgConnection,
    address: &str,
    user: Option<UserId>,
    mail: &MailKind,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    // The address was valid when it was stored; if it isn't any more, there is no mail.
    match address.parse::<Email>() {
        Ok(email) => mails::insert(db, &email, user, mail, now).await,
        Err(_) => Ok(()),
    }
}

/// Composes a mail from the current state. Returns `None` if its cause or its recipient no longer exists.
async fn write(mailing: &Mailing, mail: &QueuedMail, now: OffsetDateTime) -> Result<Option<ComposedMail>, StoreError> {
    let (db, base) = (&mailing.db, &mailing.base_url);
    let Ok(recipient) = mail.recipient.parse::<Email>() else {
        return Ok(None);
    };
    let written = match &mail.letter {
        MailKind::VerifyAddress => {
            if users::find_by_email(db, &recipient).await?.is_some() {
                texts::account_exists(base)
            } else if sign_ups::list(db, &recipient, now).await?.is_empty() {
                return Ok(None);
            } else {
                let token = token(db, Purpose::Verify, &recipient, None, now).await?;
                texts::verify_address(base, &token)
            }
        }
        MailKind::ResetPassword => {
            let Some(user) = users::find_by_email(db, &recipient).await? else {
                return Ok(None);
            };
            let token = token(db, Purpose::ResetPassword, &recipient, Some(user.id), now).await?;
            texts::reset_password(base, &token)
        }
        MailKind::ConfirmAddress => {
            if users::find_by_email(db, &recipient).await?.is_some() {
                texts::account_exists(base)
            } else {
                let token = token(db, Purpose::ChangeEmail, &recipient, mail.user, now).await?;
                texts::confirm_address(base, &token)
            }
        }
        MailKind::AddressChangeAsked { new_address } => texts::address_change_asked(base, new_address),
        MailKind::AddressChanged { new_address } => texts::address_changed(new_address),
        MailKind::PasswordChanged => texts::password_changed(base),
        MailKind::SecondFactorOn => second_factor::turned_on(base),
        MailKind::SecondFactorOff => second_factor::turned_off(base),
        MailKind::AppOff => second_factor::app_off(base),
        MailKind::PasskeyAdded { name } => second_factor::passkey_added(base, name),
        MailKind::PasskeyRemoved { name } => second_factor::passkey_removed(base, name),
        MailKind::RecoveryCodeUsed { left } => second_factor::recovery_code_used(base, *left),
        MailKind::NewDevice { device, address, at } => texts::new_device(base, device, *address, *at),
        MailKind::DeletionAsked {
            account_name,
            delete_at,
        } => texts::deletion_asked(base, account_name, *delete_at),
        MailKind::Invitation { invitation } => {
            let token = OneTimeToken::from_random(rand::random());
            let words = invitations::update_digest(db, *invitation, token.digest(), now).await?;
            let Some(words) = words else {
                return Ok(None);
            };
            texts::invitation(base, &words.account_name, &words.invited_by, &token)
        }
        MailKind::Removed { account_name } => texts::removed(base, account_name),
        MailKind::OwnerChanged { account_name, owner } => texts::owner_changed(base, account_name, owner),
        MailKind::ExportReady {
            account_name,
            delete_at,
        } => texts::export_ready(base, account_name, *delete_at),
        MailKind::AccountSuspended { account, reason } => texts::account_suspended(base, account, reason),
        MailKind::AccountRestored { account } => texts::account_restored(base, account),
        MailKind::PaymentFailed { account, plan, until } => payment::failed(base, account, plan, *until),
        MailKind::CreditsUsed {
            account,
            used,
            own,
            overage_limit,
            ends_at,
        } => payment::credits_used(base, account, *used, *own, *overage_limit, *ends_at),
        MailKind::PlanLost { account, plan } => payment::plan_lost(base, account, plan),
        MailKind::KeyExpiring {
            account,
            key,
            name,
            expires_at,
        } => texts::key_expiring(base, account, *key, name, *expires_at),
        MailKind::WebhookEndpointDisabled { account, address } => {
            texts::webhook_endpoint_disabled(base, account, address)
        }
        MailKind::ExportFailed { account_name } => texts::export_failed(base, account_name),
    };
    Ok(Some(written))
}

async fn token(
    db: &PgPool,
    purpose: Purpose,
    email: &Email,
    user: Option<UserId>,
    now: OffsetDateTime,
) -> Result<OneTimeToken, StoreError> {
    let token = OneTimeToken::from_random(rand::random());
    one_time_tokens::insert(db, token.digest(), purpose, email, user, now).await?;
    Ok(token)
}

/// Returns the latest 200 stored mails, the latest first. See [`Delivery::Stored`].
pub async fn list_stored(db: &PgPool) -> Result<Vec<StoredMail>, StoreError> {
    mails::list_stored(db, None, SHOWN).await
}

/// Returns a stored mail.
pub async fn find_stored(db: &PgPool, id: MailId) -> Result<Option<StoredMail>, StoreError> {
    Ok(mails::list_stored(db, Some(id), 1).await?.pop())
}

/// Deletes mails past their retention, whether they were sent or not.
pub async fn purge(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    mails::delete_before(db, now - LIFETIME).await
}
