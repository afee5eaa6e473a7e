//! Purchases, plan changes and cancellations by an account's owner.

use platen_billing::{
    checkout::{Kind, Purchase},
    customers::NewCustomer,
    subscriptions::Subscription as Found,
};
use platen_domain::{
    account_log::{AccountEvent, Actor},
    caller::Caller,
    ids::AccountId,
};
use time::{Duration, OffsetDateTime};
use url::Url;

use crate::{
    clock,
    service::billing::{Billing, BillingError, Till, catalogue::lookup_key_of_plan, mirror, status},
    store::{
        account_log,
        offers::{self, PlanOffer},
        stripe_customers, tx,
    },
};

/// Time for which an amount from [`preview`] can be accepted.
const SHOWN_FOR: Duration = Duration::hours(1);

/// Buyer of a plan or of credits.
#[derive(Debug, Clone)]
pub struct Buyer {
    pub caller: Caller,
    /// Display name of the account.
    pub name: String,
    /// URL to which Stripe returns the user, whether they paid or not.
    pub back_to: Url,
}

/// Effect of a change to another plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Upgrade, which takes effect at once.
    Larger {
        /// Amount due for the rest of the period, in the smallest unit of the currency.
        today: i64,
        /// Currency code of three lower-case letters.
        currency: String,
        /// Time for which the amount was calculated.
        as_of: OffsetDateTime,
    },
    /// Downgrade, which takes effect when the period ends.
    Smaller {
        /// End of the current period.
        from: OffsetDateTime,
    },
}

/// Returns the URL of a checkout page for a plan. Fails with [`BillingError::WrongMoment`] if the account has a
/// subscription.
pub async fn subscribe(billing: &Billing, buyer: &Buyer, plan: &str) -> Result<String, BillingError> {
    let till = billing.till()?;
    let price = plan_offer(billing, plan)
        .await?
        .price
        .ok_or(BillingError::NoSuchOffer)?;
    let customer = customer(billing, till, buyer).await?;
    // Stripe is asked, not the mirror: a late event must not lead to a second subscription.
    if alive(billing, till, &customer).await?.is_some() {
        return Err(BillingError::WrongMoment);
    }
    page(till, buyer, &customer, &price, Kind::Subscription, "subscribed").await
}

/// Returns the URL of a checkout page for a pack of credits.
pub async fn buy_credits(billing: &Billing, buyer: &Buyer, product: &str) -> Result<String, BillingError> {
    let till = billing.till()?;
    let packs = offers::list_packs(&billing.db).await?;
    let pack = packs.into_iter().find(|pack| pack.product == product);
    let pack = pack.ok_or(BillingError::NoSuchOffer)?;
    let price = pack.price.ok_or(BillingError::NoSuchOffer)?;
    let customer = customer(billing, till, buyer).await?;
    page(till, buyer, &customer, &price, Kind::Credits(pack.credits), "bought").await
}

/// Returns the URL of Stripe's customer portal for card, address and tax id. Fails with [`BillingError::WrongMoment`]
/// if the account has bought nothing yet.
pub async fn portal(billing: &Billing, caller: &Caller, back_to: &Url) -> Result<String, BillingError> {
    let till = billing.till()?;
    let customer = stripe_customers::find(&billing.db, caller.account).await?;
    let customer = customer.ok_or(BillingError::WrongMoment)?;
    Ok(till.stripe.portal_page(&customer, back_to.as_str()).await?)
}

/// Returns what a change to another plan would cost, without changing anything.
pub async fn preview(
    billing: &Billing,
    caller: &Caller,
    plan: &str,
    now: OffsetDateTime,
) -> Result<Change, BillingError> {
    let till = billing.till()?;
    let current = changeable(billing, till, caller.account).await?;
    let wanted = plan_offer(billing, plan).await?;
    let price = wanted.price.as_ref().ok_or(BillingError::NoSuchOffer)?;
    if is_larger(billing, &wanted, &current).await? {
        let preview = till.stripe.preview_upgrade(&current, price, now).await?;
        return Ok(Change::Larger {
            today: preview.total,
            currency: preview.currency,
            as_of: now,
        });
    }
    Ok(Change::Smaller {
        from: current.period_ends_at,
    })
}

/// Changes the plan: upgrades at once, for the amount that [`preview`] returned for `as_of` up to an hour ago;
/// downgrades when the period ends.
pub async fn change(
    billing: &Billing,
    caller: &Caller,
    plan: &str,
    as_of: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<(), BillingError> {
    let till = billing.till()?;
    let current = changeable(billing, till, caller.account).await?;
    let wanted = plan_offer(billing, plan).await?;
    let price = wanted.price.as_ref().ok_or(BillingError::NoSuchOffer)?;
    if is_larger(billing, &wanted, &current).await? {
        if as_of > now || as_of < now - SHOWN_FOR || as_of < current.period_starts_at {
            return Err(BillingError::WrongMoment);
        }
        till.stripe.upgrade(&current, price, as_of).await?;
    } else {
        till.stripe.downgrade(&current, price).await?;
    }
    done(billing, caller, &AccountEvent::PlanChosen { plan: wanted.name }, now).await
}

/// Cancels a pending downgrade.
pub async fn keep(billing: &Billing, caller: &Caller, now: OffsetDateTime) -> Result<(), BillingError> {
    let till = billing.till()?;
    let current = current(billing, till, caller.account).await?;
    // Once the downgrade has taken effect, undoing it would be free until the next payment.
    let kept = current.kept.as_ref().filter(|kept| now < kept.until);
    let kept = kept.ok_or(BillingError::WrongMoment)?;
    let keys = [lookup_key_of_plan(&kept.product)];
    let price = till.stripe.find_prices(&keys).await?.pop();
    let price = price.ok_or(BillingError::NoSuchOffer)?;
    till.stripe.undo_downgrade(&current, &price.id).await?;
    done(billing, caller, &AccountEvent::PlanKept {}, now).await
}

/// Cancels the subscription at the end of its period.
pub async fn cancel(billing: &Billing, caller: &Caller, now: OffsetDateTime) -> Result<(), BillingError> {
    let till = billing.till()?;
    let current = current(billing, till, caller.account).await?;
    till.stripe.cancel_at_period_end(&current).await?;
    done(billing, caller, &AccountEvent::SubscriptionCancelled {}, now).await
}

/// Undoes [`cancel`], while the period lasts.
pub async fn resume(billing: &Billing, caller: &Caller, now: OffsetDateTime) -> Result<(), BillingError> {
    let till = billing.till()?;
    let current = current(billing, till, caller.account).await?;
    till.stripe.resume(&current).await?;
    done(billing, caller, &AccountEvent::SubscriptionResumed {}, now).await
}

/// Sets the overage that the account may use in each period, in credits; 0 disables it. Overage that is already used
/// remains payable.
pub async fn set_overage_limit(
    billing: &Billing,
    caller: &Caller,
    limit: i64,
    now: OffsetDateTime,
) -> Result<(), BillingError> {
    let till = billing.till()?;
    let current = current(billing, till, caller.account).await?;
    let metered = offers::find_overage(&billing.db).await?.metered;
    let metered = metered.ok_or(BillingError::NoSuchOffer)?;
    let plans = offers::list_plans(&billing.db).await?;
    let mut wanted = mirror::plain(&current, None);
    wanted.overage_limit = limit;
    if mirror::overage_limit(&plans, Some(&wanted), now) != limit {
        return Err(BillingError::WrongMoment);
    }
    till.stripe.set_overage_limit(&current, &metered.price, limit).await?;
    let event = match limit {
        0 => AccountEvent::OverageEnded {},
        credits => AccountEvent::OverageAllowed { credits },
    };
    done(billing, caller, &event, now).await
}

/// Records the audit event of a change at Stripe and mirrors the customer at once, so that the user doesn't wait for an
/// event.
async fn done(
    billing: &Billing,
    caller: &Caller,
    event: &AccountEvent,
    now: OffsetDateTime,
) -> Result<(), BillingError> {
    let mut transaction = tx::begin(&billing.db).await?;
    account_log::insert(&mut transaction, caller.account, &Actor::of_caller(caller), event, now).await?;
    tx::commit(transaction).await?;
    Ok(mirror::look_at(billing, caller.account).await?)
}

/// Returns the account's customer at Stripe, and creates it if there is none.
async fn customer(billing: &Billing, till: &Till, buyer: &Buyer) -> Result<String, BillingError> {
    if let Some(known) = stripe_customers::find(&billing.db, buyer.caller.account).await? {
        return Ok(known);
    }
    let new = NewCustomer {
        account: &buyer.caller.account.to_string(),
        name: &buyer.name,
        email: &buyer.caller.user.email,
    };
    let id = till.stripe.create_customer(&new).await?;
    stripe_customers::insert(&billing.db, buyer.caller.account, &id, clock::now()).await?;
    // Two requests may have created one at once; the first insert wins.
    let known = stripe_customers::find(&billing.db, buyer.caller.account).await?;
    Ok(known.unwrap_or(id))
}

async fn page(
    till: &Till,
    buyer: &Buyer,
    customer: &str,
    price: &str,
    kind: Kind,
    done: &str,
) -> Result<String, BillingError> {
    let mut success = buyer.back_to.clone();
    success.query_pairs_mut().append_pair("done", done);
    let purchase = Purchase {
        customer,
        price,
        kind,
        tax: till.tax,
        success_url: success.as_str(),
        cancel_url: buyer.back_to.as_str(),
    };
    Ok(till.stripe.checkout_page(&purchase).await?)
}

async fn plan_offer(billing: &Billing, plan: &str) -> Result<PlanOffer, BillingError> {
    let plans = offers::list_plans(&billing.db).await?;
    let found = plans.into_iter().find(|offer| offer.name == plan);
    found.ok_or(BillingError::NoSuchOffer)
}

/// Returns the account's live subscription, as Stripe has it.
async fn current(billing: &Billing, till: &Till, account: AccountId) -> Result<Found, BillingError> {
    let customer = stripe_customers::find(&billing.db, account).await?;
    let customer = customer.ok_or(BillingError::WrongMoment)?;
    alive(billing, till, &customer).await?.ok_or(BillingError::WrongMoment)
}

/// As [`current`], but requires that it is paid for and that no change of it is pending.
async fn changeable(billing: &Billing, till: &Till, account: AccountId) -> Result<Found, BillingError> {
    let current = current(billing, till, account).await?;
    let at_rest = current
        .kept
        .as_ref()
        .is_none_or(|kept| kept.until <= current.period_starts_at);
    let changeable = current.status == "active" && current.cancel_at.is_none() && at_rest;
    changeable.then_some(current).ok_or(BillingError::WrongMoment)
}

async fn alive(billing: &Billing, till: &Till, customer: &str) -> Result<Option<Found>, BillingError> {
    let products = offers::products(&offers::list_plans(&billing.db).await?);
    let found = till.stripe.subscriptions_of(customer, &products).await?;
    let alive = found.into_iter().filter(|one| status::is_alive(&one.status));
    Ok(alive.max_by_key(|one| one.created_at))
}

async fn is_larger(billing: &Billing, wanted: &PlanOffer, current: &Found) -> Result<bool, BillingError> {
    if wanted.product == current.product {
        return Err(BillingError::WrongMoment);
    }
    let plans = offers::list_plans(&billing.db).await?;
    let now = offers::of_product(&plans, &current.product);
    Ok(now.is_none_or(|now| wanted.credits > now.credits))
}
