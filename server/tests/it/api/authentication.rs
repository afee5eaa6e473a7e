//! Authentication, and the errors of unauthenticated requests.

use serde_json::{Value, json};

use crate::support::studio::{Studio, body};

struct Refusal {
    status: u16,
    error: String,
    challenge: Option<String>,
}

/// Requests a render with this `Authorization` header, which must be refused.
async fn ask(studio: &Studio, authorization: Option<&str>) -> Refusal {
    let request = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
    let request = request.json(&body("<p>", json!({})));
    let request = match authorization {
        Some(value) => request.header("authorization", value),
        None => request,
    };
    let answer = request.send().await.expect("an answer");
    let challenge = answer
        .headers()
        .get("www-authenticate")
        .map(|value| value.to_str().expect("text").to_owned());
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.expect("JSON");
    assert!(
        body["message"].as_str().is_some_and(|message| !message.is_empty()),
        "{body}"
    );
    Refusal {
        status,
        error: body["error"].as_str().expect("a word").to_owned(),
        challenge,
    }
}

#[tokio::test]
async fn keys_that_prove_nothing() {
    let studio = Studio::start().await;
    let key = studio.account.key.clone();
    let other_digit = if key.ends_with('a') { 'b' } else { 'a' };
    let damaged = format!("Bearer {}{other_digit}", &key[..56]);
    let unknown = format!("Bearer pk_live_{}", "0".repeat(43) + "3xC1Wz");
    let rows = [
        (None, "unauthorized"),
        (Some("Basic cGs6eA=="), "unauthorized"),
        (Some("Bearer"), "unauthorized"),
        (Some(key.as_str()), "unauthorized"),
        (Some("Bearer nonsense"), "invalid_token"),
        (Some(damaged.as_str()), "invalid_token"),
        (Some(unknown.as_str()), "invalid_token"),
    ];
    for (authorization, error) in rows {
        let refusal = ask(&studio, authorization).await;
        assert_eq!(
            (refusal.status, refusal.error.as_str()),
            (401, error),
            "{authorization:?}"
        );
        assert_eq!(refusal.challenge.as_deref(), Some("Bearer"));
    }

    let bearer = format!("Bearer {key}");
    studio
        .service
        .execute("update api_keys set expires_at = now() - interval '1 second'")
        .await;
    let expired = ask(&studio, Some(&bearer)).await;
    assert_eq!((expired.status, expired.error.as_str()), (401, "expired_token"));
    assert_eq!(expired.challenge.as_deref(), Some("Bearer"));

    studio.service.execute("update api_keys set expires_at = null").await;
    studio.service.execute("update accounts set suspended_at = now()").await;
    let suspended = ask(&studio, Some(&bearer)).await;
    assert_eq!((suspended.status, suspended.error.as_str()), (403, "forbidden"));

    studio.service.execute("update accounts set suspended_at = null").await;
    studio
        .service
        .command(&["keys", "revoke", &studio.account.key_id], "")
        .succeeded();
    let revoked = ask(&studio, Some(&bearer)).await;
    assert_eq!((revoked.status, revoked.error.as_str()), (401, "invalid_token"));
}

#[tokio::test]
async fn a_key_without_the_scope_may_only_ask_after_the_service() {
    let studio = Studio::start().await;
    let key = studio
        .service
        .create_key("ann@example.org", "n", &["--scope", "usage:read"])
        .succeeded();
    let refusal = ask(&studio, Some(&format!("Bearer {key}"))).await;
    assert_eq!(
        (refusal.status, refusal.error.as_str()),
        (403, "insufficient_permissions")
    );
    let health = studio
        .service
        .client
        .get(studio.service.url("/api/v1/health"))
        .bearer_auth(&key);
    assert_eq!(health.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn the_key_is_looked_at_before_the_scope_the_type_the_size_and_the_body() {
    let studio = Studio::start_with(&[("PLATEN_BODY_BYTES", "1024")]).await;
    let scopeless = studio
        .service
        .create_key("ann@example.org", "n", &["--scope", "usage:read"])
        .succeeded();
    let ask = async |key: &str, content_type: &str, body: String| {
        let request = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
        let request = request.bearer_auth(key).header("content-type", content_type).body(body);
        request.send().await.unwrap().status().as_u16()
    };
    let large = || "x".repeat(2000);
    let key = &studio.account.key;
    assert_eq!(ask("nonsense", "text/html", large()).await, 401);
    assert_eq!(ask(&scopeless, "text/html", large()).await, 403);
    assert_eq!(ask(key, "text/html", large()).await, 415);
    assert_eq!(ask(key, "application/json", large()).await, 413);
    assert_eq!(ask(key, "application/json", "{".into()).await, 422);
}

#[tokio::test]
async fn the_schemes_name_has_no_case() {
    let studio = Studio::start().await;
    for scheme in ["bearer", "BEARER"] {
        let health = studio.service.client.get(studio.service.url("/api/v1/health"));
        let health = health.header("authorization", format!("{scheme} {}", studio.account.key));
        assert_eq!(health.send().await.unwrap().status(), 200, "{scheme}");
    }
}
