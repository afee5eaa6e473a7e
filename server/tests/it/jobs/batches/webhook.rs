//! The webhook of a batch itself.

use serde_json::{Value, json};

use super::{counts, data, faults, lifetime::add_cancelled, numbers, with_rows};
use crate::{
    support::{receiver::Receiver, studio::Studio, visitor::Visitor},
    web::site,
};

fn with_callback(mut body: Value, url: &str) -> Value {
    body["batch"]["callback"] = json!({"url": url, "headers": {"X-Order": "4711"}});
    body
}

#[tokio::test]
async fn the_webhook_of_a_batch_is_notified_each_time_it_ends() {
    let receiver = Receiver::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &receiver.authority)]).await;
    let body = with_callback(
        studio.batch("{{ number + 1 }}").await,
        &receiver.url("/ended?token=hunter2"),
    );
    let rows = [json!({"number": 1}), json!({"number": "none"})];
    let path = studio.created(&with_rows(body, rows)).await;
    studio.batch_ended(&path).await;
    let sent = receiver.wait_for(1).await;
    assert_eq!(
        (sent[0].path.as_str(), &sent[0].headers["x-order"]),
        ("/ended", &"4711".parse().expect("a value"))
    );
    let secret = ["accounts", "webhook-secret", "--email", "ann@example.org"];
    let secret = studio.service.command(&secret, "").succeeded();
    assert!(sent[0].is_signed_with(secret.trim()));
    let event: Value = serde_json::from_str(&sent[0].body).expect("JSON");
    assert_eq!(
        (&event["type"], &event["data"]["state"]),
        (&json!("batch.ended"), &json!("ended"))
    );
    assert!(path.ends_with(event["data"]["batch_id"].as_str().expect("an id")));
    let ended = ["rows", "succeeded", "failed"].map(|name| event["data"][name].as_i64().expect("a number"));
    assert_eq!(ended, [2, 1, 1]);

    data(studio.act(&path, "retry").await).await;
    let again = receiver.wait_for(2).await;
    assert_ne!(again[0].headers["webhook-id"], again[1].headers["webhook-id"]);
    studio
        .service
        .number_is(2, "select count(*) from webhook_deliveries where state = 'delivered'")
        .await;
    assert!(!studio.service.process.log().contains("hunter2"));
    // The last batch of an account takes its deliveries along.
    studio.service.execute("delete from batches").await;
    assert_eq!(
        studio.service.number("select count(*) from webhook_deliveries").await,
        0
    );
}

#[tokio::test]
async fn a_delivery_to_the_webhook_of_a_batch_is_retried_and_sent_again() {
    let (site, receiver) = (site(), Receiver::start().await);
    let settings = [
        ("PLATEN_SITE_DIR", site.path().to_str().expect("text")),
        ("PLATEN_EGRESS_ALLOW", receiver.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    let body = with_callback(studio.batch("{{ number }}").await, &receiver.url("/503"));
    let path = studio.created(&with_rows(body, numbers(1))).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [1, 1, 1, 0]);
    studio
        .service
        .number_is(1, "select count(*) from jobs where kind = 'delivery' and failures = 1")
        .await;
    // While it is retried, the batch stays stored however many end after it.
    add_cancelled(&studio).await;
    studio.created(&studio.batch("{{ number }}").await).await;
    let delivery = studio.service.text("select id::text from webhook_deliveries").await;
    let ann = Visitor::log_in(&studio.service, "ann@example.org").await;
    let id = [("id", delivery.as_str())];
    ann.submit("stop-delivery", &id).await;
    let stopped = "select count(*) from webhook_deliveries where state = 'failed'";
    assert_eq!(studio.service.number(stopped).await, 1);
    ann.submit("resend-delivery", &id).await;
    assert_eq!(receiver.wait_for(2).await.len(), 2);
    let page = ann.page("/dashboard/webhooks").await;
    assert!(
        page.contains(&receiver.url("/503")) && page.contains("batch.ended"),
        "{page}"
    );
}

#[tokio::test]
async fn faults_of_the_webhook_of_a_batch_are_at_its_members() {
    let studio = Studio::start().await;
    let body = with_rows(studio.batch("{{ number }}").await, numbers(1));
    for (callback, pointer, reason) in [
        (json!({"url": "http://[::1]/"}), "/batch/callback/url", "public"),
        (
            json!({"url": "https://example.com:0/"}),
            "/batch/callback/url",
            "port 0",
        ),
        (json!({}), "/batch/callback/url", "required"),
        (
            json!({"url": "https://example.com/", "headers": {"Host": "x"}}),
            "/batch/callback/headers/Host",
            "",
        ),
    ] {
        let mut body = body.clone();
        body["batch"]["callback"] = callback;
        let found = faults(studio.create_batch(&body).await).await;
        let start = format!("{pointer}: ");
        assert!(
            found.len() == 1 && found[0].starts_with(&start) && found[0].contains(reason),
            "{found:?}"
        );
    }
    assert_eq!(studio.service.number("select count(*) from batches").await, 0);
}
