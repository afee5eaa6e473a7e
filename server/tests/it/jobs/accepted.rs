//! Acceptance of asynchronous renders, and refusals before anything is queued.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    background::location,
    studio::{Studio, header, problems},
};

#[tokio::test]
async fn an_accepted_request_is_a_render_that_can_be_looked_at() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let body = json!({"parts": ["<h1>Confidential</h1>"], "callback": {"url": "https://example.com/x?secret=1"}});
    let answer = studio.service.queue(&studio.account, &body).await;
    assert_eq!(answer.status(), 200);
    let id = header(&answer, "x-render-id").to_owned();
    assert_eq!(location(&answer), format!("/api/v1/renders/{id}"));
    assert_eq!(answer.text().await.unwrap(), r#"{"status":"success"}"#);

    let render = studio.service.shown(&studio.account, &id).await;
    assert_eq!((&render["state"], &render["mode"]), (&json!("queued"), &json!("async")));
    assert_eq!(render["callback"], json!({"state": "waiting", "attempts": []}));
    assert_eq!(render["options"]["callback"], json!({"url": "https://example.com/x"}));
    // Neither content nor URLs with secrets are readable in the database.
    for table in ["renders", "render_contents", "callbacks", "jobs"] {
        for secret in ["Confidential", "secret=1"] {
            let found = format!("select count(*) from {table} as row where row::text like '%{secret}%'");
            assert_eq!(studio.service.number(&found).await, 0, "{secret} in {table}");
        }
    }
}

#[tokio::test]
async fn a_request_that_comes_again_is_the_same_render() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let path = studio.template("Letter", "<p>Dear {{ name }}").await;
    let template = json!({"template_id": path.rsplit_once('/').unwrap().1});
    let send = async |key: &str, part: Value| {
        let request = studio
            .service
            .client
            .post(studio.service.url("/api/v1/renderers/pdf/async"));
        let request = request.bearer_auth(&studio.account.key).header("idempotency-key", key);
        request.json(&json!({"parts": [part]})).send().await.unwrap()
    };
    let first = send("a", "<p>1".into()).await;
    let id = header(&first, "x-render-id").to_owned();
    assert!(!first.headers().contains_key("idempotent-replayed"));
    let again = futures::future::join_all((0..5).map(|_| send("a", "<p>1".into()))).await;
    for answer in &again {
        assert_eq!(answer.status(), 200);
        assert_eq!(header(answer, "x-render-id"), id);
        assert_eq!(header(answer, "idempotent-replayed"), "true");
    }
    assert_eq!(problems(send("a", "<p>2".into()).await).await[0].0, "");
    // The render's outcome makes no difference, unless it was cancelled.
    studio
        .service
        .execute("update renders set status = 'failed', finished_at = now()")
        .await;
    assert_eq!(header(&send("a", "<p>1".into()).await, "x-render-id"), id);
    studio.service.execute("update renders set status = 'cancelled'").await;
    let new = send("a", "<p>1".into()).await;
    assert_ne!(header(&new, "x-render-id"), id);
    assert_eq!(studio.service.number("select count(*) from renders").await, 2);

    // Of many concurrent requests, one is accepted.
    let at_once = futures::future::join_all((0..10).map(|_| send("b", "<p>1".into()))).await;
    let mut ids: Vec<_> = at_once.iter().map(|answer| header(answer, "x-render-id")).collect();
    ids.dedup();
    assert_eq!(ids.len(), 1);
    assert_eq!(studio.service.number("select count(*) from jobs").await, 3);

    // Later changes to the template make no difference.
    let part = json!({"type": "template", "content": template});
    let with_template = send("c", part.clone()).await;
    assert_eq!(
        studio.request(Method::DELETE, &path).send().await.unwrap().status(),
        204
    );
    assert_eq!(
        header(&send("c", part).await, "x-render-id"),
        header(&with_template, "x-render-id")
    );
}

#[tokio::test]
async fn faults_are_found_before_anything_is_queued() {
    let studio = Studio::start().await;
    for (member, pointers) in [
        (json!({"output_encoding": "binary"}), vec!["/output_encoding"]),
        (json!({"callback": {}}), vec!["/callback/url"]),
        (
            json!({"callback": {"url": "ftp://example.com/"}}),
            vec!["/callback/url"],
        ),
        (
            json!({"callback": {"url": "https://example.com:99999/"}}),
            vec!["/callback/url"],
        ),
        (
            json!({"callback": {"url": "http://169.254.169.254/latest"}}),
            vec!["/callback/url"],
        ),
        (json!({"callback": {"url": "http://localhost/"}}), vec!["/callback/url"]),
        (
            json!({"callback": {"url": "https://example.com/", "headers": {"Host": "x", "x": 1, "webhook-id": "y"}}}),
            vec!["/callback/headers/x"],
        ),
        (
            json!({"callback": {"url": "https://example.com/", "headers": {"Host": "x", "webhook-id": "y"}}}),
            vec!["/callback/headers/Host", "/callback/headers/webhook-id"],
        ),
        (
            json!({"callback": {"url": "https://example.com/", "bogus": 1}}),
            vec!["/callback/bogus"],
        ),
        (
            json!({"destination": {"provider": "dropbox", "bucket": ""}}),
            vec!["/destination/provider", "/destination/bucket", "/destination/path"],
        ),
        (
            json!({"destination": {"provider": "aws_s3", "bucket": "b", "path": "a/../b.pdf"}}),
            vec!["/destination/path"],
        ),
        (
            json!({"parts": [{"type": "template", "content": {"template_id": "0192f0c1-5a3e-7c44-9d8e-3b1f6a2c7d90"}}]}),
            vec!["/parts/0/content/template_id"],
        ),
    ] {
        let mut body = json!({"parts": ["<p>"]});
        body.as_object_mut()
            .unwrap()
            .extend(member.as_object().unwrap().clone());
        let found = problems(studio.service.queue(&studio.account, &body).await).await;
        let found: Vec<_> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(found, pointers, "{member}");
    }
    assert_eq!(studio.service.number("select count(*) from renders").await, 0);
}

#[tokio::test]
async fn a_destination_without_a_connection_is_forbidden() {
    let studio = Studio::start().await;
    let destination = json!({"provider": "aws_s3", "bucket": "invoices", "path": "2026/4711.pdf"});
    let body = json!({"parts": ["<p>"], "destination": destination});
    let answer = studio.service.queue(&studio.account, &body).await;
    assert_eq!(answer.status(), 403);
    let body: Value = answer.json().await.unwrap();
    assert_eq!(body["error"], "forbidden");
    assert!(body["message"].as_str().unwrap().contains("\"invoices\""), "{body}");
    assert_eq!(studio.service.number("select count(*) from renders").await, 0);
}

#[tokio::test]
async fn each_queued_render_reserves_a_credit() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let poor = studio.service.account_with("poor@example.org", &["--credits", "3"]);
    let body = json!({"parts": ["<p>"]});
    let answers = futures::future::join_all((0..8).map(|_| studio.service.queue(&poor, &body))).await;
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status().as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 403, 403, 403, 403, 403]);
    // Test keys don't need credits.
    let test_key = studio
        .service
        .create_key("poor@example.org", "test", &["--test"])
        .succeeded();
    let tester = crate::support::service::TestAccount { key: test_key, ..poor };
    assert_eq!(studio.service.queue(&tester, &body).await.status(), 200);
    assert_eq!(studio.service.reserved_credits().await, 3);
}
