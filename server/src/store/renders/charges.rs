//! Reservations and charges of renders. The rules are database functions:
//! `migrations/20261123000032_credit_functions.sql`.

use platen_engine::render_log::Seen;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::{
        credits::{Meter, NotEnoughCredits},
        ids::{AccountId, RenderId},
    },
    store::{
        error::StoreError,
        renders::{
            InPeriod, Success,
            columns::{console, milliseconds, phase_times, requests},
            log_with_room,
        },
    },
};

/// Returns the credits that an account's unfinished live renders reserve.
pub async fn reserved_credits(db: &mut PgConnection, account: AccountId) -> Result<i64, StoreError> {
    let reserved = sqlx::query_scalar!(r#"select reserved_credits($1) as "credits!""#, account.0);
    Ok(reserved.fetch_one(db).await?)
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
        r#"select is_free as "is_free!", free as "free!", period_ends_at as "ends_at!" from reserve_price($1, $2, $3, $4)"#,
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
        Err(NotEnoughCredits::TooExpensive {
            price,
            free: row.free,
            ends_at: row.ends_at,
        })
    }))
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

/// Outcome of a charge.
pub enum Charge {
    /// The charge was made. If `tell` is set, the owner must be notified in the same transaction.
    Made {
        /// The account's own credits, if this charge used up four fifths of them, or all.
        tell: Option<OwnCredits>,
    },
    /// Nothing was charged: the owner must be notified, which requires a transaction.
    ToBeTold,
    /// The render has already ended.
    Ended,
    /// The document costs more than the credits left.
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

/// Ends a render in progress as succeeded and charges for it, or does neither. `may_tell` states that this runs in a
/// transaction, in which the owner can be notified.
pub async fn succeed(
    db: &mut PgConnection,
    account: AccountId,
    bill: &Bill,
    success: &Success,
    seen: &Seen,
    may_tell: bool,
    now: OffsetDateTime,
) -> Result<InPeriod<Charge>, StoreError> {
    let (requests, console) = log_with_room(db, account, requests(seen), console(seen)).await?;
    let charge = sqlx::query!(
        r#"with charge as materialized (
               select * from charge_render($1, $2, $14, $15, $16, $9, $17, $18)
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
           select outcome as "outcome!", free, tell as "tell!", own_credits as "own!", own_used_credits,
               most_overage as "most_overage!", period_ends_at as "ends_at!"
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
        bill.livemode,
        bill.meter.as_str(),
        bill.price,
        Uuid::now_v7(),
        may_tell,
    );
    let charge = charge.fetch_optional(db).await?;
    Ok(charge.map(|row| match row.outcome.as_str() {
        "charged" => Charge::Made {
            tell: row.tell.then(|| OwnCredits {
                own: row.own,
                used: row.own_used_credits.unwrap_or_default(),
                overage_limit: row.most_overage,
                ends_at: row.ends_at,
            }),
        },
        "to_be_told" => Charge::ToBeTold,
        "too_expensive" => Charge::Refused(NotEnoughCredits::TooExpensive {
            price: bill.price,
            free: row.free.unwrap_or_default(),
            ends_at: row.ends_at,
        }),
        _ => Charge::Ended,
    }))
}
