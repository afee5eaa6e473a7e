//! Tables `callbacks` and `callback_attempts`, as listed in the dashboard: by render, newest first. Deliveries to webhook
//! endpoints are listed by `webhook_deliveries`.

use std::ops::RangeInclusive;

use platen_domain::{
    callback::Attempt,
    ids::{AccountId, DeliveryId, RenderId},
    page::PageRequest,
};
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{callbacks::CallbackState, error::StoreError, statement::list_by_state};

/// Number of deliveries that are searched for an address at a time. The address is in the row of the render, which is rarely cached,
/// so these are fewer than [the renders that are searched](platen_domain::page::SEARCHED).
const SEARCHED: i64 = 2_000;

/// Filter of [`list`]; `None` matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    pub state: Option<CallbackState>,
    /// Only renders with this id or a later one.
    pub since: Option<Uuid>,
    /// Only renders with ids in this range.
    pub ids: Option<RangeInclusive<Uuid>>,
    /// An `ilike` pattern for the webhook's address.
    pub address: Option<String>,
}

/// A listed delivery of a render that has ended.
#[derive(Debug)]
pub struct Delivery {
    pub render: RenderId,
    /// `sending`, `delivered` or `failed`.
    pub state: String,
    /// Identifies the delivery to receivers.
    pub webhook_id: Uuid,
    pub body: String,
    /// Status of the render.
    pub render_state: String,
    /// The webhook's address, without its query string.
    pub address: Option<String>,
    /// When the next attempt is due, if any.
    pub next_try: Option<OffsetDateTime>,
}

/// Returns the deliveries of an account, by render, newest first. Addresses are those of their renders, so at most [`SEARCHED`]
/// deliveries are read for one: all of them, if `filter.since` is what [`find_last`] returns.
///
/// The account is compared as an array, so that the planner reads the account's index in order: with an equality, it reads the primary
/// key instead if it expects one account to have all deliveries, and with a range, the index from the account's newest delivery on.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    filter: &DeliveryFilter,
    page: PageRequest<DeliveryId>,
) -> Result<Vec<Delivery>, StoreError> {
    let (state, ids) = (filter.state.map(|state| state.into_str()), filter.ids.as_ref());
    let deliveries = list_by_state!(
        db,
        Delivery,
        r#"select page.render_id as render, callbacks.state, callbacks.webhook_id, callbacks.body as "body!",
                page.render_state, page.address, jobs.run_at as "next_try?"
             from (
                select read.render_id, renders.status as render_state, renders.options -> 'callback' ->> 'url' as address
                from (
                    select render_id from callbacks
                    where account_id = any(array[$1::uuid]) and body is not null
                        and "#,
        "state",
        "delivered",
        "
                        and render_id >= coalesce($3, '00000000-0000-0000-0000-000000000000'::uuid)
                        and render_id < coalesce($4, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
                        and ($5::uuid is null or render_id between $5 and $6)
                    order by account_id, render_id desc
                    limit case when $7::text is null then $8::bigint else $9::bigint end
                ) read
                join renders on renders.id = read.render_id
                where $7 is null or renders.options -> 'callback' ->> 'url' ilike $7
                order by read.render_id desc
                limit $8
             ) page
             join callbacks on callbacks.render_id = page.render_id
             left join jobs on jobs.render_id = page.render_id and jobs.kind = 'callback'
             order by page.render_id desc",
        account,
        state,
        filter.since,
        page.after.map(|id| id.0),
        ids.map(|ids| *ids.start()),
        ids.map(|ids| *ids.end()),
        filter.address,
        page.limit(),
        SEARCHED,
    );
    Ok(deliveries?)
}

/// The id of a delivery.
struct Id {
    id: Uuid,
}

/// Returns the oldest of the newest [`SEARCHED`] deliveries to webhooks of requests, or to endpoints, whichever is newer: those
/// since `filter.since` and older than `after`, of a state other than `delivered` if the filter has one. `None` if there are fewer
/// of both.
pub async fn find_last(
    db: &PgPool,
    account: AccountId,
    filter: &DeliveryFilter,
    after: Option<DeliveryId>,
) -> Result<Option<Uuid>, StoreError> {
    // Only other states have an index.
    let state = filter.state.filter(|state| *state != CallbackState::Delivered);
    let state = state.map(|state| state.into_str());
    macro_rules! find {
        ($table:literal, $id:literal) => {
            list_by_state!(
                db,
                Id,
                "select " $id " as id from " $table " where account_id = any(array[$1::uuid]) and ",
                "state",
                "delivered",
                " and " $id " >= coalesce($3, '00000000-0000-0000-0000-000000000000'::uuid)
                     and " $id " < coalesce($4, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
                 order by account_id, " $id " desc offset $5 limit 1",
                account,
                state,
                filter.since,
                after.map(|id| id.0),
                SEARCHED - 1,
            )
        };
    }
    let found = find!("callbacks", "render_id")?
        .into_iter()
        .chain(find!("webhook_deliveries", "id")?);
    Ok(found.map(|found| found.id).max())
}

/// Returns the attempts of several deliveries of an account, to webhooks of requests and to endpoints alike; those of
/// each delivery are in order, oldest first.
pub async fn list_attempts(
    db: &PgPool,
    account: AccountId,
    deliveries: &[DeliveryId],
) -> Result<Vec<(DeliveryId, Attempt)>, StoreError> {
    let deliveries: Vec<_> = deliveries.iter().map(|id| id.0).collect();
    let attempts = sqlx::query!(
        r#"select coalesce(render_id, delivery_id) as "delivery!", status, error, answer, duration_ms, inserted_at
           from callback_attempts
           where account_id = $1 and (render_id = any($2) or delivery_id = any($2))
           order by id"#,
        account.0,
        &deliveries,
    )
    .map(|row| {
        let attempt = Attempt {
            status: row.status,
            error: row.error,
            answer: row.answer,
            duration_ms: row.duration_ms,
            inserted_at: row.inserted_at,
        };
        (DeliveryId(row.delivery), attempt)
    });
    Ok(attempts.fetch_all(db).await?)
}

/// Returns when the next attempt of a render's delivery is due, if any.
pub async fn find_next_try(
    db: &PgPool,
    account: AccountId,
    render: RenderId,
) -> Result<Option<OffsetDateTime>, StoreError> {
    let next = sqlx::query_scalar!(
        "select run_at from jobs where account_id = $1 and render_id = $2 and kind = 'callback'",
        account.0,
        render.0,
    );
    Ok(next.fetch_optional(db).await?)
}
