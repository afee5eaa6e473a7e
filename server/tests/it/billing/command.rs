//! The billing commands, and the route for events.

use platen_fake_stripe::FakeStripe;
use reqwest::StatusCode;

use crate::support::{
    service::TestService,
    shop::{WEBHOOK_SECRET, settings},
};

async fn shop() -> (FakeStripe, TestService) {
    let stripe = FakeStripe::start(WEBHOOK_SECRET).await;
    let settings = settings(stripe.url());
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let service = TestService::start_with(&settings).await;
    service.command_with(&settings, &["billing", "sync"], "").succeeded();
    (stripe, service)
}

// The command blocks its thread; the fake needs another one.
#[tokio::test(flavor = "multi_thread")]
async fn prices_are_made_once_and_followed_afterwards() {
    let (stripe, service) = shop().await;
    let settings = settings(stripe.url());
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let again = service.command_with(&settings, &["billing", "sync"], "").succeeded();
    assert_eq!(
        again.lines().filter(|line| line.starts_with("there")).count(),
        6,
        "{again}"
    );
    assert!(
        again.contains("platen_growth_monthly") && again.contains("89.00 EUR"),
        "{again}"
    );
    let without = service.command(&["billing", "sync"], "");
    assert!(
        without.stderr.contains("PLATEN_STRIPE_SECRET_KEY"),
        "{}",
        without.stderr
    );
}

// The command blocks its thread; the fake needs another one.
#[tokio::test(flavor = "multi_thread")]
async fn events_are_taken_only_with_stripes_signature_and_only_where_something_is_for_sale() {
    let (stripe, service) = shop().await;
    let send = async |service: &TestService, body: &'static str, signature: &str| {
        let request = reqwest::Client::new().post(service.url("/webhooks/stripe"));
        let request = request.header("stripe-signature", signature).body(body);
        request.send().await.expect("an answer").status()
    };
    let event =
        r#"{"id":"evt_1","type":"a.word.of.next.year","created":1793451600,"data":{"object":{"object":"novelty"}}}"#;
    for _ in 0..2 {
        assert_eq!(send(&service, event, &stripe.signature(event)).await, StatusCode::OK);
    }
    service
        .number_is(
            1,
            "select count(*) from stripe_events where id = 'evt_1' and customer_id is null",
        )
        .await;
    assert_eq!(
        send(&service, event, &stripe.signature("{}")).await,
        StatusCode::BAD_REQUEST
    );
    let nonsense = "no event";
    assert_eq!(
        send(&service, nonsense, &stripe.signature(nonsense)).await,
        StatusCode::BAD_REQUEST
    );
    let plain = TestService::start().await;
    assert_eq!(
        send(&plain, event, &stripe.signature(event)).await,
        StatusCode::NOT_FOUND
    );
}
