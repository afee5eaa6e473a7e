//! Table `connections`: storage connections.

use platen_domain::{
    connection::{Connection, Settings},
    destination::{Destination, Provider},
    ids::{AccountId, ConnectionId},
    page::PageRequest,
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use url::Url;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// Names of connections are unique within an account.
pub const NAME_KEY: &str = "connections_name_key";
/// An account has one connection for each bucket and prefix.
pub const PLACE_KEY: &str = "connections_place_key";

struct ConnectionRow {
    id: Uuid,
    name: String,
    provider: String,
    bucket: String,
    path_prefix: String,
    region: Option<String>,
    endpoint: Option<String>,
    identity: String,
    revision: i32,
    inserted_at: OffsetDateTime,
}

impl TryFrom<ConnectionRow> for Connection {
    type Error = StoreError;

    fn try_from(row: ConnectionRow) -> Result<Self, StoreError> {
        // A check constraint allows only these two.
        let provider = if row.provider == Provider::AwsS3.into_str() {
            Provider::AwsS3
        } else {
            Provider::GoogleCloudStorage
        };
        let endpoint = row.endpoint.map(|endpoint| Url::parse(&endpoint)).transpose();
        Ok(Self {
            id: ConnectionId(row.id),
            settings: Settings {
                provider,
                name: row.name,
                bucket: row.bucket,
                path_prefix: row.path_prefix,
                region: row.region,
                endpoint: endpoint.map_err(|error| StoreError(sqlx::Error::Decode(error.into())))?,
            },
            identity: row.identity,
            revision: row.revision,
            inserted_at: row.inserted_at,
        })
    }
}

/// Inserts a connection. Violates [`NAME_KEY`] if the name is taken, and [`PLACE_KEY`] if bucket and prefix are.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    connection: &Connection,
    sealed_credentials: &[u8],
) -> Result<(), StoreError> {
    let settings = &connection.settings;
    let insert = sqlx::query!(
        "insert into connections
            (id, account_id, name, provider, bucket, path_prefix, region, endpoint, identity, sealed_credentials,
             inserted_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        connection.id.0,
        account.0,
        settings.name,
        settings.provider.into_str(),
        settings.bucket,
        settings.path_prefix,
        settings.region,
        settings.endpoint.as_ref().map(Url::as_str),
        connection.identity,
        sealed_credentials,
        connection.inserted_at,
    );
    execute(db, insert).await
}

/// Returns an account's connections, newest first.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    page: PageRequest<ConnectionId>,
) -> Result<Vec<Connection>, StoreError> {
    let rows = sqlx::query_as!(
        ConnectionRow,
        "select id, name, provider, bucket, path_prefix, region, endpoint, identity, revision, inserted_at
         from connections
         where account_id = $1 and ($2::uuid is null or id < $2)
         order by id desc
         limit $3",
        account.0,
        page.after.map(|id| id.0),
        page.limit(),
    )
    .fetch_all(db)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// Returns one of an account's connections.
pub async fn find(db: &PgPool, account: AccountId, id: ConnectionId) -> Result<Option<Connection>, StoreError> {
    let row = sqlx::query_as!(
        ConnectionRow,
        "select id, name, provider, bucket, path_prefix, region, endpoint, identity, revision, inserted_at
         from connections where account_id = $1 and id = $2",
        account.0,
        id.0,
    );
    row.fetch_optional(db).await?.map(TryInto::try_into).transpose()
}

/// Returns the connection for a destination: of those that cover it, the one with the longest prefix.
pub async fn find_covering(
    db: &PgPool,
    account: AccountId,
    destination: &Destination,
) -> Result<Option<Connection>, StoreError> {
    let row = sqlx::query_as!(
        ConnectionRow,
        "select id, name, provider, bucket, path_prefix, region, endpoint, identity, revision, inserted_at
         from connections
         where account_id = $1 and provider = $2 and bucket = $3 and starts_with($4, path_prefix)
         order by char_length(path_prefix) desc
         limit 1",
        account.0,
        destination.provider.into_str(),
        destination.bucket,
        destination.path,
    );
    row.fetch_optional(db).await?.map(TryInto::try_into).transpose()
}

/// Returns a connection's encrypted credentials.
pub async fn find_credentials(
    db: &PgPool,
    account: AccountId,
    id: ConnectionId,
) -> Result<Option<Vec<u8>>, StoreError> {
    let sealed = sqlx::query_scalar!(
        "select sealed_credentials from connections where account_id = $1 and id = $2",
        account.0,
        id.0,
    );
    Ok(sealed.fetch_optional(db).await?)
}

/// Replaces the name, region and endpoint of a connection. Returns `false` if it doesn't exist. Violates [`NAME_KEY`] if
/// the name is taken.
pub async fn update(
    db: &mut PgConnection,
    account: AccountId,
    id: ConnectionId,
    settings: &Settings,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update connections set name = $3, region = $4, endpoint = $5, revision = revision + 1
         where account_id = $1 and id = $2",
        account.0,
        id.0,
        settings.name,
        settings.region,
        settings.endpoint.as_ref().map(Url::as_str),
    );
    changes_one(db, update).await
}

/// Replaces the credentials of a connection. Returns its name, or `None` if it doesn't exist.
pub async fn update_credentials(
    db: &mut PgConnection,
    account: AccountId,
    id: ConnectionId,
    identity: &str,
    sealed_credentials: &[u8],
) -> Result<Option<String>, StoreError> {
    let name = sqlx::query_scalar!(
        "update connections set identity = $3, sealed_credentials = $4, revision = revision + 1
         where account_id = $1 and id = $2
         returning name",
        account.0,
        id.0,
        identity,
        sealed_credentials,
    );
    Ok(name.fetch_optional(db).await?)
}

/// Deletes a connection. Returns its name, or `None` if it doesn't exist.
pub async fn delete(db: &mut PgConnection, account: AccountId, id: ConnectionId) -> Result<Option<String>, StoreError> {
    let name = sqlx::query_scalar!(
        "delete from connections where account_id = $1 and id = $2 returning name",
        account.0,
        id.0,
    );
    Ok(name.fetch_optional(db).await?)
}

/// Returns the account of any connection, for the operator's command line.
pub async fn find_account(db: &PgPool, id: ConnectionId) -> Result<Option<AccountId>, StoreError> {
    let account = sqlx::query_scalar!("select account_id from connections where id = $1", id.0);
    Ok(account.fetch_optional(db).await?.map(AccountId))
}
