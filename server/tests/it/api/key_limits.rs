//! Keys with a limit of credits.

use futures::future::join_all;
use serde_json::json;

use super::credits::{forbidden, pages};
use crate::support::{
    origin::Origin,
    service::TestService,
    studio::{Studio, asked, body},
};

const USED: &str = "select coalesce(sum(used), 0)::bigint from key_credit_usage";
const RESERVED: &str = "select coalesce(sum(reserved), 0)::bigint from key_credit_counters";

/// Returns an account with plenty of credits, and a key that may use `limit` of them.
async fn limited(limit: &str, settings: &[(&str, &str)]) -> Studio {
    let mut studio = Studio::start_with(settings).await;
    let created = studio
        .service
        .create_key("ann@example.org", "limited", &["--credit-limit", limit]);
    created.stderr.trim().clone_into(&mut studio.account.key_id);
    studio.account.key = created.succeeded();
    studio
}

/// Rotates the studio's key, and returns the studio's former one.
fn rotate(studio: &mut Studio) -> String {
    let rotated = studio.service.command(&["keys", "rotate", &studio.account.key_id], "");
    rotated.stderr.trim().clone_into(&mut studio.account.key_id);
    std::mem::replace(&mut studio.account.key, rotated.succeeded())
}

async fn status_with(service: &TestService, key: &str) -> u16 {
    let request = service.client.post(service.url("/api/v1/renderers/pdf"));
    let request = request.bearer_auth(key).json(&body("<p>", json!({})));
    request.send().await.expect("an answer").status().as_u16()
}

#[tokio::test]
async fn a_key_is_refused_at_its_limit_and_others_go_on() {
    let studio = limited("3", &[]).await;
    studio.pdf(pages(11), json!({})).await;
    let answer = studio.render(pages(11), json!({})).await;
    let message = forbidden(answer).await;
    let limit = "costs 2 credits and 1 are left of this API key's credit limit of 3 a month";
    assert!(message.contains(limit), "{message}");
    studio.pdf("<p>", json!({})).await;

    let period_end = "select to_char(ends_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS') from credit_periods";
    let period_end = studio.service.text(period_end).await;
    let queued = studio.service.queue(&studio.account, &json!({"parts": ["<p>"]})).await;
    for answer in [studio.render("<p>", json!({})).await, queued] {
        let message = forbidden(answer).await;
        for told in [
            "This API key has reached its credit limit of 3 a month",
            &period_end,
            &format!("/dashboard/api-keys/{}", studio.account.key_id),
        ] {
            assert!(message.contains(told), "{told}: {message}");
        }
    }
    assert_eq!(studio.service.number(USED).await, 3);
    let other = studio.service.create_key("ann@example.org", "other", &[]).succeeded();
    assert_eq!(status_with(&studio.service, &other).await, 200);
    assert_eq!(studio.service.number(USED).await, 3);
    let account_used = "select sum(used)::bigint from credit_periods";
    assert_eq!(studio.service.number(account_used).await, 4);
}

#[tokio::test]
async fn a_limit_is_never_exceeded_over_two_processes() {
    let settings = [("PLATEN_CONCURRENCY", "100")];
    let studio = limited("5", &settings).await;
    let second = studio.service.beside(&settings).await;
    let requests = (0..60).map(|number| {
        let service = if number % 2 == 0 { &studio.service } else { &second };
        status_with(service, &studio.account.key)
    });
    let statuses = join_all(requests).await;
    let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((count(200), count(403)), (5, 55), "{statuses:?}");
    assert_eq!(studio.service.number(USED).await, 5);
    assert_eq!(studio.service.number(RESERVED).await, 0);
}

#[tokio::test]
async fn queued_renders_reserve_credits_of_the_limit() {
    let studio = limited("4", &[]).await;
    let body = json!({"parts": ["<p>"]});
    let queued = join_all([(); 12].map(|()| studio.service.queue(&studio.account, &body))).await;
    let accepted: Vec<_> = queued.iter().filter(|answer| answer.status() == 200).collect();
    assert_eq!(accepted.len(), 4);
    for answer in accepted {
        let id = answer.headers()["x-render-id"].to_str().expect("an id");
        assert_eq!(studio.ended(id).await["state"], "succeeded");
    }
    assert_eq!(studio.service.number(USED).await, 4);
    assert_eq!(studio.service.number(RESERVED).await, 0);
}

#[tokio::test]
async fn a_queued_document_over_the_limit_fails_at_no_charge() {
    let studio = limited("1", &[]).await;
    let id = studio.queued(&json!({"parts": [pages(11)]})).await;
    studio.ended(&id).await;
    let row = studio.recorded(&id).await;
    assert_eq!(row["status"], "failed");
    let message = row["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains("costs 2 credits and 1 are left of this API key's credit limit of 1"),
        "{message}"
    );
    assert_eq!(studio.service.number(USED).await, 0);
    studio.pdf("<p>", json!({})).await;
    assert_eq!(studio.service.number(USED).await, 1);
}

#[tokio::test]
async fn a_render_in_progress_holds_a_credit_that_a_failure_gives_back() {
    let origin = Origin::start().await;
    let studio = limited("1", &[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    studio.problem("<p>", json!({"pages": "7"})).await;
    {
        let render = studio.render(origin.url("/never"), json!({}));
        let other = async {
            asked(&origin).await;
            assert_eq!(studio.service.number(RESERVED).await, 1);
            forbidden(studio.render("<p>", json!({})).await).await
        };
        tokio::select! {
            answer = render => panic!("an answer came: {}", answer.status()),
            message = other => assert!(message.contains("credit limit of 1"), "{message}"),
        }
    }
    studio.recorded_as("cancelled").await;
    studio.pdf("<p>", json!({})).await;
    assert_eq!(studio.service.number(USED).await, 1);
    assert_eq!(studio.service.number(RESERVED).await, 0);
}

#[tokio::test]
async fn the_next_period_starts_anew() {
    let studio = limited("1", &[]).await;
    studio.pdf("<p>", json!({})).await;
    forbidden(studio.render("<p>", json!({})).await).await;
    // The month ends.
    studio
        .service
        .execute("update credit_periods set ends_at = now(); update accounts set period_anchor = now()")
        .await;
    studio.pdf("<p>", json!({})).await;
    forbidden(studio.render("<p>", json!({})).await).await;
    assert_eq!(studio.service.number(USED).await, 2);
    let counted = "select count(*) from key_credit_usage where used = 1";
    assert_eq!(studio.service.number(counted).await, 2);
}

#[tokio::test]
async fn a_key_and_its_successors_have_one_limit() {
    let mut studio = limited("3", &[]).await;
    studio.pdf("<p>", json!({})).await;
    let first = rotate(&mut studio);
    assert_eq!(status_with(&studio.service, &first).await, 200);
    let second = rotate(&mut studio);
    studio.pdf("<p>", json!({})).await;
    for key in [&first, &second, &studio.account.key] {
        assert_eq!(status_with(&studio.service, key).await, 403);
    }
    let listed = studio
        .service
        .command(&["keys", "list", "--email", "ann@example.org"], "");
    let listed = listed.succeeded();
    assert_eq!(listed.matches("credits 3 of 3 this month").count(), 3, "{listed}");
}

/// The second render starts without looking up the key.
#[tokio::test]
async fn a_changed_limit_counts_from_the_next_render() {
    let studio = limited("2", &[]).await;
    let set = async |limit: &str| {
        let update = format!("update api_keys set credit_limit = {limit} where name = 'limited'");
        studio.service.execute(&update).await;
    };
    studio.pdf("<p>", json!({})).await;
    studio.pdf("<p>", json!({})).await;
    forbidden(studio.render("<p>", json!({})).await).await;
    set("3").await;
    studio.pdf("<p>", json!({})).await;
    forbidden(studio.render("<p>", json!({})).await).await;
    set("null").await;
    studio.pdf("<p>", json!({})).await;
    set("3").await;
    forbidden(studio.render("<p>", json!({})).await).await;
}

/// A process of the previous release opens renders without a counter and calls the former functions.
#[tokio::test]
async fn a_process_of_the_previous_release_keeps_to_the_limit() {
    let studio = limited("1", &[]).await;
    studio.pdf("<p>", json!({})).await;
    let opened = "insert into renders (id, account_id, api_key_id, mode, status, livemode, options, inserted_at)
         select gen_random_uuid(), account_id, id, 'async', 'processing', true, '{}', now()
         from api_keys where name = 'limited'";
    assert_eq!(studio.service.execute(opened).await, 1);
    let charged = "select charged.outcome from renders, charge_render(
            account_id, id, true, 'async_render', 1::bigint, now(), gen_random_uuid(), true
         ) charged where finished_at is null";
    assert_eq!(studio.service.text(charged).await, "too_expensive");
    let reserved = "select is_free::text from renders, reserve_price(account_id, id, 1::bigint, now())
         where finished_at is null";
    assert_eq!(studio.service.text(reserved).await, "false");
    assert_eq!(studio.service.number(USED).await, 1);
}

#[tokio::test]
async fn keys_without_a_limit_are_not_counted_and_counters_go_with_their_keys() {
    let studio = limited("5", &[]).await;
    let other = studio.service.create_key("ann@example.org", "other", &[]).succeeded();
    assert_eq!(status_with(&studio.service, &other).await, 200);
    assert_eq!(studio.service.number("select count(*) from key_credit_usage").await, 0);
    studio.pdf("<p>", json!({})).await;
    assert_eq!(studio.service.number("select count(*) from key_credit_usage").await, 1);
    studio
        .service
        .execute("delete from api_keys where name = 'limited'")
        .await;
    for table in ["key_credit_counters", "key_credit_usage"] {
        let rows = format!("select count(*) from {table}");
        assert_eq!(studio.service.number(&rows).await, 0, "{table}");
    }
}

#[tokio::test]
async fn a_limit_has_bounds_and_is_for_live_keys() {
    let service = TestService::start().await;
    service.account("ann@example.org");
    for (arguments, told) in [
        (&["--credit-limit", "0"][..], "must be between 1 and 1000000000 credits"),
        (
            &["--credit-limit", "1000000001"],
            "must be between 1 and 1000000000 credits",
        ),
        (&["--credit-limit", "5", "--test"], "cannot be used with"),
    ] {
        let refused = service.create_key("ann@example.org", "limited", arguments);
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
    let keys = "select count(*) from api_keys where name = 'limited'";
    assert_eq!(service.number(keys).await, 0);
}
