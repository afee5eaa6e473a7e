//! Reservations and charges of renders. The rules are database functions:
//! `migrations/20261123000032_credit_functions.sql`, `migrations/20261125000046_key_credit_limits.sql` and, for many renders,
//! `migrations/20261128000062_bulk_work.sql` and `migrations/20261129000067_available_accounts.sql`.

use std::{collections::HashMap, sync::Arc};

use platen_domain::{
    credits::{Meter, NotEnoughCredits},
    ids::{AccountId, ApiKeyId, RenderId},
    job::{JobKind, Priority},
};
use platen_engine::render_log::Seen;
use serde_json::{Value, json};
use sqlx::PgConnection;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    jobs::Claim,
    renders::{
        InPeriod, Success,
        columns::{console, milliseconds, phase_times, requests},
        documents::StoredDocument,
        log_with_room,
    },
};

/// Returns the credits that an account's unfinished live renders reserve.
pub async fn reserved_credits(db: &mut PgConnection, account: AccountId) -> Result<i64, StoreError> {
    let reserved = sqlx::query_scalar!(r#"select reserved_credits($1) as "credits!""#, account.0);
    Ok(reserved.fetch_one(db).await?)
}

/// Credits of an account.
#[derive(Debug, Clone, Copy)]
pub struct AvailableCredits {
    /// What live renders may still reserve.
    pub free: i64,
    /// All credits of the period.
    pub total: i64,
}

/// Returns the credits of live renders of a key, or of users without one.
pub async fn available_credits(
    db: &mut PgConnection,
    account: AccountId,
    key: Option<ApiKeyId>,
    now: OffsetDateTime,
) -> Result<InPeriod<AvailableCredits>, StoreError> {
    let available = sqlx::query!(
        r#"select allowed as "allowed!", total_credits as "total!" from may_open_renders($1, $2, true, $3, $4)"#,
        account.0,
        key.map(|key| key.0),
        now,
        i32::MAX,
    );
    Ok(available.fetch_optional(db).await?.map(|row| AvailableCredits {
        free: row.allowed.into(),
        total: row.total,
    }))
}

/// Reserves the price of an unfinished live render, or refuses it.
pub async fn reserve_price(
    db: &mut PgConnection,
    account: AccountId,
    id: RenderId,
    price: i64,
    now: OffsetDateTime,
) -> Result<InPeriod<Result<(), NotEnoughCredits>>, StoreError> {
    let decision = sqlx::query!(
        r#"select is_free as "is_free!", free as "free!", period_ends_at as "ends_at!", key_id, exceeded_limit
         from reserve_render_price($1, $2, $3, $4)"#,
        account.0,
        id.0,
        price,
        now,
    );
    let decision = decision.fetch_optional(db).await?;
    Ok(decision.map(|row| {
        if row.is_free {
            return Ok(());
        }
        Err(refusal(
            price,
            row.free,
            row.ends_at,
            row.key_id.zip(row.exceeded_limit),
        ))
    }))
}

/// Returns why a price is refused. `exceeded` is the render's key and its limit, if that is the reason.
fn refusal(price: i64, free: i64, ends_at: OffsetDateTime, exceeded: Option<(Uuid, i64)>) -> NotEnoughCredits {
    match exceeded {
        None => NotEnoughCredits::TooExpensive { price, free, ends_at },
        Some((key, limit)) => NotEnoughCredits::OverKeyLimit {
            price,
            free,
            key: ApiKeyId(key),
            limit,
            ends_at,
        },
    }
}

/// The charge for a document.
pub struct Bill {
    pub render: RenderId,
    /// If `false`, the usage is counted but not charged.
    pub livemode: bool,
    pub meter: Meter,
    /// In credits.
    pub price: i64,
}

/// The success of a render, to be recorded and charged.
pub struct Completion {
    /// The charge.
    pub bill: Bill,
    /// The document's properties.
    pub success: Success,
    /// The log of the render.
    pub seen: Seen,
    /// `None` for a synchronous render.
    pub queued: Option<QueuedCompletion>,
}

/// Further parts of the success of a queued render.
pub struct QueuedCompletion {
    /// The hold on its job, which is deleted with the success. If another worker holds the job, nothing is recorded.
    pub claim: Claim,
    /// Location of the document.
    pub document: StoredDocument,
    /// Body of the webhook's request, should the render have a webhook.
    pub callback_body: String,
}

/// Outcome of [`succeed`].
pub enum Charge {
    /// The render has succeeded and is charged.
    Made {
        /// The account's own credits, if this charge used up four fifths of them, or all: the owner must be notified in
        /// the same transaction.
        notice: Option<OwnCredits>,
        /// Whether the delivery of its webhook was enqueued.
        has_callback: bool,
    },
    /// Nothing was charged: the owner must be notified, which requires a transaction.
    NeedsTransaction,
    /// The render has already ended.
    Ended,
    /// The document costs more than the credits left to the account or the key.
    Refused(NotEnoughCredits),
}

/// An account's own credits in a period, without overage.
pub struct OwnCredits {
    /// All credits.
    pub own: i64,
    /// Used credits.
    pub used: i64,
    /// Maximum overage, in credits.
    pub overage_limit: i64,
    /// End of the period, exclusive.
    pub ends_at: OffsetDateTime,
}

/// Ends an unfinished render as succeeded and charges for it, in one statement; or does neither. `may_notify`: `db` is a
/// transaction, in which the owner can be notified.
pub async fn succeed(
    db: &mut PgConnection,
    account: AccountId,
    completion: &Completion,
    may_notify: bool,
    now: OffsetDateTime,
) -> Result<InPeriod<Charge>, StoreError> {
    let charge = match &completion.queued {
        None => succeed_synchronous(db, account, completion, may_notify, now).await?,
        Some(queued) => succeed_queued(db, account, completion, queued, may_notify, now).await?,
    };
    Ok(charge.map(|row| row.charge(completion.bill.price)))
}

struct ChargeRow {
    outcome: String,
    free: Option<i64>,
    tell: bool,
    own: i64,
    own_used: Option<i64>,
    most_overage: i64,
    ends_at: OffsetDateTime,
    key: Option<Uuid>,
    exceeded_limit: Option<i64>,
    has_callback: bool,
}

impl ChargeRow {
    fn charge(self, price: i64) -> Charge {
        match self.outcome.as_str() {
            "charged" => Charge::Made {
                notice: self.tell.then(|| OwnCredits {
                    own: self.own,
                    used: self.own_used.unwrap_or_default(),
                    overage_limit: self.most_overage,
                    ends_at: self.ends_at,
                }),
                has_callback: self.has_callback,
            },
            "to_be_told" => Charge::NeedsTransaction,
            "too_expensive" | "over_key_limit" => {
                let (free, exceeded) = (self.free.unwrap_or_default(), self.key.zip(self.exceeded_limit));
                Charge::Refused(refusal(price, free, self.ends_at, exceeded))
            }
            _ => Charge::Ended,
        }
    }
}

async fn succeed_synchronous(
    db: &mut PgConnection,
    account: AccountId,
    Completion {
        bill, success, seen, ..
    }: &Completion,
    may_notify: bool,
    now: OffsetDateTime,
) -> Result<Option<ChargeRow>, StoreError> {
    let (requests, console) = log_with_room(db, account, requests(seen), console(seen)).await?;
    let charge = sqlx::query_as!(
        ChargeRow,
        r#"with charge as materialized (
               select * from charge_render($1, $2, $14, $15, $9, $16, $17)
           ), ended as (
               update renders
               set status = 'succeeded', page_count = $3, bytes = $4, phase_times = $5, warnings = $6, requests = $7,
                   started_at = coalesce(started_at, renders.inserted_at + $8::float8 * interval '1 ms'),
                   finished_at = $9, conformance = $10, credits = $11,
                   console = case when accounts.keep_content then $12 else '[]'::jsonb end,
                   title = case when accounts.keep_content then $13 end
               from accounts, charge
               where charge.outcome = 'charged' and accounts.id = $1 and account_id = $1 and renders.id = $2
           )
           select outcome as "outcome!", free, tell as "tell!", own_credits as "own!", own_used_credits as own_used,
               most_overage as "most_overage!", period_ends_at as "ends_at!", key_id as key, exceeded_limit,
               false as "has_callback!"
           from charge"#,
        account.0,
        bill.render.0,
        success.page_count,
        success.bytes,
        phase_times(&seen.phases),
        success.warnings,
        requests,
        milliseconds(seen.phases.queue),
        now,
        success.conformance,
        if bill.livemode { bill.price } else { 0 },
        console,
        success.title,
        bill.meter.into_str(),
        bill.price,
        Uuid::now_v7(),
        may_notify,
    );
    Ok(charge.fetch_optional(db).await?)
}

/// As [`succeed_synchronous`]; also deletes the job, records the document and enqueues the callback. Locks the job first,
/// as every transaction that ends a queued render does.
async fn succeed_queued(
    db: &mut PgConnection,
    account: AccountId,
    Completion {
        bill, success, seen, ..
    }: &Completion,
    QueuedCompletion {
        claim,
        document,
        callback_body,
    }: &QueuedCompletion,
    may_notify: bool,
    now: OffsetDateTime,
) -> Result<Option<ChargeRow>, StoreError> {
    let (requests, console) = log_with_room(db, account, requests(seen), console(seen)).await?;
    let charge = sqlx::query_as!(
        ChargeRow,
        r#"with held as materialized (
               select render_id, priority from jobs
               where account_id = $1 and id = $17 and claim = $18 and render_id = $2
               for update
           ), charge as materialized (
               -- Refers to the job, so that it isn't called without one.
               select charged.* from held, charge_render($1, held.render_id, $13, $14, $8, $15, $16) charged
           ), done as (
               delete from jobs using charge where charge.outcome = 'charged' and account_id = $1 and jobs.id = $17
           ), ended as (
               update renders
               set status = 'succeeded', page_count = $3, bytes = $4, phase_times = $5, warnings = $6, requests = $7,
                   finished_at = $8, conformance = $9, credits = $10,
                   console = case when accounts.keep_content then $11 else '[]'::jsonb end,
                   title = case when accounts.keep_content then $12 end,
                   result = $19, object_expires_at = $20
               from accounts, charge
               where charge.outcome = 'charged' and accounts.id = $1 and account_id = $1 and renders.id = $2
           ), callback as (
               update callbacks set body = $21, state = 'sending'
               from charge
               where charge.outcome = 'charged' and account_id = $1 and render_id = $2 and state = 'waiting'
               returning render_id
           ), delivery as (
               insert into jobs (id, account_id, kind, render_id, priority, run_at, due)
               select $22, $1, $23, render_id, case when priority = $24 then priority else $25 end, now(), true
               from callback join held using (render_id)
           )
           select outcome as "outcome!", free, tell as "tell!", own_credits as "own!", own_used_credits as own_used,
               most_overage as "most_overage!", period_ends_at as "ends_at!", key_id as key, exceeded_limit,
               exists (select from callback) as "has_callback!"
           from charge
           union all
           select 'ended', null, false, 0, null, 0, $8, null, null, false where not exists (select from held)"#,
        account.0,
        bill.render.0,
        success.page_count,
        success.bytes,
        phases_with_upload(seen, document),
        success.warnings,
        requests,
        now,
        success.conformance,
        if bill.livemode { bill.price } else { 0 },
        console,
        success.title,
        bill.meter.into_str(),
        bill.price,
        Uuid::now_v7(),
        may_notify,
        claim.job,
        claim.id,
        document.result,
        document.expires_at,
        callback_body,
        Uuid::now_v7(),
        JobKind::Callback.into_str(),
        Priority::Batch as i16,
        Priority::Normal as i16,
    );
    Ok(charge.fetch_optional(db).await?)
}

fn phases_with_upload(seen: &Seen, document: &StoredDocument) -> Value {
    let mut phases = phase_times(&seen.phases).unwrap_or_else(|| json!({}));
    phases["upload"] = milliseconds(document.took).into();
    phases
}

/// Outcome of [`succeed_together`] for a render.
#[derive(Clone, Copy, Default)]
pub enum SharedCharge {
    /// The render has succeeded and is charged.
    Made {
        /// Whether the delivery of its webhook was enqueued.
        has_callback: bool,
    },
    /// Another transaction has locked the account. Nothing was recorded.
    AccountBusy,
    /// Nothing was recorded; [`succeed`] says why, or records it: the render has ended or can't be paid for, or `charge_renders`
    /// leaves it to `charge_render`.
    #[default]
    Unsuitable,
}

/// Like [`succeed`], for queued renders of any accounts in one statement.
pub async fn succeed_together(
    db: &mut PgConnection,
    completions: &[(AccountId, Arc<Completion>)],
    now: OffsetDateTime,
) -> Result<Vec<SharedCharge>, StoreError> {
    let mut records = Vec::with_capacity(completions.len());
    for (account, completion) in completions {
        records.extend(record(db, *account, completion).await?);
    }
    let charges = sqlx::query!(
        r#"with held as materialized (
               select record.*, jobs.priority
               from jsonb_to_recordset($1) as record (
                   account_id uuid, render_id uuid, job_id uuid, claim uuid, price bigint, credits bigint, page_count integer,
                   bytes bigint, phase_times jsonb, warnings jsonb, requests jsonb, console jsonb, conformance text, title text,
                   result jsonb, object_expires_at timestamptz, callback_body text, callback_job_id uuid
               )
               join jobs on jobs.id = record.job_id and jobs.claim = record.claim
                   and jobs.account_id = record.account_id and jobs.render_id = record.render_id
               order by jobs.id
               for update of jobs
           ), decided as materialized (
               select render_id, is_charged
               from charge_available_renders(
                   (select array_agg(account_id) from held), (select array_agg(render_id) from held),
                   (select array_agg(price) from held), $3, $2
               )
           ), charged as materialized (
               select held.*, accounts.keep_content
               from decided
               join held on held.render_id = decided.render_id
               join accounts on accounts.id = held.account_id
               where decided.is_charged
           ), done as (
               delete from jobs using charged where jobs.id = charged.job_id
           ), ended as (
               update renders
               set status = 'succeeded', page_count = charged.page_count, bytes = charged.bytes,
                   phase_times = charged.phase_times, warnings = charged.warnings, requests = charged.requests,
                   finished_at = $2, conformance = charged.conformance, credits = charged.credits,
                   console = case when charged.keep_content then charged.console else '[]'::jsonb end,
                   title = case when charged.keep_content then charged.title end,
                   result = charged.result, object_expires_at = charged.object_expires_at
               from charged
               where renders.account_id = charged.account_id and renders.id = charged.render_id
           ), callback as (
               update callbacks set body = charged.callback_body, state = 'sending'
               from charged
               -- Not by an index on the state: a plan that was made while few were waiting would read all of them.
               where callbacks.account_id = charged.account_id and callbacks.render_id = charged.render_id
                   and state is not distinct from 'waiting'
               returning callbacks.account_id, callbacks.render_id, charged.callback_job_id, charged.priority
           ), delivery as (
               insert into jobs (id, account_id, kind, render_id, priority, run_at, due)
               select callback_job_id, account_id, $4, render_id, case when priority = $5 then priority else $6 end, now(), true
               from callback
           )
           select decided.render_id as "render_id!", is_charged as "is_charged!", callback.render_id is not null as "has_callback!"
           from decided left join callback on callback.render_id = decided.render_id"#,
        Value::Array(records),
        now,
        Meter::AsyncRender.into_str(),
        JobKind::Callback.into_str(),
        Priority::Batch as i16,
        Priority::Normal as i16,
    );
    let charges: HashMap<_, _> = charges
        .fetch_all(db)
        .await?
        .into_iter()
        .map(|row| {
            let has_callback = row.has_callback;
            let charge = if row.is_charged {
                SharedCharge::Made { has_callback }
            } else {
                SharedCharge::AccountBusy
            };
            (row.render_id, charge)
        })
        .collect();
    let charge = |(_, completion): &(AccountId, Arc<Completion>)| charges.get(&completion.bill.render.0).copied();
    Ok(completions
        .iter()
        .map(|completion| charge(completion).unwrap_or_default())
        .collect())
}

/// Returns the record of a success for the statement of [`succeed_together`]; `None` for a synchronous render.
async fn record(
    db: &mut PgConnection,
    account: AccountId,
    Completion {
        bill,
        success,
        seen,
        queued,
    }: &Completion,
) -> Result<Option<Value>, StoreError> {
    let Some(queued) = queued else { return Ok(None) };
    let (requests, console) = log_with_room(db, account, requests(seen), console(seen)).await?;
    Ok(Some(json!({
        "account_id": account.0,
        "render_id": bill.render.0,
        "job_id": queued.claim.job,
        "claim": queued.claim.id,
        "price": bill.price,
        "credits": if bill.livemode { bill.price } else { 0 },
        "page_count": success.page_count,
        "bytes": success.bytes,
        "phase_times": phases_with_upload(seen, &queued.document),
        "warnings": success.warnings,
        "requests": requests,
        "console": console,
        "conformance": success.conformance,
        "title": success.title,
        "result": queued.document.result,
        "object_expires_at": queued.document.expires_at.and_then(|time| time.format(&Rfc3339).ok()),
        "callback_body": queued.callback_body,
        "callback_job_id": Uuid::now_v7(),
    })))
}
