//! The effect of purchases on an account.

use platen_core::{
    clock,
    service::billing::{
        BillingError,
        purchases::{self, Change},
        reconciliation,
        status::{self, BillingDetails},
    },
};
use platen_domain::billing::PaymentDue;
use time::{Duration, OffsetDateTime};

use crate::support::shop::{Shop, buyer};

#[tokio::test]
async fn a_plan_counts_as_soon_as_it_is_paid_for_and_its_months_are_the_credits_months() {
    let shop = Shop::open().await;
    let ann = shop.account("ann@example.org").await;
    shop.usage(&ann).await;
    shop.execute("update credit_periods set starts_at = starts_at - interval '5 days', used = 60")
        .await;
    assert_eq!(shop.plan(&ann).await, ("Free".to_owned(), 100));
    shop.subscribe(&ann, "Starter").await;
    assert_eq!(shop.plan(&ann).await, ("Free".to_owned(), 100));
    shop.hear_all().await;
    assert_eq!(shop.plan(&ann).await, ("Starter".to_owned(), 2000));
    let period = shop.usage(&ann).await.balance.period;
    let stripes = &shop.stripe.last_subscription()["items"]["data"][0];
    let stripes = ["current_period_start", "current_period_end"].map(|name| stripes[name].as_i64());
    assert_eq!(
        [period.starts_at, period.ends_at].map(|at| Some(at.unix_timestamp())),
        stripes
    );
    assert_eq!(shop.usage(&ann).await.balance.used, 0);
    // An account with a subscription can't start a second one.
    let again = purchases::subscribe(&shop.billing, &buyer(&ann), "Growth").await;
    assert!(matches!(again, Err(BillingError::WrongMoment)), "{again:?}");
}

#[tokio::test]
async fn more_counts_at_once_for_the_amount_that_was_shown_and_less_when_the_period_ends() {
    let shop = Shop::open().await;
    let ann = shop.account("ann@example.org").await;
    shop.subscribe(&ann, "Starter").await;
    shop.hear_all().await;
    let (billing, now) = (&shop.billing, clock::now());
    let shown = purchases::preview(billing, &ann, "Growth", now)
        .await
        .expect("an amount");
    let Change::Larger { today, as_of, .. } = shown else {
        panic!("{shown:?}");
    };
    assert!((6900..=7000).contains(&today), "{today}");
    let late = purchases::change(billing, &ann, "Growth", as_of - Duration::hours(2), now).await;
    assert!(matches!(late, Err(BillingError::WrongMoment)), "{late:?}");
    shop.stripe.decline_next();
    let declined = purchases::change(billing, &ann, "Growth", as_of, now).await;
    assert!(declined.unwrap_err().to_string().contains("Your card was declined."));
    assert_eq!(shop.plan(&ann).await, ("Starter".to_owned(), 2000));
    purchases::change(billing, &ann, "Growth", as_of, now)
        .await
        .expect("changed");
    assert_eq!(shop.plan(&ann).await, ("Growth".to_owned(), 20_000));
    // A downgrade leaves the paid period unchanged.
    shop.execute("update credit_periods set used = 5000 where ends_at > now()")
        .await;
    let shown = purchases::preview(billing, &ann, "Starter", now).await.expect("a day");
    assert!(matches!(shown, Change::Smaller { .. }), "{shown:?}");
    purchases::change(billing, &ann, "Starter", now, now)
        .await
        .expect("changed");
    assert_eq!(shop.plan(&ann).await, ("Growth".to_owned(), 20_000));
    let twice = purchases::preview(billing, &ann, "Scale", now).await;
    assert!(matches!(twice, Err(BillingError::WrongMoment)), "{twice:?}");
    purchases::keep(billing, &ann, now).await.expect("kept");
    purchases::preview(billing, &ann, "Scale", now).await.expect("at rest");
}

#[tokio::test]
async fn a_smaller_plan_counts_once_the_period_is_over_and_the_larger_one_is_not_to_be_had_for_nothing() {
    let shop = Shop::open().await;
    let ann = shop.account("ann@example.org").await;
    let subscription = shop.subscribe(&ann, "Growth").await;
    shop.hear_all().await;
    let (billing, now) = (&shop.billing, clock::now());
    purchases::change(billing, &ann, "Starter", now, now)
        .await
        .expect("changed");
    shop.execute("update credit_periods set used = 5000 where ends_at > now()")
        .await;
    shop.stripe.let_kept_pass(&subscription);
    shop.hear_all().await;
    // Used credits remain counted, but no more are available.
    assert_eq!(shop.plan(&ann).await, ("Starter".to_owned(), 5000));
    let late = purchases::keep(billing, &ann, now).await;
    assert!(matches!(late, Err(BillingError::WrongMoment)), "{late:?}");
}

#[tokio::test]
async fn what_is_not_paid_ends_in_the_free_plan_after_seven_days_and_returns_with_the_payment() {
    let shop = Shop::open().await;
    let ann = shop.account("ann@example.org").await;
    let subscription = shop.subscribe(&ann, "Starter").await;
    shop.hear_all().await;
    shop.execute("update credit_periods set used = 700 where ends_at > now()")
        .await;
    shop.stripe.fail_payment(&subscription, 86_400);
    shop.hear_all().await;
    let now = clock::now();
    let due = status::payment_due(&shop.billing, ann.account, now)
        .await
        .expect("asked");
    let Some(PaymentDue::Until(until)) = due else {
        panic!("{due:?}")
    };
    assert_eq!((until - now).whole_days(), 5);
    assert_eq!(shop.plan(&ann).await, ("Starter".to_owned(), 2000));
    // Without an event: the check is simply due.
    shop.stripe.fail_payment(&subscription, 8 * 86_400);
    drop(shop.stripe.events());
    shop.execute("update stripe_customers set look_at = now()").await;
    shop.look().await;
    assert_eq!(shop.plan(&ann).await, ("Free".to_owned(), 700));
    let due = status::payment_due(&shop.billing, ann.account, now)
        .await
        .expect("asked");
    assert_eq!(due, Some(PaymentDue::Overdue));
    shop.stripe.settle(&subscription);
    shop.hear_all().await;
    assert_eq!(shop.plan(&ann).await, ("Starter".to_owned(), 2000));
}

#[tokio::test]
async fn the_owner_is_told_once_when_a_payment_fails_and_once_when_the_plan_is_lost_because_of_it() {
    let shop = Shop::open().await;
    let ann = shop.account("ann@example.org").await;
    let subscription = shop.subscribe(&ann, "Starter").await;
    shop.hear_all().await;
    let told = async || {
        let letters = "select coalesce(string_agg(concat_ws(' ', recipient, letter ->> 'kind', letter ->> 'account',
                           letter ->> 'plan', round(extract(epoch from (letter ->> 'until')::timestamptz - now()) / 3600)),
                           ', ' order by id), '') from mails";
        let letters = shop.text(letters).await;
        shop.execute("delete from mails").await;
        letters
    };
    let look_again = async || {
        shop.execute("update stripe_customers set look_at = now()").await;
        shop.look().await;
    };
    assert_eq!(told().await, "");
    shop.stripe.fail_payment(&subscription, 3600);
    shop.hear_all().await;
    // Seven days less an hour.
    assert_eq!(
        told().await,
        "ann@example.org payment_failed Example & Sons Starter 167"
    );
    // Stripe retries and sends an event, and the account is checked every day.
    shop.stripe.fail_payment(&subscription, 1800);
    shop.hear_all().await;
    look_again().await;
    assert_eq!(told().await, "");
    shop.stripe.settle(&subscription);
    shop.hear_all().await;
    shop.stripe.fail_payment(&subscription, 60);
    shop.hear_all().await;
    assert!(told().await.contains("payment_failed"), "another time");
    shop.stripe.fail_payment(&subscription, 8 * 86_400);
    look_again().await;
    look_again().await;
    assert_eq!(told().await, "ann@example.org plan_lost Example & Sons Starter");
    assert_eq!(shop.plan(&ann).await.0, "Free");
    // Stripe eventually gives up; the plan is already lost.
    shop.stripe.end(&subscription);
    shop.hear_all().await;
    assert_eq!(told().await, "");
}

#[tokio::test]
async fn the_owner_is_told_that_the_plan_is_lost_when_stripe_gives_up_before_us_but_not_when_they_have_ended_it() {
    let shop = Shop::open().await;
    for (email, fails, letters) in [
        ("ann@example.org", true, "payment_failed, plan_lost"),
        ("ben@example.org", false, ""),
    ] {
        let owner = shop.account(email).await;
        let subscription = shop.subscribe(&owner, "Starter").await;
        shop.hear_all().await;
        if fails {
            shop.stripe.fail_payment(&subscription, 3600);
            shop.hear_all().await;
        }
        shop.stripe.end(&subscription);
        shop.hear_all().await;
        assert_eq!(shop.plan(&owner).await.0, "Free");
        let told = format!(
            "select coalesce(string_agg(letter ->> 'kind', ', ' order by id), '') from mails where recipient = '{email}'"
        );
        assert_eq!(shop.text(&told).await, letters);
    }
}

#[tokio::test]
async fn bought_credits_are_used_last_and_stay_until_they_are_used() {
    let shop = Shop::open().await;
    let ann = shop.account("ann@example.org").await;
    shop.buy(&ann).await;
    shop.hear_all().await;
    shop.hear_all().await;
    assert_eq!(shop.plan(&ann).await, ("Free".to_owned(), 1100));
    let next_month = async |used: i64| {
        shop.execute(&format!(
            "update credit_periods set used = {used} where ends_at > now();
             update credit_periods set starts_at = starts_at - interval '2 months', ends_at = ends_at - interval '2 months'"
        ))
        .await;
        shop.plan(&ann).await.1
    };
    assert_eq!(next_month(80).await, 1100);
    assert_eq!(next_month(350).await, 850);
    assert_eq!(next_month(850).await, 100);
}

#[tokio::test]
async fn a_refund_takes_bought_credits_back_once_and_none_that_is_used_or_reserved() {
    let shop = Shop::open().await;
    let ann = shop.account("ann@example.org").await;
    shop.buy(&ann).await;
    shop.hear_all().await;
    assert_eq!(shop.plan(&ann).await.1, 1100);
    let hear_twice = async || {
        let events = shop.stripe.events();
        assert!(events[0].contains("charge.refunded"), "{events:?}");
        for body in events.iter().chain(&events) {
            shop.hear(body).await.expect("taken");
            shop.look().await;
        }
        shop.plan(&ann).await.1
    };
    let log = async || {
        let log = "select coalesce(string_agg(deed ->> 'credits', ' ' order by id), '') from account_log
                   where deed ->> 'kind' = 'payment.credits_taken_back'";
        shop.text(log).await
    };
    // A third of € 12.
    shop.refund(&ann, 33).await;
    assert_eq!((hear_twice().await, log().await), (770, "330".to_owned()));
    // The last hundred were beyond the credits when they were used, but are covered by now.
    shop.execute("update credit_periods set used = 700, overage_used = 100, overage_limit = 100")
        .await;
    shop.execute(&format!(
        "insert into credit_reservations (account_id, credits) values ('{}', 50)",
        ann.account
    ))
    .await;
    shop.refund(&ann, 100).await;
    assert_eq!((hear_twice().await, log().await), (750, "330 120".to_owned()));
    // Later purchases don't pay for earlier use, even if all events arrive at once.
    shop.execute("delete from credit_reservations").await;
    for _ in 0..2 {
        shop.buy(&ann).await;
    }
    shop.refund(&ann, 100).await;
    shop.hear_all().await;
    assert_eq!((shop.plan(&ann).await.1, log().await), (1750, "330 120".to_owned()));
}

#[tokio::test]
async fn what_an_operator_decides_stays_until_something_changes_at_stripe() {
    let shop = Shop::open().await;
    let ann = shop.account("ann@example.org").await;
    let subscription = shop.subscribe(&ann, "Starter").await;
    shop.hear_all().await;
    shop.execute("update accounts set plan = 'Scale'").await;
    shop.execute("update stripe_customers set look_at = now()").await;
    shop.look().await;
    assert_eq!(shop.plan(&ann).await.0, "Scale");
    shop.stripe.end(&subscription);
    shop.hear_all().await;
    assert_eq!(shop.plan(&ann).await.0, "Free");
}

#[tokio::test]
async fn an_account_that_is_deleted_pays_no_more() {
    let shop = Shop::open().await;
    let ann = shop.account("ann@example.org").await;
    shop.subscribe(&ann, "Starter").await;
    shop.hear_all().await;
    shop.execute("delete from accounts").await;
    shop.look().await;
    assert_eq!(shop.stripe.last_subscription()["status"], "canceled");
    assert_eq!(shop.text("select count(*)::text from stripe_customers").await, "0");
    assert_eq!(
        shop.text("select count(*)::text from stripe_events where body like '%sub_%'")
            .await,
        "0"
    );
}

#[tokio::test]
async fn changes_at_stripe_without_an_event_are_found_by_reconciliation() {
    let shop = Shop::open().await;
    let ann = shop.account("ann@example.org").await;
    let subscription = shop.subscribe(&ann, "Starter").await;
    shop.hear_all().await;
    let found = async || {
        let differences = reconciliation::reconcile(&shop.billing, clock::now()).await;
        let differences = differences.expect("compared").into_iter();
        differences.map(|difference| difference.words).collect::<Vec<_>>()
    };
    assert_eq!(found().await, Vec::<String>::new());
    shop.stripe.end(&subscription);
    drop(shop.stripe.events());
    let words = format!(
        "{subscription} was active platen_starter here and canceled platen_starter at Stripe, without an event"
    );
    assert_eq!(found().await, [words]);
    assert_eq!(shop.plan(&ann).await.0, "Free");
    shop.stripe.subscribe_by_hand("cus_of_nobody", "platen_scale");
    let words = found().await;
    assert!(
        words.len() == 1 && words[0].ends_with("this customer belongs to no account"),
        "{words:?}"
    );
}

#[tokio::test]
async fn the_owner_sees_card_and_invoices_and_misses_nothing_else_while_stripe_is_silent() {
    let mut shop = Shop::open().await;
    let ann = shop.account("ann@example.org").await;
    shop.subscribe(&ann, "Starter").await;
    let see = async |shop: &Shop| {
        let overview = status::overview(&shop.billing, ann.account, true, OffsetDateTime::now_utc()).await;
        overview.expect("an overview").expect("something for sale")
    };
    // No event has arrived yet.
    let overview = see(&shop).await;
    let Some(BillingDetails::Known { invoices, card, payer }) = overview.billing_details else {
        panic!("{overview:?}");
    };
    assert_eq!(overview.subscription.expect("a subscription").product, "platen_starter");
    assert_eq!((invoices.len(), invoices[0].total), (1, 1900));
    assert_eq!(card.expect("a card").last4.as_deref(), Some("4242"));
    assert_eq!(payer.name.as_deref(), Some("Example & Sons"));
    shop.stripe = platen_fake_stripe::FakeStripe::start("gone").await;
    let overview = status::overview(&shop.billing, ann.account, false, clock::now()).await;
    let overview = overview.expect("an overview").expect("something for sale");
    assert!(
        matches!(overview.billing_details, Some(BillingDetails::Unknown)),
        "{overview:?}"
    );
    assert!(overview.subscription.is_some());
}
