//! Mirrors customers: reads their current state from Stripe, and gives their accounts what they pay for.
//!
//! One process at a time claims the job of a customer, and writes only while it holds the claim. What it writes depends
//! only on what Stripe answered after the claim, and a later event makes the customer due again. So in whatever order
//! and however often events arrive, the final state is that of Stripe after the last of them.

use std::time::Duration;

use futures::future::join_all;
use platen_billing::{checkout::PaidCredits, subscriptions::Subscription as Found};
use platen_domain::{
    account_log::{AccountEvent, Actor},
    billing::{self, FREE, PaidProduct, Subscription, that_counts},
    credits::Period,
    ids::AccountId,
    job::JobKind,
};
use time::OffsetDateTime;
use tokio::time::sleep;
use tracing::Instrument;

use crate::{
    clock,
    service::{
        billing::{
            Billing, BillingError, Till,
            arrears::{self, Turn},
            overage,
        },
        credits::lock_balance,
    },
    store::{
        account_log, accounts, credits,
        error::StoreError,
        jobs::{self, Claim},
        offers::{self, PlanOffer},
        renders::charges,
        stripe_customers::{self, QueuedCustomer},
        stripe_events,
        stripe_subscriptions::{self, Purchase},
        tx,
    },
};

/// Customers that [`mirror_all`] mirrors at once.
const AT_ONCE: usize = 4;
/// Attempts to claim a customer while a user waits.
const TRIES: u32 = 20;
/// Delay between these attempts.
const TRY_AGAIN: Duration = Duration::from_millis(100);

/// Mirrors an account's customer at once, after a change that the waiting user made at Stripe. Returns after about two
/// seconds if another process doesn't finish with the customer.
pub async fn look_at(billing: &Billing, account: AccountId) -> Result<(), StoreError> {
    let Some(customer) = stripe_customers::find(&billing.db, account).await? else {
        return Ok(());
    };
    let mut transaction = tx::begin(&billing.db).await?;
    let revision = stripe_customers::update_changed(&mut transaction, &customer).await?;
    tx::commit(transaction).await?;
    let Some(revision) = revision else { return Ok(()) };
    for _ in 0..TRIES {
        mirror_if_due(billing, &customer).await?;
        if stripe_customers::is_seen(&billing.db, &customer, revision).await? {
            break;
        }
        // Another process holds the customer, most likely because of an event.
        sleep(TRY_AGAIN).await;
    }
    Ok(())
}

/// Mirrors all customers, as far as no worker is doing that already.
pub(super) async fn mirror_all(billing: &Billing) -> Result<(), StoreError> {
    stripe_customers::update_all_due(&billing.db).await?;
    let customers = stripe_customers::list(&billing.db).await?;
    for some in customers.chunks(AT_ONCE) {
        let mirrored = join_all(some.iter().map(|customer| mirror_if_due(billing, customer))).await;
        mirrored.into_iter().collect::<Result<(), _>>()?;
    }
    Ok(())
}

async fn mirror_if_due(billing: &Billing, customer: &str) -> Result<(), StoreError> {
    let Some(claim) = jobs::claim_customer(&billing.db, customer).await? else {
        return Ok(());
    };
    // A visitor who leaves must not leave the job behind.
    let (billing, customer) = (billing.clone(), customer.to_owned());
    let mirroring = tokio::spawn(async move { mirror(&billing, &claim, &customer).await }.in_current_span());
    mirroring.await.unwrap_or_else(|panic| {
        tracing::error!(%panic, "mirroring a customer panicked");
        Ok(())
    })
}

/// Mirrors the customer of a claimed job.
pub async fn mirror(billing: &Billing, claim: &Claim, id: &str) -> Result<(), StoreError> {
    let Some(customer) = stripe_customers::find_queued(&billing.db, id).await? else {
        return Ok(());
    };
    let done = match customer.account {
        Some(account) => follow(billing, claim, &customer, account).await,
        None => let_go(billing, id).await,
    };
    let Err(error) = done else { return Ok(()) };
    tracing::warn!(customer = id, %error, "customer could not be mirrored; retrying later");
    let delay = JobKind::Customer.delay(claim.failures, rand::random());
    jobs::release(&billing.db, claim, delay, Some(&error.to_string())).await?;
    Ok(())
}

/// Ends the subscriptions of a deleted account, so that nothing more is charged, and deletes its customer here.
async fn let_go(billing: &Billing, customer: &str) -> Result<(), BillingError> {
    let till = billing.till()?;
    overage::report_all_of(billing, customer).await?;
    let products = offers::products(&offers::list_plans(&billing.db).await?);
    let now = clock::now();
    for one in till.stripe.subscriptions_of(customer, &products).await? {
        if plain(&one, None).is_alive(now) {
            till.stripe.cancel_now(&one.id).await?;
        }
    }
    Ok(stripe_customers::delete(&billing.db, customer).await?)
}

async fn follow(
    billing: &Billing,
    claim: &Claim,
    customer: &QueuedCustomer,
    account: AccountId,
) -> Result<(), BillingError> {
    let till = billing.till()?;
    let offers = offers::list_plans(&billing.db).await?;
    let subscriptions = subscriptions(till, &customer.id, &offers::products(&offers)).await?;
    let purchases = till.stripe.paid_credits(&customer.id).await?;
    let purchases = purchases.into_iter().map(purchase).collect();
    let facts = Facts {
        offers,
        subscriptions,
        purchases,
    };
    Ok(write_down(billing, claim, customer, account, &facts, clock::now()).await?)
}

/// State of a customer at Stripe.
struct Facts {
    offers: Vec<PlanOffer>,
    subscriptions: Vec<Subscription>,
    purchases: Vec<Purchase>,
}

async fn write_down(
    billing: &Billing,
    claim: &Claim,
    customer: &QueuedCustomer,
    account: AccountId,
    facts: &Facts,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let mut transaction = tx::begin(&billing.db).await?;
    let db = &mut *transaction;
    let Some(given) = stripe_customers::lock_given_plan(db, claim, &customer.id, account).await? else {
        drop(transaction);
        // If the account was deleted, its customer can be let go now. A lost claim can't be released.
        jobs::release(&billing.db, claim, Some(Duration::ZERO), None).await?;
        return Ok(());
    };
    let known = stripe_subscriptions::list_of_customer(db, &customer.id).await?;
    if !customer.is_notified {
        note_differences(db, customer, account, (&known, &facts.subscriptions), now).await?;
    }
    stripe_subscriptions::replace(db, &customer.id, &facts.subscriptions).await?;
    let worth = |product: &str| offers::of_product(&facts.offers, product).map_or(0, |offer| offer.credits);
    let counts = that_counts(&facts.subscriptions, now, worth);
    let mut given = given;
    if let Some(subscription) = counts {
        let plan = offers::paid_plan(&facts.offers, subscription, now);
        let plan = plan.map_or(FREE, |offer| offer.name.as_str());
        let changes = given.as_deref() != Some(plan);
        if changes {
            accounts::update_plan(db, account, plan, None).await?;
            let event = AccountEvent::PlanGiven { plan: plan.to_owned() };
            account_log::insert(db, account, &Actor::SERVICE, &event, now).await?;
            tracing::info!(account_id = %account, plan, "plan changed to match the subscription");
        }
        follow_periods(db, account, subscription.anchor, now).await?;
        if changes {
            let balance = lock_balance(db, account, now).await?;
            credits::update_allowance(db, account, balance.period).await?;
        }
        let turn = Turn {
            known: known.iter().find(|known| known.id == subscription.id),
            found: subscription,
            former_plan: given.as_deref(),
            plan,
        };
        arrears::notify_owner(db, account, &turn, now).await?;
        given = Some(plan.to_owned());
    }
    follow_overage(db, account, overage_limit(&facts.offers, counts, now), now).await?;
    count_purchases(db, customer, account, &facts.purchases, now).await?;
    let look_at = facts.subscriptions.iter().filter_map(|one| one.look_at(now)).min();
    if !jobs::complete(&mut *db, claim).await? {
        return Ok(());
    }
    stripe_customers::update_seen(db, customer, given.as_deref(), look_at).await?;
    tx::commit(transaction).await
}

/// Adds the credits that were bought, and takes back those that were refunded, since the customer was last mirrored.
/// Refunds come first: new purchases must not pay for credits that were used and then refunded.
async fn count_purchases(
    db: &mut sqlx::PgConnection,
    customer: &QueuedCustomer,
    account: AccountId,
    purchases: &[Purchase],
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let (mut bought, mut refunded) = (0, 0);
    for purchase in purchases {
        if stripe_subscriptions::insert_purchase(db, &customer.id, purchase).await? {
            bought += purchase.credits - purchase.refunded;
        } else {
            refunded += stripe_subscriptions::update_refunded(db, &customer.id, purchase).await?;
        }
    }
    if bought == 0 && refunded == 0 {
        return Ok(());
    }
    let period = lock_balance(db, account, now).await?.period;
    if refunded > 0 {
        let reserved = charges::reserved_credits(db, account).await?;
        let taken = credits::take_bought(db, account, period, refunded, reserved).await?;
        if taken > 0 {
            let event = AccountEvent::CreditsTakenBack { credits: taken };
            account_log::insert(db, account, &Actor::SERVICE, &event, now).await?;
        }
    }
    if bought > 0 {
        credits::add_bought(db, account, period, bought).await?;
        let event = AccountEvent::CreditsBought { credits: bought };
        account_log::insert(db, account, &Actor::SERVICE, &event, now).await?;
    }
    Ok(())
}

/// Aligns the account's periods with those of its subscription. The current period ends where the subscription's
/// begins; if it began later than that, it is extended to the end of the subscription's.
async fn follow_periods(
    db: &mut sqlx::PgConnection,
    account: AccountId,
    anchor: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    if credits::lock_anchor(db, account).await? == anchor {
        return Ok(());
    }
    let running = lock_balance(db, account, now).await?.period;
    credits::update_anchor(db, account, anchor).await?;
    let period = Period::around(anchor, now);
    if running.starts_at < period.starts_at {
        credits::update_end(db, account, running, period.starts_at).await?;
        credits::insert_period(db, account, period).await?;
    } else {
        credits::update_end(db, account, running, period.ends_at).await?;
    }
    Ok(())
}

/// Returns the overage that an account may use in a period, in credits.
pub(super) fn overage_limit(plans: &[PlanOffer], counts: Option<&Subscription>, now: OffsetDateTime) -> i64 {
    let Some(subscription) = counts else { return 0 };
    let plan = offers::paid_plan(plans, subscription, now);
    subscription.overage_limit_at(now, plan.map_or(0, |plan| plan.overage_limit))
}

async fn follow_overage(
    db: &mut sqlx::PgConnection,
    account: AccountId,
    limit: i64,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    if credits::lock_overage_limit(db, account).await? == limit {
        return Ok(());
    }
    let balance = lock_balance(db, account, now).await?;
    credits::update_overage_limit(db, account, balance.period, limit).await
}

/// Records changes that no event announced: an event was lost, or the address of the webhook is wrong.
async fn note_differences(
    db: &mut sqlx::PgConnection,
    customer: &QueuedCustomer,
    account: AccountId,
    (known, found): (&[Subscription], &[Subscription]),
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let words = |one: Option<&Subscription>| match one {
        Some(one) => format!("{} {}", one.status, one.product),
        None => "nothing".to_owned(),
    };
    let of = |list: &[Subscription], id: &str| words(list.iter().find(|one| one.id == id));
    let mut ids: Vec<&str> = known.iter().chain(found).map(|one| one.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        let (here, there) = (of(known, id), of(found, id));
        if here != there {
            tracing::warn!(
                customer = customer.id,
                subscription = id,
                here,
                there,
                "change at Stripe without an event"
            );
            let words = format!("{id} was {here} here and {there} at Stripe, without an event");
            stripe_events::insert_difference(db, &customer.id, Some(account), &words, now).await?;
        }
    }
    Ok(())
}

async fn subscriptions(till: &Till, customer: &str, products: &[String]) -> Result<Vec<Subscription>, BillingError> {
    let mut subscriptions = Vec::new();
    for found in till.stripe.subscriptions_of(customer, products).await? {
        let unpaid_since = match found.status.as_str() {
            "past_due" | "unpaid" => {
                let since = till.stripe.unpaid_since(&found.id).await?;
                since.or(Some(found.period_starts_at))
            }
            _ => None,
        };
        subscriptions.push(plain(&found, unpaid_since));
    }
    Ok(subscriptions)
}

/// Converts Stripe's subscription to the domain's, without the fields that aren't needed here.
pub(super) fn plain(found: &Found, unpaid_since: Option<OffsetDateTime>) -> Subscription {
    Subscription {
        id: found.id.clone(),
        status: found.status.clone(),
        product: found.product.clone(),
        anchor: found.anchor,
        period_ends_at: found.period_ends_at,
        cancel_at: found.cancel_at,
        kept: found.kept.as_ref().map(|kept| PaidProduct {
            product: kept.product.clone(),
            until: kept.until,
        }),
        unpaid_since,
        overage_limit: found.overage.as_ref().map_or(0, |overage| overage.limit),
        created_at: found.created_at,
    }
}

fn purchase(paid: PaidCredits) -> Purchase {
    Purchase {
        refunded: billing::refunded_credits(paid.credits, paid.paid, paid.refunded),
        id: paid.id,
        credits: paid.credits,
        ordered_at: paid.ordered_at,
    }
}
