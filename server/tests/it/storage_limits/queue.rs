//! Queued renders: their number, requests, webhooks and documents.

use futures::future::join_all;
use reqwest::{Method, Response};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::refusal;
use crate::support::{
    background::page_with_callback,
    receiver::Receiver,
    service::TestAccount,
    storage_limits::ROOM_FOR_RENDERS,
    studio::{Studio, header},
};

/// Starts a service that accepts renders but doesn't run them.
async fn intake() -> Studio {
    Studio::start_with(&[("PLATEN_ROLE", "web")]).await
}

/// Sends `count` concurrent requests; returns the accepted renders and the refusals.
async fn queue_at_once(studio: &Studio, count: usize, body: &Value) -> (Vec<String>, Vec<Response>) {
    let answers = join_all((0..count).map(|_| studio.service.queue(&studio.account, body))).await;
    let (accepted, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status() == 200);
    let ids = accepted.iter().map(|answer| header(answer, "x-render-id").to_owned());
    (ids.collect(), refused)
}

#[tokio::test]
async fn of_many_renders_at_once_no_more_are_queued_than_fit() {
    let studio = intake().await;
    let (service, account) = (&studio.service, &studio.account);
    service.limit_storage(account, "queued_renders", 5).await;
    let (ids, refused) = queue_at_once(&studio, 20, &json!({"parts": ["<p>1"]})).await;
    assert_eq!((ids.len(), refused.len()), (5, 15));
    for answer in refused {
        let message = refusal(answer).await;
        let expected = "Queued renders are limited to 5, of which 5 are in use. Wait for queued renders";
        assert!(message.starts_with(expected), "{message}");
    }
    assert_eq!(service.number("select count(*) from renders").await, 5);
    assert_eq!(service.reserved_credits().await, 5);
    service.storage_is_counted().await;

    // A refused request leaves its idempotency key free.
    let send = async || {
        let request = service.client.post(service.url("/api/v1/renderers/pdf/async"));
        let request = request.bearer_auth(&account.key).header("idempotency-key", "a");
        request
            .json(&json!({"parts": ["<p>2"]}))
            .send()
            .await
            .expect("an answer")
    };
    refusal(send().await).await;
    let cancelled = studio.post(&format!("/api/v1/renders/{}/cancel", ids[0])).await;
    assert_eq!(cancelled.status(), 202);
    let accepted = send().await;
    assert_eq!(accepted.status(), 200);
    // A replay requires no space.
    let again = send().await;
    assert_eq!(header(&again, "x-render-id"), header(&accepted, "x-render-id"));
    service.storage_is_counted().await;
}

#[tokio::test]
async fn the_bytes_of_queued_requests_are_limited() {
    let studio = intake().await;
    let (service, account) = (&studio.service, &studio.account);
    service.limit_storage(account, "queued_bytes", 1_000_000).await;
    let body = json!({"parts": [format!("<p>{}", "x".repeat(300_000))]});
    let (ids, refused) = queue_at_once(&studio, 8, &body).await;
    assert_eq!((ids.len(), refused.len()), (3, 5));
    for answer in refused {
        let message = refusal(answer).await;
        assert!(
            message.starts_with("Requests of queued renders are limited to 976.5 KB"),
            "{message}"
        );
    }
    // A small request still fits.
    studio.queued(&json!({"parts": ["<p>1"]})).await;
    service.storage_is_counted().await;
}

#[tokio::test]
async fn rows_that_are_sent_with_their_batches_leave_room_for_renders() {
    let studio = intake().await;
    let (service, account) = (&studio.service, &studio.account);
    service
        .limit_storage(account, "queued_bytes", ROOM_FOR_RENDERS + 1_000_000)
        .await;
    let rows = vec![json!({"text": "x".repeat(1_000)}); 600];
    let body = json!({"batch": {"render": {"parts": ["<p>{{ text }}"]}, "rows": rows}});
    let create = async || {
        let request = studio.request(Method::POST, "/api/v1/batches").json(&body);
        request.send().await.expect("an answer")
    };
    let answers = join_all([create(), create(), create()]).await;
    let (accepted, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status() == 201);
    assert_eq!((accepted.len(), refused.len()), (1, 2));
    for answer in refused {
        let message = refusal(answer).await;
        assert!(
            message.starts_with("Requests of queued renders are limited to"),
            "{message}"
        );
    }
    assert_eq!(service.number("select count(*) from batches").await, 1);
    assert!(service.stored(account, "queued_bytes").await < 1_000_000);
    // Renders still fit.
    studio.queued(&json!({"parts": ["<p>1"]})).await;
}

#[tokio::test]
async fn of_renders_that_end_together_as_many_requests_are_retained_as_fit() {
    let studio = intake().await;
    let (service, ann) = (&studio.service, &studio.account);
    let (bob, careless) = (
        service.account("bob@example.org"),
        service.account("careless@example.org"),
    );
    service
        .execute(&format!(
            "update accounts set keep_content = false where id = '{}'",
            careless.id
        ))
        .await;
    let (large, small) = (json!({"parts": ["<p>".repeat(10_000)]}), json!({"parts": ["<p>1"]}));
    for account in [ann, &bob, &careless] {
        for body in [&large, &small, &large, &small] {
            service.queued(account, body).await;
        }
    }
    service.limit_storage(ann, "retained_bytes", 40_000).await;
    let ended = "update renders set status = 'cancelled', finished_at = now() where finished_at is null";
    assert_eq!(service.execute(ended).await, 12);
    let kept = "select string_agg((octet_length(sealed) > 9000)::text, ' ' order by render_id) from render_contents";
    let kept_of = async |account: &TestAccount| {
        let of_account = format!("{kept} where retained and account_id = '{}'", account.id);
        service.text(&of_account).await
    };
    assert_eq!(
        kept_of(ann).await,
        "true false false",
        "one large request finds no room"
    );
    assert_eq!(kept_of(&bob).await, "true false true false");
    assert_eq!(service.number("select count(*) from render_contents").await, 7);
    service.storage_is_counted().await;

    // Ended renders that change again keep what they have.
    service.limit_storage(&bob, "retained_bytes", 1).await;
    service.execute("update renders set title = 'Changed'").await;
    assert_eq!(service.number("select count(*) from render_contents").await, 7);
    service.storage_is_counted().await;
}

#[tokio::test]
async fn pending_callbacks_are_limited_from_the_acceptance_of_their_renders() {
    let receiver = Receiver::start().await;
    let studio = Studio::start_with_receiver(&receiver.authority).await;
    let (service, account) = (&studio.service, &studio.account);
    service.limit_storage(account, "pending_callbacks", 2).await;
    let to = |path: &str| page_with_callback("<p>1", &format!("http://{}{path}", receiver.authority));
    let failing = [studio.queued(&to("/500")).await, studio.queued(&to("/500")).await];
    for id in &failing {
        let tried = |render: &Value| {
            render["callback"]["attempts"]
                .as_array()
                .is_some_and(|tries| !tries.is_empty())
        };
        service.shown_when(account, id, tried).await;
    }
    let message = refusal(service.queue(account, &to("/")).await).await;
    assert!(message.starts_with("Pending webhooks are limited to 2"), "{message}");
    // A render without a webhook is accepted.
    let other = studio.queued(&json!({"parts": ["<p>1"]})).await;
    studio.ended(&other).await;
    service.storage_is_counted().await;

    // A failed delivery releases its share of the limit; sending it again requires it.
    let given_up = format!(
        "update callbacks set state = 'failed' where render_id = '{0}'; delete from jobs where render_id = '{0}'",
        failing[0]
    );
    service.execute(&given_up).await;
    let delivered = studio.queued(&to("/")).await;
    service
        .shown_when(account, &delivered, |render| render["callback"]["state"] == "delivered")
        .await;
    assert_eq!(service.stored(account, "pending_callbacks").await, 1);
    let resend = format!("/api/v1/renders/{}/callback/resend", failing[0]);
    service.limit_storage(account, "pending_callbacks", 1).await;
    let message = refusal(studio.post(&resend).await).await;
    assert!(message.starts_with("Pending webhooks are limited to 1"), "{message}");
    service.limit_storage(account, "pending_callbacks", 2).await;
    assert!(studio.post(&resend).await.status().is_success());
    service.storage_is_counted().await;
}

#[tokio::test]
async fn a_document_that_no_longer_fits_fails_its_render_and_costs_nothing() {
    let receiver = Receiver::start().await;
    let mut studio = Studio::start_with_receiver(&receiver.authority).await;
    let page = page_with_callback("<p>1", &format!("http://{}/", receiver.authority));
    let first = studio.queued(&page).await;
    assert_eq!(studio.ended(&first).await["state"], "succeeded");
    let size = studio.service.stored(&studio.account, "document_bytes").await;
    assert!(size > 1000, "{size}");
    // Room for one more document, and three renders accepted before it is used.
    let room = size * 2 + size / 2;
    studio
        .service
        .limit_storage(&studio.account, "document_bytes", room)
        .await;
    let (ids, refused) = queue_at_once(&studio, 3, &page).await;
    assert!(refused.is_empty());
    let mut succeeded = 0;
    for id in &ids {
        let render = studio.ended(id).await;
        if render["state"] == "succeeded" {
            succeeded += 1;
            continue;
        }
        let message = render["error"]["message"].as_str().expect("text");
        assert!(
            message.starts_with("Documents in default storage are limited to"),
            "{message}"
        );
    }
    assert_eq!(succeeded, 1);
    let (service, account) = (&studio.service, &studio.account);
    assert_eq!(service.number("select sum(used)::bigint from credit_periods").await, 2);
    let files = || service.stored_documents().len();
    assert_eq!(files(), 2);
    service.storage_is_counted().await;

    // Once it is full, renders that would be stored there are refused.
    let used = service.stored(account, "document_bytes").await;
    service.limit_storage(account, "document_bytes", used).await;
    let message = refusal(service.queue(account, &page).await).await;
    assert!(
        message.starts_with("Documents in default storage are limited to"),
        "{message}"
    );

    // Expired documents release their space.
    service
        .execute("update renders set object_expires_at = now() - interval '1 s' where object_expires_at is not null")
        .await;
    studio.service.restart(Signal::TERM).await;
    let used = "select sum((used ->> 'document_bytes')::bigint)::bigint from account_storage";
    studio.service.number_is(0, used).await;
    let id = studio.queued(&page).await;
    assert_eq!(studio.ended(&id).await["state"], "succeeded");
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn requests_of_finished_renders_are_retained_while_there_is_room() {
    let studio = Studio::start().await;
    let (service, account) = (&studio.service, &studio.account);
    service.limit_storage(account, "retained_bytes", 250_000).await;
    let body = json!({"parts": [format!("<!doctype html><!--{}--><p>1", "x".repeat(100_000))]});
    let (ids, refused) = queue_at_once(&studio, 5, &body).await;
    assert!(refused.is_empty());
    for id in &ids {
        assert_eq!(studio.ended(id).await["state"], "succeeded");
    }
    assert_eq!(service.number("select count(*) from render_contents").await, 2);
    assert!(service.stored(account, "retained_bytes").await <= 250_000);
    assert_eq!(service.stored(account, "queued_renders").await, 0);
    service.storage_is_counted().await;

    // The same applies to network requests and console messages of pages.
    let noisy = "<script>for (let i = 0; i < 50; i++) console.log('x'.repeat(500))</script>";
    let logged = "select count(*) from renders where console <> '[]'";
    assert_eq!(studio.render(noisy, json!({})).await.status(), 200);
    assert_eq!(service.number(logged).await, 1);
    service.limit_storage(account, "retained_bytes", 1000).await;
    assert_eq!(studio.render(noisy, json!({})).await.status(), 200);
    assert_eq!(service.number(logged).await, 1);
    service.storage_is_counted().await;
}

#[tokio::test]
async fn counts_are_right_after_a_crash() {
    let mut studio = Studio::start().await;
    for page in ["<p>1", "<p>2", "<p>3", "<p>4", "https://127.0.0.1/", "<p>5", "<p>6"] {
        studio.queued(&json!({"parts": [page]})).await;
    }
    studio.service.restart(Signal::KILL).await;
    let unfinished = "select count(*) from renders where finished_at is null";
    studio.service.number_is(0, unfinished).await;
    studio.service.storage_is_counted().await;
    assert_eq!(studio.service.stored(&studio.account, "queued_renders").await, 0);
}
