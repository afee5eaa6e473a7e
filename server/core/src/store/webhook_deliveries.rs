//! Table `webhook_deliveries`: events for webhook endpoints and webhooks of batches. Their attempts are rows of `callback_attempts`.

use platen_domain::{
    callback::Attempt,
    failed_jobs::kept_error,
    ids::{AccountId, BatchId, DeliveryId, EndpointId},
    job::{JobKind, Priority},
    page::PageRequest,
    webhook_endpoint::EventType,
};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    callbacks::{CallbackState, MOST_ATTEMPTS},
    deliveries::DeliveryFilter,
    error::StoreError,
    statement::{changes_one, count_changes, execute, list_by_state},
};

/// Maximum number of deliveries to the webhook of a batch that are being sent, and of the others: a batch ends once more after each
/// retry of failed rows.
const MOST_OF_BATCH: i64 = 10;

/// A delivery that can be sent, with its receiver.
#[derive(Debug)]
pub struct PendingDelivery {
    pub receiver: Receiver,
    pub event_id: Uuid,
    pub event: String,
    pub render: Option<Uuid>,
    pub data: Value,
    pub inserted_at: OffsetDateTime,
}

/// The receiver of a delivery.
#[derive(Debug)]
pub enum Receiver {
    Endpoint {
        id: EndpointId,
        /// Encrypted.
        url: Vec<u8>,
        is_disabled: bool,
    },
    /// The webhook of a batch.
    Batch {
        id: BatchId,
        /// Encrypted.
        target: Vec<u8>,
    },
}

impl PendingDelivery {
    /// Whether it is to an endpoint that is disabled.
    pub fn is_disabled(&self) -> bool {
        matches!(self.receiver, Receiver::Endpoint { is_disabled: true, .. })
    }
}

/// Returns a delivery of an account.
pub async fn find(db: &PgPool, account: AccountId, id: DeliveryId) -> Result<Option<PendingDelivery>, StoreError> {
    let delivery = sqlx::query!(
        r#"select endpoint_id, endpoints.sealed_url as "sealed_url?", endpoints.disabled_at is not null as "is_disabled!",
            batch_id, webhook_target, event_id, event, render_id, data, deliveries.inserted_at
         from webhook_deliveries deliveries left join webhook_endpoints endpoints on endpoints.id = deliveries.endpoint_id
         where deliveries.account_id = $1 and deliveries.id = $2"#,
        account.0,
        id.0,
    );
    Ok(delivery.fetch_optional(db).await?.and_then(|row| {
        let endpoint = row.endpoint_id.zip(row.sealed_url);
        let endpoint = endpoint.map(|(id, url)| Receiver::Endpoint {
            id: EndpointId(id),
            url,
            is_disabled: row.is_disabled,
        });
        let batch = row.batch_id.zip(row.webhook_target);
        let batch = batch.map(|(id, target)| Receiver::Batch {
            id: BatchId(id),
            target,
        });
        Some(PendingDelivery {
            // A constraint guarantees that there is one.
            receiver: endpoint.or(batch)?,
            event_id: row.event_id,
            event: row.event,
            render: row.render_id,
            data: row.data,
            inserted_at: row.inserted_at,
        })
    }))
}

/// Enqueues an event for the webhook of a batch, if it has one and fewer than [`MOST_OF_BATCH`] of its deliveries are being sent. Deletes
/// the oldest of the others beyond as many.
pub async fn insert_of_batch(
    db: &mut PgConnection,
    account: AccountId,
    batch: BatchId,
    event: EventType,
    data: &Value,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "with ended as (
            -- Those that are being sent have jobs, which are locked before them.
            delete from webhook_deliveries where account_id = $1 and id in (
                select id from webhook_deliveries
                where account_id = $1 and batch_id = $2 and state <> 'sending'
                order by id desc offset $8
            )
         ), delivery as (
            insert into webhook_deliveries
                (id, account_id, event_id, event, data, state, inserted_at, batch_id, webhook_target, webhook_address)
            select $3, account_id, $4, $5, $6::text::json, 'sending', now(), id, webhook_target, webhook_address
            from batches
            where account_id = $1 and id = $2 and webhook_target is not null
                and $8 > (
                    select count(*) from webhook_deliveries pending
                    where pending.account_id = $1 and pending.batch_id = $2 and pending.state = 'sending'
                )
            returning id
         )
         insert into jobs (id, account_id, kind, delivery_id, priority, run_at, due)
         select $7, $1, $9, id, $10, now(), true from delivery",
        account.0,
        batch.0,
        Uuid::now_v7(),
        Uuid::now_v7(),
        event.into_str(),
        data.to_string(),
        Uuid::now_v7(),
        MOST_OF_BATCH,
        JobKind::Delivery.into_str(),
        Priority::Normal as i16,
    );
    execute(db, insert).await
}

/// Sets the status of a delivery and clears an earlier failure.
pub async fn set_state(
    db: &mut PgConnection,
    account: AccountId,
    id: DeliveryId,
    state: CallbackState,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update webhook_deliveries set state = $3, failed_at = null, last_error = null where account_id = $1 and id = $2",
        account.0,
        id.0,
        state.into_str(),
    );
    execute(db, update).await
}

/// Marks a delivery as failed after `failures` attempts. `error` is the reason of the last one, for operators.
pub async fn fail(
    db: &mut PgConnection,
    account: AccountId,
    id: DeliveryId,
    failures: i32,
    error: &str,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update webhook_deliveries set state = 'failed', failed_at = now(), last_error = $3, failures = $4
         where account_id = $1 and id = $2",
        account.0,
        id.0,
        kept_error(error),
        failures,
    );
    execute(db, update).await
}

/// Stops a delivery that is being sent, for a reason that operators needn't see. Returns `false` if it isn't being sent.
pub async fn stop(
    db: &mut PgConnection,
    account: AccountId,
    id: DeliveryId,
    reason: Option<&str>,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update webhook_deliveries set state = 'failed', last_error = $3
         where account_id = $1 and id = $2 and state = 'sending'",
        account.0,
        id.0,
        reason,
    );
    changes_one(db, update).await
}

/// Stores an attempt as [`crate::store::callbacks::insert_attempt`] does, unless the delivery was deleted meanwhile.
pub async fn insert_attempt(
    db: &mut PgConnection,
    account: AccountId,
    id: DeliveryId,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    let statement = sqlx::query!(
        "with surplus as (
            delete from callback_attempts where id in (
                select id from callback_attempts where delivery_id = $2 order by id desc offset $9
            )
         )
         insert into callback_attempts (id, delivery_id, account_id, status, error, answer, duration_ms, inserted_at)
         select $1, id, account_id, $4, $5, $6, $7, $8
         from webhook_deliveries where account_id = $3 and id = $2
         for key share",
        Uuid::now_v7(),
        id.0,
        account.0,
        attempt.status,
        attempt.error,
        attempt.answer,
        attempt.duration_ms,
        attempt.inserted_at,
        MOST_ATTEMPTS - 1,
    );
    execute(db, statement).await
}

/// A listed delivery.
#[derive(Debug)]
pub struct ListedDelivery {
    pub id: DeliveryId,
    pub render: Option<Uuid>,
    /// `sending`, `delivered` or `failed`.
    pub state: String,
    pub event_id: Uuid,
    pub event: String,
    pub data: Value,
    /// The URL of the endpoint, or of the batch's webhook, for display.
    pub address: String,
    /// Whether the webhook of a batch receives it.
    pub is_of_batch: bool,
    pub last_error: Option<String>,
    /// When the next attempt is due, if any.
    pub next_try: Option<OffsetDateTime>,
    pub inserted_at: OffsetDateTime,
}

/// Returns the deliveries of an account to its endpoints and to the webhooks of its batches, newest first, as [`deliveries::list`](super::deliveries::list) does.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    filter: &DeliveryFilter,
    page: PageRequest<DeliveryId>,
) -> Result<Vec<ListedDelivery>, StoreError> {
    let (state, ids) = (filter.state.map(|state| state.into_str()), filter.ids.as_ref());
    let deliveries = list_by_state!(
        db,
        ListedDelivery,
        r#"select deliveries.id, deliveries.render_id as render, deliveries.state, deliveries.event_id,
                deliveries.event, deliveries.data, coalesce(endpoints.address, webhook_address) as "address!",
                deliveries.batch_id is not null as "is_of_batch!",
                deliveries.last_error,
                jobs.run_at as "next_try?", deliveries.inserted_at
             from webhook_deliveries deliveries
             left join webhook_endpoints endpoints on endpoints.id = deliveries.endpoint_id
             left join jobs on jobs.delivery_id = deliveries.id
             where deliveries.account_id = any(array[$1::uuid])
                and "#,
        "deliveries.state",
        "delivered",
        "
                and deliveries.id >= coalesce($3, '00000000-0000-0000-0000-000000000000'::uuid)
                and deliveries.id < coalesce($4, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
                and ($5::uuid is null or deliveries.render_id between $5 and $6)
                and (
                    $7::text is null
                    or webhook_address ilike $7
                    or deliveries.endpoint_id in (
                        select id from webhook_endpoints where account_id = $1 and address ilike $7
                    )
                )
             order by deliveries.account_id, deliveries.id desc
             limit $8",
        account,
        state,
        filter.since,
        page.after.map(|id| id.0),
        ids.map(|ids| *ids.start()),
        ids.map(|ids| *ids.end()),
        filter.address,
        page.limit(),
    );
    Ok(deliveries?)
}

/// Deletes deliveries of events that are not about renders, after the retention of their accounts' plans. Deletes up to
/// `at_most` and returns how many. Those about renders are deleted with their renders.
pub async fn delete_old(db: &PgPool, now: OffsetDateTime, at_most: i64) -> Result<u64, StoreError> {
    let delete = sqlx::query!(
        "delete from webhook_deliveries where id in (
            select deliveries.id
            from webhook_deliveries deliveries
            join accounts on accounts.id = deliveries.account_id
            join plans on plans.name = accounts.plan
            where deliveries.render_id is null
                and deliveries.inserted_at < $1::timestamptz - plans.retention_days * interval '1 day'
            limit $2
            for update of deliveries skip locked
         )",
        now,
        at_most,
    );
    count_changes(db, delete).await
}
