//! Storage connections: creating, listing, testing and deleting them, and delivery of documents through them.

pub mod buckets;
pub mod delivery;
pub mod probe;

use platen_domain::{
    account_log::{AccountEvent, Actor},
    connection::{Connection, NewConnection, credentials::Credentials},
    ids::{AccountId, ConnectionId},
    page::{Page, PageRequest},
    validation::{Problem, quote},
};
use sqlx::PgPool;

use crate::{
    clock,
    service::connections::buckets::{Buckets, BucketsError},
    store::{account_log, connections, error::StoreError, tx},
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
    let lacking = match new.credentials {
        Credentials::Role(_) if !buckets.stores().can_assume_roles() => Some((
            "/connection/credentials/role_arn",
            "This service has no AWS identity to assume a role with; send an access key",
        )),
        Credentials::Impersonated(_) if !buckets.stores().can_impersonate() => Some((
            "/connection/credentials/type",
            "This service has no Google identity to impersonate a service account with; send a key",
        )),
        _ => None,
    };
    if let Some((pointer, detail)) = lacking {
        return Err(ConnectionError::Invalid(vec![Problem::invalid(pointer, detail)]));
    }
    let connection = Connection {
        id: ConnectionId::generate(),
        identity: new.credentials.identity().to_owned(),
        settings: new.settings,
        inserted_at: clock::now(),
    };
    let encrypted = buckets.encrypt(account, connection.id, &new.credentials).await?;
    let mut transaction = tx::begin(buckets.db()).await?;
    connections::insert(&mut transaction, account, &connection, &encrypted)
        .await
        .map_err(|error| taken_or(error, &connection))?;
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

fn taken_or(error: StoreError, connection: &Connection) -> ConnectionError {
    let settings = &connection.settings;
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
