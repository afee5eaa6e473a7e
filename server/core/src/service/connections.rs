//! Storage connections: creating, listing, changing, testing and deleting them, and delivery of documents through them.

pub mod buckets;
pub mod delivery;
pub mod probe;
pub mod rejected_credentials;

use platen_domain::{
    account_log::{AccountEvent, Actor},
    connection::{Connection, ConnectionTest, NewConnection, Settings, credentials::Credentials},
    ids::{AccountId, ConnectionId},
    page::{Page, PageRequest},
    validation::{Problem, quote},
};
use sqlx::PgPool;

use crate::{
    clock,
    service::connections::buckets::{Buckets, BucketsError},
    store::{account_log, connection_tests, connections, error::StoreError, tx},
};

/// Error of an operation on a storage connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The account has no such connection.
    #[error("there is no such connection")]
    NotFound,
    /// The name or path prefix is taken, or the service has no identity at the store.
    #[error("the request body is invalid")]
    Invalid(Vec<Problem>),
    /// Its credentials could not be encrypted or decrypted.
    #[error(transparent)]
    Buckets(#[from] BucketsError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates a connection. Its credentials are stored encrypted and never returned.
pub async fn create(
    buckets: &Buckets,
    account: AccountId,
    actor: &Actor,
    new: NewConnection,
) -> Result<Connection, ConnectionError> {
    check_identity(buckets, &new.credentials)?;
    let connection = Connection {
        id: ConnectionId::generate(),
        identity: new.credentials.identity().to_owned(),
        settings: new.settings,
        revision: 1,
        inserted_at: clock::now(),
    };
    let encrypted = buckets.encrypt(account, connection.id, &new.credentials).await?;
    let mut transaction = tx::begin(buckets.db()).await?;
    connections::insert(&mut transaction, account, &connection, &encrypted)
        .await
        .map_err(|error| taken_or(error, &connection.settings))?;
    let event = AccountEvent::ConnectionCreated {
        name: connection.settings.name.clone(),
    };
    account_log::insert(&mut transaction, account, actor, &event, connection.inserted_at).await?;
    tx::commit(transaction).await?;
    Ok(connection)
}

/// Returns a page of the account's connections, the latest first.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    page: PageRequest<ConnectionId>,
) -> Result<Page<Connection, ConnectionId>, ConnectionError> {
    let found = connections::list(db, account, page).await?;
    Ok(page.page(found, |connection| connection.id))
}

/// Returns a connection, or [`ConnectionError::NotFound`].
pub async fn get(db: &PgPool, account: AccountId, id: ConnectionId) -> Result<Connection, ConnectionError> {
    connections::find(db, account, id)
        .await?
        .ok_or(ConnectionError::NotFound)
}

/// Changes the name, region and endpoint of a connection. Provider, bucket and prefix stay, because queued renders were
/// accepted for the destinations that they cover.
pub async fn update(
    db: &PgPool,
    account: AccountId,
    actor: &Actor,
    id: ConnectionId,
    settings: &Settings,
) -> Result<(), ConnectionError> {
    let mut transaction = tx::begin(db).await?;
    let updated = connections::update(&mut transaction, account, id, settings).await;
    if !updated.map_err(|error| taken_or(error, settings))? {
        return Err(ConnectionError::NotFound);
    }
    let event = AccountEvent::ConnectionChanged {
        name: settings.name.clone(),
    };
    account_log::insert(&mut transaction, account, actor, &event, clock::now()).await?;
    Ok(tx::commit(transaction).await?)
}

/// Replaces the credentials of a connection, if documents can be written with the new ones. Otherwise nothing changes.
/// Returns the test of the new credentials.
pub async fn rotate_credentials(
    buckets: &Buckets,
    account: AccountId,
    actor: &Actor,
    id: ConnectionId,
    credentials: &Credentials,
) -> Result<ConnectionTest, ConnectionError> {
    check_identity(buckets, credentials)?;
    let connection = Connection {
        identity: credentials.identity().to_owned(),
        ..get(buckets.db(), account, id).await?
    };
    let test = probe::run(buckets, account, &connection, Some(credentials)).await?;
    if !test.delivers() {
        return Ok(test);
    }
    let encrypted = buckets.encrypt(account, id, credentials).await?;
    let mut transaction = tx::begin(buckets.db()).await?;
    let name = connections::update_credentials(&mut transaction, account, id, &connection.identity, &encrypted).await?;
    let event = AccountEvent::ConnectionCredentialsRotated {
        name: name.ok_or(ConnectionError::NotFound)?,
    };
    connection_tests::replace(&mut *transaction, account, id, &test).await?;
    account_log::insert(&mut transaction, account, actor, &event, test.tested_at).await?;
    tx::commit(transaction).await?;
    Ok(test)
}

/// Deletes a connection and its credentials. Unfinished renders with a destination in it fail.
pub async fn delete(db: &PgPool, account: AccountId, actor: &Actor, id: ConnectionId) -> Result<(), ConnectionError> {
    let mut transaction = tx::begin(db).await?;
    let name = connections::delete(&mut transaction, account, id).await?;
    let event = AccountEvent::ConnectionDeleted {
        name: name.ok_or(ConnectionError::NotFound)?,
    };
    account_log::insert(&mut transaction, account, actor, &event, clock::now()).await?;
    Ok(tx::commit(transaction).await?)
}

/// Returns the account of a connection, across all accounts. For the operator's command line only.
pub async fn account_of(db: &PgPool, id: ConnectionId) -> Result<Option<AccountId>, StoreError> {
    connections::find_account(db, id).await
}

/// Rejects credentials for which the service needs an identity of its own, if it has none.
fn check_identity(buckets: &Buckets, credentials: &Credentials) -> Result<(), ConnectionError> {
    let (pointer, detail) = match credentials {
        Credentials::Role(_) if !buckets.stores().can_assume_roles() => (
            "/connection/credentials/role_arn",
            "This service has no AWS identity to assume a role with; send an access key",
        ),
        Credentials::Impersonated(_) if !buckets.stores().can_impersonate() => (
            "/connection/credentials/type",
            "This service has no Google identity to impersonate a service account with; send a key",
        ),
        _ => return Ok(()),
    };
    Err(ConnectionError::Invalid(vec![Problem::invalid(pointer, detail)]))
}

fn taken_or(error: StoreError, settings: &Settings) -> ConnectionError {
    let (pointer, detail) = if error.violates(connections::NAME_KEY) {
        let detail = format!(
            "Must be unique in the account; another connection is named {}",
            quote(&settings.name)
        );
        ("/connection/name", detail)
    } else if error.violates(connections::PLACE_KEY) {
        let detail = format!(
            "Must differ from the prefixes of the account's other connections to this bucket; one has {}",
            quote(&settings.path_prefix)
        );
        ("/connection/path_prefix", detail)
    } else {
        return error.into();
    };
    ConnectionError::Invalid(vec![Problem::invalid(pointer, detail)])
}
