//! Table `webhook_endpoints`.

use platen_domain::{
    ids::{AccountId, EndpointId, RenderId},
    job::Priority,
    webhook_endpoint::{EndpointState, EventType},
};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// Enqueues an event for the endpoints of an account that receive it, in the transaction of its cause. A trigger
/// publishes the ends of renders.
pub async fn publish(
    db: &mut PgConnection,
    account: AccountId,
    event: EventType,
    render: Option<RenderId>,
    data: &Value,
) -> Result<(), StoreError> {
    let publish = sqlx::query!(
        "select publish_event($1, $2, $3, $4::text::json)",
        account.0,
        event.into_str(),
        render.map(|render| render.0),
        data.to_string(),
    );
    execute(db, publish).await
}

/// Settings of an endpoint.
pub struct EndpointSettings<'a> {
    /// The encrypted URL.
    pub sealed_url: &'a [u8],
    /// The URL for display.
    pub address: &'a str,
    pub description: &'a str,
    pub events: &'a [EventType],
}

impl EndpointSettings<'_> {
    fn events(&self) -> Vec<String> {
        self.events.iter().map(|event| event.into_str().to_owned()).collect()
    }
}

/// Inserts an enabled endpoint.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    id: EndpointId,
    settings: &EndpointSettings<'_>,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into webhook_endpoints (id, account_id, sealed_url, address, description, events, inserted_at)
         values ($1, $2, $3, $4, $5, $6, $7)",
        id.0,
        account.0,
        settings.sealed_url,
        settings.address,
        settings.description,
        &settings.events(),
        now,
    );
    execute(db, insert).await
}

/// Counts the endpoints of an account.
pub async fn count(db: &mut PgConnection, account: AccountId) -> Result<usize, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from webhook_endpoints where account_id = $1"#,
        account.0
    );
    Ok(usize::try_from(count.fetch_one(db).await?).unwrap_or(usize::MAX))
}

/// An endpoint as stored.
#[derive(Debug)]
pub struct StoredEndpoint {
    pub id: EndpointId,
    pub sealed_url: Vec<u8>,
    pub address: String,
    pub description: String,
    pub events: Vec<EventType>,
    pub state: EndpointState,
    pub inserted_at: OffsetDateTime,
}

/// Returns the endpoints of an account, oldest first. Event types of newer releases are omitted.
pub async fn list(db: &PgPool, account: AccountId) -> Result<Vec<StoredEndpoint>, StoreError> {
    let endpoints = sqlx::query!(
        "select id, sealed_url, address, description, events, disabled_at, disabled_by_service, failing_since, inserted_at
         from webhook_endpoints where account_id = $1 order by id",
        account.0,
    )
    .map(|row| StoredEndpoint {
        id: EndpointId(row.id),
        sealed_url: row.sealed_url,
        address: row.address,
        description: row.description,
        events: row.events.iter().filter_map(|event| event.parse().ok()).collect(),
        state: match (row.disabled_at, row.failing_since) {
            (Some(_), _) if row.disabled_by_service => EndpointState::DisabledByService,
            (Some(_), _) => EndpointState::Disabled,
            (None, Some(since)) => EndpointState::Failing(since),
            (None, None) => EndpointState::Enabled,
        },
        inserted_at: row.inserted_at,
    });
    Ok(endpoints.fetch_all(db).await?)
}

/// Replaces the settings of an endpoint, and forgets its failures. Returns `false` if it doesn't exist.
pub async fn update(
    db: &mut PgConnection,
    account: AccountId,
    id: EndpointId,
    settings: &EndpointSettings<'_>,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update webhook_endpoints
         set sealed_url = $3, address = $4, description = $5, events = $6, failing_since = null
         where account_id = $1 and id = $2",
        account.0,
        id.0,
        settings.sealed_url,
        settings.address,
        settings.description,
        &settings.events(),
    );
    changes_one(db, update).await
}

/// An endpoint whose row is locked.
#[derive(Debug)]
pub struct LockedEndpoint {
    pub address: String,
    pub disabled_at: Option<OffsetDateTime>,
    pub failing_since: Option<OffsetDateTime>,
}

/// Locks an endpoint. Its jobs are locked after it, by every transaction.
pub async fn lock(
    db: &mut PgConnection,
    account: AccountId,
    id: EndpointId,
) -> Result<Option<LockedEndpoint>, StoreError> {
    let endpoint = sqlx::query_as!(
        LockedEndpoint,
        "select address, disabled_at, failing_since from webhook_endpoints where account_id = $1 and id = $2
         for no key update",
        account.0,
        id.0,
    );
    Ok(endpoint.fetch_optional(db).await?)
}

/// Records that an attempt succeeded. Locks nothing unless the endpoint was failing.
pub async fn note_success(db: &mut PgConnection, account: AccountId, id: EndpointId) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update webhook_endpoints set failing_since = null
         where account_id = $1 and id = $2 and failing_since is not null",
        account.0,
        id.0,
    );
    execute(db, update).await
}

/// Records that an endpoint begins to fail, and moves its waiting jobs behind those of the account's other endpoints.
pub async fn note_failure(
    db: &mut PgConnection,
    account: AccountId,
    id: EndpointId,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update webhook_endpoints set failing_since = $3 where account_id = $1 and id = $2",
        account.0,
        id.0,
        now,
    );
    execute(&mut *db, update).await?;
    let demote = sqlx::query!(
        "update jobs set priority = $3
         from webhook_deliveries deliveries
         where deliveries.account_id = $1 and deliveries.endpoint_id = $2 and deliveries.state = 'sending'
            and jobs.delivery_id = deliveries.id and jobs.claim is null",
        account.0,
        id.0,
        Priority::Failing as i16,
    );
    execute(db, demote).await
}

/// Disables an endpoint, and stops its pending deliveries. An attempt in progress is recorded, and not repeated.
/// Returns `false` if it doesn't exist or was disabled before.
pub async fn disable(
    db: &mut PgConnection,
    account: AccountId,
    id: EndpointId,
    by_service: bool,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update webhook_endpoints set disabled_at = $3, disabled_by_service = $4
         where account_id = $1 and id = $2 and disabled_at is null",
        account.0,
        id.0,
        now,
        by_service,
    );
    if !changes_one(&mut *db, update).await? {
        return Ok(false);
    }
    let stop = sqlx::query!(
        "with stopped as (
            delete from jobs using webhook_deliveries deliveries
            where deliveries.account_id = $1 and deliveries.endpoint_id = $2 and deliveries.state = 'sending'
                and jobs.delivery_id = deliveries.id and jobs.claim is null
            returning jobs.delivery_id
         )
         update webhook_deliveries set state = 'failed', last_error = 'the endpoint was disabled'
         from stopped where account_id = $1 and id = stopped.delivery_id",
        account.0,
        id.0,
    );
    execute(db, stop).await?;
    Ok(true)
}

/// Enables an endpoint, and forgets its failures. Returns `false` if it doesn't exist or is enabled.
pub async fn enable(db: &mut PgConnection, account: AccountId, id: EndpointId) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update webhook_endpoints set disabled_at = null, disabled_by_service = false, failing_since = null
         where account_id = $1 and id = $2 and disabled_at is not null",
        account.0,
        id.0,
    );
    changes_one(db, update).await
}

/// Deletes an endpoint that is locked, with its deliveries and their jobs.
pub async fn delete(db: &mut PgConnection, account: AccountId, id: EndpointId) -> Result<(), StoreError> {
    let jobs = sqlx::query!(
        "delete from jobs using webhook_deliveries deliveries
         where deliveries.account_id = $1 and deliveries.endpoint_id = $2 and jobs.delivery_id = deliveries.id",
        account.0,
        id.0,
    );
    execute(&mut *db, jobs).await?;
    let delete = sqlx::query!(
        "delete from webhook_endpoints where account_id = $1 and id = $2",
        account.0,
        id.0,
    );
    execute(db, delete).await
}

/// Test events of an endpoint that are stored.
const MOST_TESTS: i64 = 20;

/// Enqueues a test event for an endpoint that exists, enabled or not, and deletes all but its latest tests.
pub async fn insert_test(
    db: &mut PgConnection,
    account: AccountId,
    id: EndpointId,
    event: &str,
    data: &Value,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let surplus = sqlx::query!(
        "delete from webhook_deliveries where account_id = $1 and id in (
            select id from webhook_deliveries where endpoint_id = $2 and event = $3 order by id desc offset $4
         )",
        account.0,
        id.0,
        event,
        MOST_TESTS - 1,
    );
    execute(&mut *db, surplus).await?;
    let insert = sqlx::query!(
        "with recorded as (
            insert into webhook_deliveries (id, account_id, endpoint_id, event_id, event, data, state, inserted_at)
            select $3, account_id, id, $4, $5, $6, 'sending', $7
            from webhook_endpoints where account_id = $1 and id = $2
            returning id
         )
         insert into jobs (id, account_id, kind, delivery_id, priority, run_at, due)
         select $8, $1, 'delivery', recorded.id, 0, now(), true from recorded",
        account.0,
        id.0,
        Uuid::now_v7(),
        Uuid::now_v7(),
        event,
        data,
        now,
        Uuid::now_v7(),
    );
    execute(db, insert).await
}
