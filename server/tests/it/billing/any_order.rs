//! Regardless of the order and repetition of Stripe's events, an account ends with what it pays for.

use platen_core::{clock, service::billing::purchases};
use platen_domain::caller::Caller;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, TestRunner},
};

use crate::support::shop::Shop;

/// Number of generated account histories.
const LIVES: u32 = 48;

/// An action on an account or at Stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Subscribe,
    Upgrade,
    Downgrade,
    Buy,
    AllowMore,
    FailToPay,
    FailToPayForLong,
    Settle,
    RefundPart,
    Refund,
    Cancel,
    Resume,
    End,
}

/// The actions in the order of a history; each except the first may be omitted.
const LIFE: [Step; 15] = [
    Step::Subscribe,
    Step::Buy,
    Step::AllowMore,
    Step::Upgrade,
    Step::RefundPart,
    Step::FailToPay,
    Step::Settle,
    Step::Downgrade,
    Step::FailToPayForLong,
    Step::Settle,
    Step::Refund,
    Step::Cancel,
    Step::Resume,
    Step::Buy,
    Step::RefundPart,
];

#[derive(Debug, Clone)]
struct Life {
    steps: Vec<Step>,
    /// After each step: the events so far that arrive now (indexes into all of them, so that they repeat), and whether
    /// the account is synchronized with Stripe.
    arrivals: Vec<(Vec<prop::sample::Index>, bool)>,
    /// The order in which all events arrive at the end.
    shuffle: Vec<u64>,
}

fn life() -> impl Strategy<Value = Life> {
    let chosen = proptest::collection::vec(any::<bool>(), LIFE.len() - 1);
    let arrivals = proptest::collection::vec(
        (
            proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
            any::<bool>(),
        ),
        LIFE.len() + 1,
    );
    let shuffle = proptest::collection::vec(any::<u64>(), 64);
    (chosen, any::<bool>(), arrivals, shuffle).prop_map(|(chosen, ends, arrivals, shuffle)| {
        let rest = LIFE
            .into_iter()
            .skip(1)
            .zip(chosen)
            .filter_map(|(step, chosen)| chosen.then_some(step));
        let end = ends.then_some(Step::End);
        let steps = [Step::Subscribe].into_iter().chain(rest).chain(end).collect();
        Life {
            steps,
            arrivals,
            shuffle,
        }
    })
}

impl Step {
    /// Performs the step; does nothing if it isn't applicable.
    async fn happen(self, shop: &Shop, account: &Caller, subscription: &mut String) {
        let (billing, stripe, now) = (&shop.billing, &shop.stripe, clock::now());
        match self {
            Self::Subscribe => *subscription = shop.subscribe(account, "Starter").await,
            Self::Upgrade => drop(purchases::change(billing, account, "Growth", now, now).await),
            Self::Downgrade => drop(purchases::change(billing, account, "Starter", now, now).await),
            Self::Buy => shop.buy(account).await,
            Self::AllowMore => drop(purchases::set_overage_limit(billing, account, 1500, now).await),
            Self::FailToPay => stripe.fail_payment(subscription, 3600),
            Self::FailToPayForLong => stripe.fail_payment(subscription, 8 * 86_400),
            Self::Settle => stripe.settle(subscription),
            Self::RefundPart => shop.refund(account, 33).await,
            Self::Refund => shop.refund(account, 100).await,
            Self::Cancel => drop(purchases::cancel(billing, account, now).await),
            Self::Resume => drop(purchases::resume(billing, account, now).await),
            Self::End => stripe.end(subscription),
        }
    }
}

/// Returns everything that the database contains about an account, except names and times, which differ between
/// accounts.
async fn state(shop: &Shop, account: &Caller) -> String {
    let id = account.account;
    shop.text(&format!(
        "select concat_ws(' ',
            (select concat_ws(' ', plan, coalesce(credits, -1), overage_limit) from accounts where id = '{id}'),
            (select given_plan || ' ' || (run_at is null) || ' ' || (jobs.claim is null) from stripe_customers customers
             left join jobs on customer_id = customers.id where customers.account_id = '{id}'),
            (select string_agg(concat_ws(' ', status, product, kept_product, overage_limit, cancel_at is null, unpaid_since is null), ',')
             from stripe_subscriptions where customer_id = (select id from stripe_customers where account_id = '{id}')),
            (select string_agg(concat_ws(' ', allowance, granted, bought, used, overage_limit, ends_at > now()), ',' order by starts_at)
             from credit_periods where account_id = '{id}'),
            (select sum(credits) || ' ' || sum(refunded) from stripe_purchases where customer_id = (select id from stripe_customers where account_id = '{id}')),
            (select (period_anchor = (select max(anchor) from stripe_subscriptions where customer_id =
                (select id from stripe_customers where account_id = '{id}')))::text from accounts where id = '{id}'))"
    ))
    .await
}

/// Runs the history of one account, with events arriving as chosen.
async fn live(shop: &Shop, account: &Caller, life: &Life, in_order: bool) -> String {
    let (mut events, mut subscription) = (Vec::new(), String::new());
    // The account's first period exists before any purchase.
    shop.usage(account).await;
    let id = account.account;
    shop.execute(&format!(
        "update credit_periods set starts_at = starts_at - interval '5 days' where account_id = '{id}'"
    ))
    .await;
    for (step, (arriving, looks)) in life.steps.iter().zip(&life.arrivals) {
        step.happen(shop, account, &mut subscription).await;
        let new = shop.stripe.events();
        if in_order {
            for body in &new {
                shop.hear(body).await.expect("taken");
            }
            shop.look().await;
        }
        events.extend(new);
        for index in arriving.iter().filter(|_| !in_order && !events.is_empty()) {
            shop.hear(index.get::<String>(&events)).await.expect("taken");
        }
        if *looks {
            shop.look().await;
        }
    }
    if !in_order {
        let mut order: Vec<usize> = (0..events.len()).collect();
        order.sort_by_key(|index| life.shuffle[index % life.shuffle.len()]);
        for index in order {
            shop.hear(&events[index]).await.expect("taken");
            if life.shuffle[index % life.shuffle.len()].is_multiple_of(3) {
                shop.look().await;
                // Stripe repeats deliveries that it isn't sure of.
                shop.hear(&events[index]).await.expect("taken");
            }
        }
    }
    shop.look().await;
    state(shop, account).await
}

#[tokio::test(flavor = "multi_thread")]
async fn any_order_and_repetition_of_events_ends_in_the_same_state() {
    let shop = Shop::open().await;
    let mut runner = TestRunner::new(Config::default());
    let mut ends = std::collections::BTreeSet::new();
    for number in 0..LIVES {
        let life = life().new_tree(&mut runner).expect("a life").current();
        let accounts = [
            shop.account(&format!("ordered-{number}@example.org")).await,
            shop.account(&format!("shuffled-{number}@example.org")).await,
        ];
        let expected = live(&shop, &accounts[0], &life, true).await;
        let shuffled = live(&shop, &accounts[1], &life, false).await;
        assert_eq!(shuffled, expected, "{life:?}");
        ends.insert(expected);
    }
    println!("{LIVES} lives, {} different ends", ends.len());
    assert!(ends.len() > 8, "the lives differ: {ends:?}");
}
