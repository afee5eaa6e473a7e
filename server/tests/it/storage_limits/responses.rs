//! Responses that are stored for idempotency keys.

use futures::future::join_all;
use reqwest::Response;
use serde_json::json;

use super::refusal;
use crate::support::studio::{Studio, body, problems};

const CHARGED: &str = "select coalesce(sum(used), 0)::bigint from credit_periods";

async fn send(studio: &Studio, key: &str, page: &str) -> Response {
    let request = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
    let request = request.bearer_auth(&studio.account.key).header("idempotency-key", key);
    request.json(&body(page, json!({}))).send().await.expect("an answer")
}

const STORED: &str = "select count(*) from idempotency_keys where answer is not null";

#[tokio::test]
async fn a_response_that_does_not_fit_is_refused_and_costs_nothing() {
    let studio = Studio::start().await;
    let (service, account) = (&studio.service, &studio.account);
    assert_eq!(send(&studio, "a", "<p>1").await.status(), 200);
    let size = service.stored(account, "response_bytes").await;
    assert!(size > 1000, "{size}");
    service.storage_is_counted().await;

    // There is room when the render starts, but not for its document.
    service.limit_storage(account, "response_bytes", size + size / 2).await;
    let message = refusal(send(&studio, "b", "<p>2").await).await;
    let expected = "Responses stored for idempotency keys are limited to";
    assert!(
        message.starts_with(expected) && message.contains("send no Idempotency-Key"),
        "{message}"
    );
    assert_eq!((service.number(CHARGED).await, service.number(STORED).await), (1, 1));
    let failed = "select count(*) from renders where status = 'failed' and credits is null";
    assert_eq!(service.number(failed).await, 1);

    // A validation error is returned, although it isn't stored either.
    service.limit_storage(account, "response_bytes", size + 1).await;
    assert_eq!(problems(send(&studio, "c", "https://127.0.0.1/").await).await.len(), 1);

    // Without room, nothing is rendered. Stored responses are replayed, and requests without a key succeed.
    service.limit_storage(account, "response_bytes", 1).await;
    refusal(send(&studio, "d", "<p>4").await).await;
    assert_eq!(service.number("select count(*) from renders").await, 3);
    let replayed = send(&studio, "a", "<p>1").await;
    assert!(replayed.headers().contains_key("idempotent-replayed"));
    assert_eq!(studio.render("<p>5", json!({})).await.status(), 200);

    // The keys of refused requests are free.
    service.limit_storage(account, "response_bytes", 1 << 30).await;
    assert_eq!(send(&studio, "b", "<p>another").await.status(), 200);
    service.storage_is_counted().await;
}

#[tokio::test]
async fn of_many_responses_at_once_no_more_are_stored_than_fit() {
    let studio = Studio::start().await;
    let (service, account) = (&studio.service, &studio.account);
    assert_eq!(send(&studio, "first", "<p>1").await.status(), 200);
    let size = service.stored(account, "response_bytes").await;
    let limit = size * 3 + size / 2;
    service.limit_storage(account, "response_bytes", limit).await;
    let keys: Vec<_> = (0..8).map(|number| format!("key {number}")).collect();
    let answers = join_all(keys.iter().map(|key| send(&studio, key, "<p>1"))).await;
    let (stored, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status() == 200);
    assert_eq!((stored.len(), service.number(STORED).await), (2, 3));
    for answer in refused {
        refusal(answer).await;
    }
    assert!(service.stored(account, "response_bytes").await <= limit);
    assert_eq!(service.number(CHARGED).await, 3);
    service.storage_is_counted().await;
}
