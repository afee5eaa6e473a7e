//! Tables `callbacks` and `callback_attempts`, as the dashboard lists them: by their renders, newest first.

use std::ops::RangeInclusive;

use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::{
        ids::{AccountId, RenderId},
        page::PageRequest,
    },
    store::{
        callbacks::{Attempt, CallbackState},
        error::StoreError,
    },
};

/// Which deliveries of an account are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// That stand so.
    pub state: Option<CallbackState>,
    /// Of renders whose ids are this one or later.
    pub since: Option<Uuid>,
    /// Of renders with these ids.
    pub ids: Option<RangeInclusive<Uuid>>,
    /// To addresses that match this pattern of `ilike`.
    pub address: Option<String>,
}

/// A line of the list: the callback of a render that has ended.
#[derive(Debug)]
pub struct Delivery {
    /// The render that it tells of.
    pub render: RenderId,
    /// `sending`, `delivered` or `failed`.
    pub state: String,
    /// What receivers know it by.
    pub webhook_id: Uuid,
    /// JSON.
    pub body: String,
    /// How the render ended.
    pub render_state: String,
    /// Where it goes, without query string.
    pub address: Option<String>,
    /// When it is tried next, if it is.
    pub next_try: Option<OffsetDateTime>,
}

macro_rules! list {
    ($state:literal, $db:expr, $account:expr, $filter:expr, $page:expr) => {{
        let filter: &DeliveryFilter = $filter;
        let ids = filter.ids.as_ref();
        sqlx::query_as!(
            Delivery,
            r#"select callbacks.render_id as render, callbacks.state, callbacks.webhook_id, callbacks.body as "body!",
                renders.status as render_state, renders.options -> 'callback' ->> 'url' as address,
                jobs.run_at as "next_try?"
             from callbacks
             join renders on renders.id = callbacks.render_id
             left join jobs on jobs.render_id = callbacks.render_id and jobs.kind = 'callback'
             where callbacks.account_id = $1
                and callbacks.body is not null
                and "#
                + $state
                + r#"
                and callbacks.render_id >= coalesce($3, '00000000-0000-0000-0000-000000000000'::uuid)
                and callbacks.render_id < coalesce($4, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
                and ($5::uuid is null or callbacks.render_id between $5 and $6)
                and ($7::text is null or renders.options -> 'callback' ->> 'url' ilike $7)
             order by callbacks.render_id desc
             limit $8"#,
            $account.0,
            filter.state.map(CallbackState::as_str),
            filter.since,
            $page.after.map(|id| id.0),
            ids.map(|ids| *ids.start()),
            ids.map(|ids| *ids.end()),
            filter.address,
            $page.limit(),
        )
        .fetch_all($db)
        .await?
    }};
}

/// The deliveries of an account, those of the newest renders first. Those that did not arrive are rare, and have an index of
/// their own, as in [`super::renders::history`].
pub async fn list(
    db: &PgPool,
    account: AccountId,
    filter: &DeliveryFilter,
    page: PageRequest<RenderId>,
) -> Result<Vec<Delivery>, StoreError> {
    Ok(match filter.state {
        None | Some(CallbackState::Delivered) => {
            list!("($2::text is null or callbacks.state = $2)", db, account, filter, page)
        }
        Some(_) => list!(
            "callbacks.state <> 'delivered' and callbacks.state = $2::text",
            db,
            account,
            filter,
            page
        ),
    })
}

/// The tries of some deliveries of an account, of each the oldest first.
pub async fn list_attempts(
    db: &PgPool,
    account: AccountId,
    renders: &[RenderId],
) -> Result<Vec<(RenderId, Attempt)>, StoreError> {
    let renders: Vec<_> = renders.iter().map(|id| id.0).collect();
    let attempts = sqlx::query!(
        "select render_id, status, error, answer, duration_ms, inserted_at from callback_attempts
         where account_id = $1 and render_id = any($2) order by render_id, id",
        account.0,
        &renders,
    );
    let attempts = attempts.fetch_all(db).await?.into_iter().map(|row| {
        let attempt = Attempt {
            status: row.status,
            error: row.error,
            answer: row.answer,
            duration_ms: row.duration_ms,
            inserted_at: row.inserted_at,
        };
        (RenderId(row.render_id), attempt)
    });
    Ok(attempts.collect())
}

/// When the callback of a render is tried next, if it is.
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
