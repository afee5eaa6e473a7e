//! What a render costs: reserved when it is accepted, charged in the transaction that records its success.

use platen_engine::render_log::Seen;
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{
    domain::{
        credits::{Balance, Meter},
        ids::{AccountId, RenderId},
        mail::Letter,
    },
    service::{credits::lock_balance, mail::write_to_owner, renders::failure::FailureReason},
    store::{
        accounts, credits as periods,
        error::StoreError,
        overage_uses::{self, Overage},
        renders::{self, Ending, Success},
        usage::{self, Usage},
    },
};

/// Makes sure that there is a credit for a live render that is inserted next, or refuses it.
pub(super) async fn reserve(
    db: &mut PgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<(), FailureReason> {
    let balance = lock_balance(db, account, now).await?;
    // Whoever adds a reservation holds the lock, so that all of them are seen here.
    let reserved = renders::reserved_credits(db, account).await?;
    Ok(balance.reserve(reserved)?)
}

/// What is to be paid for a document.
pub(super) struct Bill {
    pub(super) render: RenderId,
    /// False for test keys: it is counted, not charged.
    pub(super) livemode: bool,
    pub(super) meter: Meter,
    /// Credits.
    pub(super) price: i64,
}

/// Lets an unfinished live render reserve its true price, so that its document may go where it can't be taken back from.
/// Refuses it if there are too few credits.
pub(super) async fn reserve_price(
    db: &mut PgConnection,
    account: AccountId,
    bill: &Bill,
    now: OffsetDateTime,
) -> Result<(), FailureReason> {
    let balance = lock_balance(db, account, now).await?;
    renders::reserve(db, account, bill.render, bill.price).await?;
    let by_others = renders::reserved_credits(db, account).await? - bill.price;
    Ok(balance.pay(bill.price, by_others)?)
}

/// Tells the owner that credits come to an end, `charged` of the account's own having just gone.
async fn tell_owner(
    db: &mut PgConnection,
    account: AccountId,
    balance: &Balance,
    charged: i64,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let Some(owner) = accounts::find_owner_address(db, account).await? else {
        return Ok(());
    };
    let letter = Letter::CreditsUsed {
        account: owner.called.clone(),
        used: balance.own_used() + charged,
        own: balance.own,
        overage_limit: balance.overage_limit,
        ends_at: balance.period.ends_at,
    };
    write_to_owner(db, &owner, &letter, now).await
}

/// Ends a render as succeeded and charges for it. If it is refused, nothing of the transaction may be committed.
pub(super) async fn charge(
    db: &mut PgConnection,
    account: AccountId,
    bill: &Bill,
    success: Success,
    seen: &Seen,
    now: OffsetDateTime,
) -> Result<(), FailureReason> {
    let balance = lock_balance(db, account, now).await?;
    let credits = if bill.livemode { bill.price } else { 0 };
    let ending = Ending::Succeeded { success, credits };
    if !renders::finish(db, account, bill.render, ending, seen, now).await? {
        return Err(FailureReason::Ended);
    }
    if bill.livemode {
        // Its own reservation went with its end.
        balance.pay(bill.price, renders::reserved_credits(db, account).await?)?;
        let overage = balance.overage_of(credits);
        periods::charge(db, account, balance.period, credits, overage).await?;
        if overage > 0 {
            let used = Overage {
                render: bill.render,
                period: balance.period,
                credits: overage,
            };
            overage_uses::insert(db, account, used, now).await?;
        }
        if balance.is_worth_telling(credits) {
            tell_owner(db, account, &balance, credits - overage, now).await?;
        }
    }
    let used = Usage {
        meter: bill.meter,
        livemode: bill.livemode,
        day: now.date(),
        credits: bill.price,
    };
    usage::add(db, account, balance.period, used).await?;
    Ok(())
}
