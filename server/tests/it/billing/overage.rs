//! Overage: use beyond the plan's credits, up to the owner's limit, reported to Stripe exactly once.

use platen_core::{
    clock,
    service::billing::{BillingError, overage, purchases, reconciliation},
    store::jobs::ClaimedJob,
};
use platen_domain::{caller::Caller, job::JobKind};
use platen_fake_stripe::{FakeStripe, MeterEvents};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use crate::support::{
    queue::claim_due,
    shop::{Shop, WEBHOOK_SECRET, settings},
    studio::Studio,
};

async fn allow(shop: &Shop, caller: &Caller, limit: i64) -> Result<(), BillingError> {
    purchases::set_overage_limit(&shop.billing, caller, limit, clock::now()).await
}

/// Creates an account on Starter that may use a thousand credits beyond the plan.
async fn allowed(shop: &Shop) -> Caller {
    let ann = shop.account("ann@example.org").await;
    shop.subscribe(&ann, "Starter").await;
    shop.hear_all().await;
    allow(shop, &ann, 1000).await.expect("allowed");
    ann
}

/// Inserts a render that used `credits` beyond the plan, `ago` before now.
async fn use_beyond(shop: &Shop, credits: i64, ago: &str) {
    shop.execute(&format!(
        "insert into overage_uses (render_id, customer_id, period_starts_at, credits, used_at)
         select gen_random_uuid(), id, date_trunc('month', now()), {credits}, now() - interval '{ago}'
         from stripe_customers"
    ))
    .await;
}

async fn tell(shop: &Shop) {
    overage::collect(&shop.billing).await.expect("collected");
    loop {
        let claimed = claim_due(&shop.billing.db, JobKind::Usage).await;
        if claimed.is_empty() {
            return;
        }
        for job in claimed {
            let ClaimedJob::Usage(claim, event) = job else {
                panic!("no usage: {job:?}");
            };
            overage::send(&shop.billing, &claim, event).await.expect("sent");
        }
    }
}

/// Makes postponed meter events due and sends them.
async fn tell_again(shop: &Shop) {
    shop.execute("update jobs set run_at = now() where kind = 'usage' and run_at < 'infinity'")
        .await;
    tell(shop).await;
}

fn credits_counted(shop: &Shop) -> Vec<i64> {
    shop.stripe.counted().into_iter().map(|(_, credits)| credits).collect()
}

#[tokio::test]
async fn as_much_is_allowed_as_owner_and_plan_say_while_it_is_paid_for() {
    let shop = Shop::open().await;
    let ann = shop.account("ann@example.org").await;
    let early = allow(&shop, &ann, 1).await;
    assert!(matches!(early, Err(BillingError::WrongMoment)), "{early:?}");
    let subscription = shop.subscribe(&ann, "Starter").await;
    shop.hear_all().await;
    assert_eq!(shop.plan(&ann).await.1, 2000);
    let much = allow(&shop, &ann, 2001).await;
    assert!(matches!(much, Err(BillingError::WrongMoment)), "{much:?}");
    allow(&shop, &ann, 2000).await.expect("allowed");
    assert_eq!(shop.plan(&ann).await.1, 4000);
    // The subscription item stays, and exists only once.
    allow(&shop, &ann, 0).await.expect("no more");
    assert_eq!(shop.plan(&ann).await.1, 2000);
    allow(&shop, &ann, 500).await.expect("allowed");
    let items = shop.stripe.last_subscription()["items"]["data"].clone();
    assert_eq!(items.as_array().map(Vec::len), Some(2), "{items}");
    // The limit outlives the period and a change of plan, but not a failed payment.
    shop.execute(
        "update credit_periods set starts_at = starts_at - interval '2 months', ends_at = ends_at - interval '2 months'",
    )
    .await;
    assert_eq!(shop.plan(&ann).await.1, 2500);
    let now = clock::now();
    purchases::change(&shop.billing, &ann, "Growth", now, now)
        .await
        .expect("changed");
    assert_eq!(shop.plan(&ann).await.1, 20_500);
    shop.stripe.fail_payment(&subscription, 3600);
    shop.hear_all().await;
    assert_eq!(shop.plan(&ann).await, ("Growth".to_owned(), 20_000));
    shop.stripe.settle(&subscription);
    shop.hear_all().await;
    assert_eq!(shop.plan(&ann).await.1, 20_500);
    shop.stripe.end(&subscription);
    shop.hear_all().await;
    assert_eq!(shop.plan(&ann).await, ("Free".to_owned(), 100));
}

#[tokio::test]
async fn a_limit_that_is_lowered_keeps_what_is_used_and_later_credits_do_not_pay_for_it() {
    let shop = Shop::open().await;
    let ann = allowed(&shop).await;
    shop.execute("update credit_periods set used = 2300, overage_used = 300 where ends_at > now()")
        .await;
    allow(&shop, &ann, 0).await.expect("no more");
    assert_eq!(shop.plan(&ann).await.1, 2300);
    shop.buy(&ann).await;
    shop.hear_all().await;
    let balance = shop.usage(&ann).await.balance;
    assert_eq!(balance.total() - balance.used, 1000);
    assert_eq!(balance.own - (balance.used - balance.overage_used), 1000);
    // Bought credits are carried over in full.
    shop.execute(
        "update credit_periods set starts_at = starts_at - interval '2 months', ends_at = ends_at - interval '2 months'",
    )
    .await;
    assert_eq!(shop.plan(&ann).await.1, 3000);
}

// The command blocks its thread; the fake needs another one.
#[tokio::test(flavor = "multi_thread")]
async fn renders_go_on_beyond_the_credits_up_to_the_limit_and_stripe_is_told() {
    let stripe = FakeStripe::start(WEBHOOK_SECRET).await;
    let settings = settings(stripe.url());
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let studio = Studio::start_with(&settings).await;
    studio
        .service
        .execute(
            "with customer as (insert into stripe_customers (id, account_id, inserted_at) select 'cus_1', id, now() from accounts returning 1)
             update accounts set credits = 1, overage_limit = 3 where exists (select from customer)",
        )
        .await;
    let eleven = "<p style='break-after:page'>x</p>".repeat(10) + "<p>x";
    // Two credits, one of which the account has.
    for (document, status) in [
        (eleven.as_str(), 200),
        ("<p>x", 200),
        (eleven.as_str(), 403),
        ("<p>x", 200),
        ("<p>x", 403),
    ] {
        assert_eq!(studio.render(document, json!({})).await.status(), status);
    }
    let request = studio.request(reqwest::Method::GET, "/api/v1/credits");
    let body: Value = request.send().await.expect("an answer").json().await.expect("JSON");
    assert_eq!(
        (&body["data"]["credits_total"], &body["data"]["credits_used"]),
        (&json!(4), &json!(4))
    );
    assert!(stripe.counted().is_empty(), "not a minute has passed");
    studio
        .service
        .execute("update overage_uses set used_at = used_at - interval '2 minutes'")
        .await;
    let sent = "select count(*) from stripe_meter_events where sent_at is not null";
    studio.service.number_is(1, sent).await;
    assert_eq!(stripe.counted(), [("cus_1".to_owned(), 3)]);
    let renders =
        "select count(*) from overage_uses join renders on renders.id = render_id where meter_event_id is not null";
    studio.service.number_is(3, renders).await;
}

#[tokio::test]
async fn an_event_counts_once_however_often_it_is_sent() {
    let shop = Shop::open().await;
    allowed(&shop).await;
    use_beyond(&shop, 5, "2 minutes").await;
    use_beyond(&shop, 7, "3 minutes").await;
    use_beyond(&shop, 100, "10 seconds").await;
    shop.stripe.at_meter_events(MeterEvents::CountAndLoseTheAnswer);
    tell(&shop).await;
    assert_eq!(credits_counted(&shop), [12]);
    let failures = "select string_agg(failures::text, ' ') from jobs where kind = 'usage'";
    assert_eq!(shop.text(failures).await, "1");
    tell_again(&shop).await;
    let state = "select concat_ws(' ', count(*), count(sent_at)) from stripe_meter_events";
    assert_eq!(shop.text(state).await, "1 1");
    shop.stripe.at_meter_events(MeterEvents::Count);
    tell_again(&shop).await;
    tell_again(&shop).await;
    assert_eq!(credits_counted(&shop), [12]);
    assert_eq!(shop.text(state).await, "1 1");
}

#[tokio::test]
async fn what_stripe_refuses_is_sent_until_it_is_taken_and_what_is_in_doubt_for_a_day_waits_for_an_operator() {
    let shop = Shop::open().await;
    allowed(&shop).await;
    let failed =
        "select coalesce(string_agg(concat_ws(' ', kind, again_at is null, error), '; '), '') from failed_work";
    use_beyond(&shop, 5, "2 minutes").await;
    shop.stripe.at_meter_events(MeterEvents::Refuse);
    tell(&shop).await;
    // Not before the retry is due.
    shop.stripe.at_meter_events(MeterEvents::Count);
    tell(&shop).await;
    assert_eq!(credits_counted(&shop), Vec::<i64>::new());
    tell_again(&shop).await;
    assert_eq!(
        (credits_counted(&shop), shop.text(failed).await),
        (vec![5], String::new())
    );
    use_beyond(&shop, 6, "2 minutes").await;
    shop.stripe.at_meter_events(MeterEvents::Lose);
    tell(&shop).await;
    shop.execute("update stripe_meter_events set in_doubt_since = now() - interval '22 hours' where sent_at is null")
        .await;
    tell_again(&shop).await;
    let words = shop.text(failed).await;
    assert!(words.starts_with("usage f no usable response from Stripe"), "{words}");
    shop.execute("update stripe_meter_events set in_doubt_since = now() - interval '1 day' where sent_at is null")
        .await;
    shop.stripe.at_meter_events(MeterEvents::Count);
    tell_again(&shop).await;
    tell_again(&shop).await;
    assert_eq!(credits_counted(&shop), [5]);
    let words = shop.text(failed).await;
    assert!(
        words.starts_with("usage t Stripe did not confirm this usage within a day."),
        "{words}"
    );
}

#[tokio::test]
async fn what_stripe_has_counted_of_the_day_before_is_compared() {
    let shop = Shop::open().await;
    allowed(&shop).await;
    use_beyond(&shop, 40, "2 minutes").await;
    tell(&shop).await;
    let used_at = shop
        .text("select extract(epoch from used_at)::bigint::text from stripe_meter_events")
        .await;
    let used_at = OffsetDateTime::from_unix_timestamp(used_at.parse().expect("seconds")).expect("a time");
    let compare = async || {
        let found = reconciliation::reconcile(&shop.billing, used_at + Duration::DAY).await;
        let found = found.expect("compared").into_iter();
        found.map(|difference| difference.words).collect::<Vec<_>>()
    };
    assert_eq!(compare().await, Vec::<String>::new());
    shop.execute("update stripe_meter_events set credits = 41").await;
    let words = format!(
        "41 overage credits were used on {}, but Stripe counted 40",
        used_at.date()
    );
    assert!(compare().await.contains(&words));
}

#[tokio::test]
async fn who_is_deleted_pays_for_what_was_used_by_then() {
    let shop = Shop::open().await;
    let ann = allowed(&shop).await;
    use_beyond(&shop, 9, "1 second").await;
    shop.execute(&format!("delete from accounts where id = '{}'", ann.account))
        .await;
    shop.look().await;
    assert_eq!(credits_counted(&shop), [9]);
    assert_eq!(shop.stripe.last_subscription()["status"], "canceled");
    assert_eq!(shop.text("select count(*)::text from overage_uses").await, "0");
}
