//! Webhook endpoints of accounts: creating, changing, testing and deleting them.

use platen_domain::{
    account_log::{AccountEvent, Actor},
    callback::shown_address,
    encryption::{EncryptionError, Place},
    ids::{AccountId, EndpointId},
    job::JobKind,
    mail::MailKind,
    webhook_endpoint::{EventType, MOST_ENDPOINTS, TEST_EVENT, WebhookEndpoint, read_description, read_events},
};
use serde_json::json;
use sqlx::PgConnection;
use time::OffsetDateTime;
use url::Url;

use crate::{
    clock,
    render_request::rules::webhook_url,
    service::{
        Services,
        data_keys::{DataKeyError, data_key},
        mail::write_to_managers,
    },
    store::{
        account_log, accounts,
        error::StoreError,
        members, tx,
        webhook_endpoints::{self, EndpointSettings},
    },
};

/// A field of the form of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointField {
    Url,
    Description,
    Events,
}

/// Error of an operation on a webhook endpoint.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The account has no such endpoint.
    #[error("there is no such webhook endpoint")]
    NotFound,
    /// These fields are invalid.
    #[error("the webhook endpoint is invalid: {0:?}")]
    Invalid(Vec<EndpointField>),
    /// The account has [`MOST_ENDPOINTS`].
    #[error("an account can have at most {MOST_ENDPOINTS} webhook endpoints")]
    TooMany,
    /// The data key is unavailable.
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    /// The URL can't be encrypted or decrypted.
    #[error("the URL of a webhook endpoint: {0}")]
    Encryption(#[from] EncryptionError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The form of an endpoint, as submitted.
#[derive(Debug)]
pub struct EndpointForm<'a> {
    pub url: &'a str,
    pub description: &'a str,
    pub events: &'a [String],
}

struct ReadForm<'a> {
    url: Url,
    description: &'a str,
    events: Vec<EventType>,
}

/// Parses a form by the rules for webhooks of requests. Host names are resolved when an event is delivered.
fn read<'a>(app: &Services, form: &EndpointForm<'a>) -> Result<ReadForm<'a>, EndpointError> {
    let url = webhook_url(form.url.trim()).filter(|url| app.outbound.check_literal(url).is_ok());
    let (description, events) = (read_description(form.description), read_events(form.events));
    match (url, description, events) {
        (Some(url), Some(description), Some(events)) => Ok(ReadForm {
            url,
            description,
            events,
        }),
        (url, description, events) => {
            let faulty = [
                url.is_none().then_some(EndpointField::Url),
                description.is_none().then_some(EndpointField::Description),
                events.is_none().then_some(EndpointField::Events),
            ];
            Err(EndpointError::Invalid(faulty.into_iter().flatten().collect()))
        }
    }
}

async fn encrypt(app: &Services, account: AccountId, id: EndpointId, url: &Url) -> Result<Vec<u8>, EndpointError> {
    let key = data_key(&app.db, &app.secret_keys, account, clock::now()).await?;
    let place = Place::webhook_endpoint(account, id);
    Ok(key.encrypt(&place, rand::random(), url.as_str().as_bytes().to_vec())?)
}

/// Returns the endpoints of an account, oldest first.
pub async fn list(app: &Services, account: AccountId) -> Result<Vec<WebhookEndpoint>, EndpointError> {
    let stored = webhook_endpoints::list(&app.db, account).await?;
    if stored.is_empty() {
        return Ok(Vec::new());
    }
    let key = data_key(&app.db, &app.secret_keys, account, clock::now()).await?;
    let decrypted = stored.into_iter().map(|stored| {
        let url = key.decrypt(&Place::webhook_endpoint(account, stored.id), stored.sealed_url)?;
        Ok(WebhookEndpoint {
            id: stored.id,
            address: stored.address,
            url: String::from_utf8_lossy(&url).into_owned(),
            description: stored.description,
            events: stored.events,
            state: stored.state,
            inserted_at: stored.inserted_at,
        })
    });
    decrypted.collect()
}

/// Creates an endpoint.
pub async fn create(
    app: &Services,
    account: AccountId,
    actor: &Actor,
    form: &EndpointForm<'_>,
    now: OffsetDateTime,
) -> Result<(), EndpointError> {
    let form = read(app, form)?;
    let id = EndpointId::generate();
    let sealed_url = encrypt(app, account, id, &form.url).await?;
    let address = shown_address(&form.url);
    let settings = EndpointSettings {
        sealed_url: &sealed_url,
        address: &address,
        description: form.description,
        events: &form.events,
    };
    let mut transaction = tx::begin(&app.db).await?;
    // Concurrent requests must not exceed the maximum together.
    members::lock_account(&mut transaction, account).await?;
    if webhook_endpoints::count(&mut transaction, account).await? >= MOST_ENDPOINTS {
        return Err(EndpointError::TooMany);
    }
    webhook_endpoints::insert(&mut transaction, account, id, &settings, now).await?;
    let event = AccountEvent::WebhookEndpointCreated {
        address: address.clone(),
    };
    account_log::insert(&mut transaction, account, actor, &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Changes an endpoint. Pending deliveries are sent to its new URL.
pub async fn update(
    app: &Services,
    account: AccountId,
    actor: &Actor,
    id: EndpointId,
    form: &EndpointForm<'_>,
    now: OffsetDateTime,
) -> Result<(), EndpointError> {
    let form = read(app, form)?;
    let sealed_url = encrypt(app, account, id, &form.url).await?;
    let address = shown_address(&form.url);
    let settings = EndpointSettings {
        sealed_url: &sealed_url,
        address: &address,
        description: form.description,
        events: &form.events,
    };
    let mut transaction = tx::begin(&app.db).await?;
    if !webhook_endpoints::update(&mut transaction, account, id, &settings).await? {
        return Err(EndpointError::NotFound);
    }
    let event = AccountEvent::WebhookEndpointChanged {
        address: address.clone(),
    };
    account_log::insert(&mut transaction, account, actor, &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Enables or disables an endpoint. Does nothing if it is already in that state. Pending deliveries to a disabled
/// endpoint are stopped; an enabled one starts without failures.
pub async fn switch(
    app: &Services,
    account: AccountId,
    actor: &Actor,
    id: EndpointId,
    enable: bool,
    now: OffsetDateTime,
) -> Result<(), EndpointError> {
    let mut transaction = tx::begin(&app.db).await?;
    let db = &mut *transaction;
    let endpoint = webhook_endpoints::lock(db, account, id).await?;
    let address = endpoint.ok_or(EndpointError::NotFound)?.address;
    let (changed, event) = if enable {
        let changed = webhook_endpoints::enable(db, account, id).await?;
        (changed, AccountEvent::WebhookEndpointEnabled { address })
    } else {
        let changed = webhook_endpoints::disable(db, account, id, false, now).await?;
        (changed, AccountEvent::WebhookEndpointDisabled { address })
    };
    if changed {
        account_log::insert(db, account, actor, &event, now).await?;
    }
    Ok(tx::commit(transaction).await?)
}

/// Disables an endpoint whose deliveries keep failing, and mails the owner and the admins.
pub(super) async fn disable_failing(
    db: &mut PgConnection,
    account: AccountId,
    id: EndpointId,
    address: String,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    webhook_endpoints::disable(db, account, id, true, now).await?;
    let mail = MailKind::WebhookEndpointDisabled {
        account: accounts::find_called(&mut *db, account).await?.unwrap_or_default(),
        address: address.clone(),
    };
    write_to_managers(db, account, &mail, now).await?;
    let event = AccountEvent::WebhookEndpointFailed { address };
    account_log::insert(db, account, &Actor::SERVICE, &event, now).await
}

/// Deletes an endpoint and the log of its deliveries.
pub async fn delete(
    app: &Services,
    account: AccountId,
    actor: &Actor,
    id: EndpointId,
    now: OffsetDateTime,
) -> Result<(), EndpointError> {
    let mut transaction = tx::begin(&app.db).await?;
    let db = &mut *transaction;
    let endpoint = webhook_endpoints::lock(db, account, id).await?;
    let address = endpoint.ok_or(EndpointError::NotFound)?.address;
    webhook_endpoints::delete(db, account, id).await?;
    let event = AccountEvent::WebhookEndpointDeleted { address };
    account_log::insert(db, account, actor, &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Sends a test event to an endpoint, even if it is disabled. It is not retried.
pub async fn test(
    app: &Services,
    account: AccountId,
    id: EndpointId,
    now: OffsetDateTime,
) -> Result<(), EndpointError> {
    let mut transaction = tx::begin(&app.db).await?;
    let endpoint = webhook_endpoints::lock(&mut transaction, account, id).await?;
    endpoint.ok_or(EndpointError::NotFound)?;
    let data = json!({"endpoint_id": id, "livemode": false});
    webhook_endpoints::insert_test(&mut transaction, account, id, TEST_EVENT, &data, now).await?;
    tx::commit(transaction).await?;
    app.jobs.added(JobKind::Delivery);
    Ok(())
}
