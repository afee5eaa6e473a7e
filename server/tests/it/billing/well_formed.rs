//! Every request to Stripe is valid according to Stripe's own API description.

use platen_billing::{
    catalogue::NewPrice,
    checkout::{Kind, Purchase},
    client::{Stripe, StripeError},
    customers::NewCustomer,
    metering::{MeterEvent, NewMeteredPrice},
    subscriptions::Subscription,
};
use time::{Duration, OffsetDateTime};
use url::Url;

use crate::support::stripe_mock::StripeMock;

fn ask(key: &str, mock: &StripeMock) -> Stripe {
    Stripe::new(&key.to_owned().into(), &Url::parse(&mock.url).expect("a URL")).expect("a client")
}

fn subscription() -> Subscription {
    let now = OffsetDateTime::now_utc();
    Subscription {
        id: "sub_1".into(),
        customer: "cus_1".into(),
        status: "active".into(),
        item: "si_1".into(),
        product: "platen_growth".into(),
        price: "price_1".into(),
        anchor: now,
        period_starts_at: now,
        period_ends_at: now + Duration::days(30),
        cancel_at: None,
        kept: None,
        overage: None,
        card: None,
        created_at: now,
    }
}

#[tokio::test]
async fn stripe_knows_every_parameter_of_ours() {
    let mock = StripeMock::start();
    let stripe = ask("sk_test_123", &mock);
    let (current, now) = (subscription(), OffsetDateTime::now_utc());
    let products = ["platen_growth".to_owned()];
    for tax in [false, true] {
        for kind in [Kind::Subscription, Kind::Credits(1000)] {
            let purchase = Purchase {
                customer: "cus_1",
                price: "price_1",
                kind,
                tax,
                success_url: "https://platen.example/dashboard/billing?done=subscribed",
                cancel_url: "https://platen.example/dashboard/billing",
            };
            let page = stripe.checkout_page(&purchase).await;
            // stripe-mock's response contains no URL.
            assert!(
                matches!(page, Ok(_) | Err(StripeError::Unreachable(_))),
                "{kind:?} {tax} {page:?}"
            );
        }
    }
    for monthly in [false, true] {
        let price = NewPrice {
            lookup_key: "platen_growth_monthly".to_owned(),
            product: "platen_growth".to_owned(),
            name: "Platen Growth".to_owned(),
            amount: 8900,
            currency: "eur".to_owned(),
            monthly,
        };
        stripe.create_price(&price).await.expect("a price");
    }
    let customer = NewCustomer {
        account: "0198f1d2",
        name: "Example & Sons",
        email: "ann@example.org",
    };
    stripe.create_customer(&customer).await.expect("a customer");
    stripe.payer("cus_1").await.expect("a payer");
    stripe
        .find_prices(&["platen_growth_monthly".to_owned()])
        .await
        .expect("prices");
    stripe
        .portal_page("cus_1", "https://platen.example/")
        .await
        .expect("a page");
    stripe.paid_credits("cus_1").await.expect("purchases");
    stripe
        .subscriptions_of("cus_1", &products)
        .await
        .expect("subscriptions");
    stripe.all_subscriptions(&products).await.expect("subscriptions");
    stripe.upgrade(&current, "price_2", now).await.expect("an upgrade");
    stripe.downgrade(&current, "price_2").await.expect("a downgrade");
    stripe.undo_downgrade(&current, "price_2").await.expect("no downgrade");
    stripe.cancel_at_period_end(&current).await.expect("an end");
    stripe.resume(&current).await.expect("no end");
    stripe
        .set_overage_limit(&current, "price_3", 500)
        .await
        .expect("a limit");
    stripe.cancel_now("sub_1").await.expect("an end");
    stripe.latest_invoices("cus_1", 12).await.expect("invoices");
    stripe.unpaid_since("sub_1").await.expect("a time");
    stripe
        .preview_upgrade(&current, "price_2", now)
        .await
        .expect("an amount");
}

#[tokio::test]
async fn stripe_knows_how_what_was_used_is_told() {
    let mock = StripeMock::start();
    let (stripe, now) = (ask("sk_test_123", &mock), OffsetDateTime::now_utc());
    stripe.overage_meter().await.expect("a meter");
    let price = NewMeteredPrice {
        lookup_key: "platen_overage_monthly",
        product: "platen_overage",
        name: "Platen, credits beyond the plan",
        amount: 850,
        currency: "eur",
        meter: "mtr_1",
    };
    stripe.create_metered_price(&price).await.expect("a price");
    stripe
        .find_metered_price("platen_overage_monthly")
        .await
        .expect("prices");
    let event = MeterEvent {
        identifier: "0198f1d2-0000-7000-8000-000000000001",
        customer: "cus_1",
        credits: 12,
        used_at: now,
    };
    stripe.report_usage(&event).await.expect("told");
    stripe
        .counted_usage("mtr_1", "cus_1", now - Duration::DAY, now)
        .await
        .expect("a sum");
}

#[tokio::test]
async fn what_stripe_refuses_is_told_in_its_words() {
    let mock = StripeMock::start();
    let refused = ask("nonsense", &mock).payer("cus_1").await.expect_err("refused");
    assert!(matches!(refused, StripeError::Refused { status: 401, .. }), "{refused}");
}
