//! Validity and restrictions of keys.

use reqwest::{Method, StatusCode};
use reqwest_middleware::RequestBuilder;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{
    service::TestService,
    studio::{Studio, body},
};

async fn health(service: &TestService, key: &str) -> (StatusCode, Value) {
    let answer = service
        .client
        .get(service.url("/api/v1/health"))
        .bearer_auth(key)
        .send()
        .await
        .expect("an answer");
    (answer.status(), answer.json().await.expect("JSON"))
}

#[tokio::test]
async fn expiry_revocation_and_suspension_count_from_the_next_request() {
    let service = TestService::start().await;
    let account = service.account("ann@example.org");
    assert_eq!(health(&service, &account.key).await.0, StatusCode::OK);

    let expiring = ["--expires", "2099-01-01T00:00:00Z"];
    let short = service.create_key("ann@example.org", "short", &expiring).succeeded();
    assert_eq!(health(&service, &short).await.0, StatusCode::OK);
    service
        .execute("update api_keys set expires_at = now() where expires_at is not null")
        .await;
    let (status, body) = health(&service, &short).await;
    assert_eq!(
        (status, &body["error"]),
        (StatusCode::UNAUTHORIZED, &"expired_token".into())
    );

    service.execute("update accounts set suspended_at = now()").await;
    let (status, body) = health(&service, &account.key).await;
    assert_eq!((status, &body["error"]), (StatusCode::FORBIDDEN, &"forbidden".into()));
    service.execute("update accounts set suspended_at = null").await;
    assert_eq!(health(&service, &account.key).await.0, StatusCode::OK);

    service.command(&["keys", "revoke", &account.key_id], "").succeeded();
    let (status, body) = health(&service, &account.key).await;
    assert_eq!(
        (status, &body["error"]),
        (StatusCode::UNAUTHORIZED, &"invalid_token".into())
    );
}

/// The second render starts without looking up the key.
#[tokio::test]
async fn what_changes_about_a_known_key_counts_from_the_next_render() {
    const CREDITS: &str = "allowance + granted + bought + overage_limit";
    let studio = Studio::start().await;
    let service = &studio.service;
    let render = async || {
        let answer = studio.render("<p>Known", json!({})).await;
        let (status, body) = (answer.status(), answer.bytes().await.expect("a body"));
        // A document contains no error.
        let error = serde_json::from_slice(&body).map_or(Value::Null, |body: Value| body["error"].clone());
        (status, error)
    };
    let all_used = format!("update credit_periods set used = {CREDITS}");
    let foreign = "update api_keys set allowed_networks = array['192.0.2.0/24'::text]";
    for (change, error, back) in [
        (
            "update api_keys set revoked_at = now()",
            "invalid_token",
            "update api_keys set revoked_at = null",
        ),
        (
            "update api_keys set expires_at = now()",
            "expired_token",
            "update api_keys set expires_at = null",
        ),
        (
            foreign,
            "insufficient_permissions",
            "update api_keys set allowed_networks = '{}'",
        ),
        (
            "update accounts set suspended_at = now()",
            "forbidden",
            "update accounts set suspended_at = null",
        ),
        (&all_used, "forbidden", "update credit_periods set used = 0"),
    ] {
        for _ in 0..2 {
            assert_eq!(render().await, (StatusCode::OK, Value::Null), "before {change}");
        }
        service.execute(change).await;
        if !change.contains("credit_periods") {
            let unsound = studio.render(5, json!({})).await.json::<Value>().await.expect("JSON");
            assert_eq!(unsound["error"], error, "{change}");
            service.execute(back).await;
            assert_eq!(render().await.0, StatusCode::OK);
            service.execute(change).await;
        }
        for _ in 0..2 {
            assert_eq!(render().await.1, error, "{change}");
        }
        service.execute(back).await;
    }
    assert_eq!(render().await.0, StatusCode::OK);
    assert_eq!(service.number("select sum(used)::bigint from credit_periods").await, 1);
    assert_eq!(
        service
            .number("select count(*) from renders where status <> 'succeeded'")
            .await,
        0
    );
}

#[tokio::test]
async fn limits_that_were_raised_count_from_the_next_render() {
    // In tests there is no limit by default.
    let studio = Studio::start_with(&[("PLATEN_RATE_PER_MINUTE", "")]).await;
    let service = &studio.service;
    let small = "<p>Known".to_owned();
    let large = format!("<p>{}", "x".repeat(30_000));
    let status = async |html: &String| studio.render(html.as_str(), json!({})).await.status();
    service
        .execute("update accounts set body_bytes = 20000, rate_per_minute = 2")
        .await;
    assert_eq!(status(&small).await, StatusCode::OK);
    assert_eq!(status(&large).await, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(status(&small).await, StatusCode::TOO_MANY_REQUESTS);
    service
        .execute("update accounts set body_bytes = null, rate_per_minute = null")
        .await;
    for html in [&small, &large] {
        assert_eq!(status(html).await, StatusCode::OK);
    }
}

#[tokio::test]
async fn the_last_use_is_written_down() {
    let mut service = TestService::start().await;
    let account = service.account("ann@example.org");
    let list = ["keys", "list", "--account", &*account.id];
    assert!(service.command(&list, "").succeeded().contains("never"));
    assert_eq!(health(&service, &account.key).await.0, StatusCode::OK);
    service.process.signal(Signal::TERM);
    let ended = tokio::task::spawn_blocking(move || (service.process.ended(), service));
    let (_, service) = ended.await.unwrap();
    assert!(
        !service
            .command(&["keys", "list", "--account", &account.id], "")
            .succeeded()
            .contains("never")
    );
}

async fn kept_livemode(service: &TestService, id: &str) -> bool {
    let livemode = format!("select livemode::text from api_keys where id = '{id}'");
    service.text(&livemode).await == "true"
}

#[tokio::test]
async fn a_rotated_key_is_good_until_the_overlap_ends_and_its_successor_may_do_the_same() {
    let service = TestService::start().await;
    service.account("ann@example.org");
    let limits = [
        "--test",
        "--scope",
        "usage:read",
        "--allow-ip",
        "127.0.0.0/8",
        "--expires",
        "2099-01-02T03:04:05Z",
    ];
    let created = service.create_key("ann@example.org", "shop", &limits);
    let former_id = created.stderr.trim().to_owned();
    let former = created.succeeded();
    assert!(former.starts_with("pk_test_"), "{former}");
    assert!(!kept_livemode(&service, &former_id).await);

    let rotated = service.command(&["keys", "rotate", &former_id, "--overlap", "2h"], "");
    let new_id = rotated.stderr.trim().to_owned();
    let new = rotated.succeeded();
    assert!(new.starts_with("pk_test_") && new != former, "{new}");
    assert!(!kept_livemode(&service, &new_id).await);
    for key in [&former, &new] {
        assert_eq!(health(&service, key).await.0, StatusCode::OK);
    }
    let list = service
        .command(&["keys", "list", "--email", "ann@example.org"], "")
        .succeeded();
    let row = |id: &str| list.lines().find(|line| line.starts_with(id)).expect("it is listed");
    for id in [&former_id, &new_id] {
        assert!(row(id).contains("shop (usage:read) from 127.0.0.0/8"), "{list}");
    }
    assert!(
        row(&new_id).contains("2099-01-02T03:04:05Z") && !row(&former_id).contains("2099"),
        "{list}"
    );

    service
        .command(&["keys", "rotate", &new_id, "--overlap", "0s"], "")
        .succeeded();
    let (status, body) = health(&service, &new).await;
    assert_eq!(
        (status, &body["error"]),
        (StatusCode::UNAUTHORIZED, &"expired_token".into())
    );
    let again = service.command(&["keys", "rotate", &new_id], "").refused();
    assert!(again.contains("has expired"), "{again}");
    let unknown = "01234567-89ab-7def-8123-456789abcdef";
    assert!(
        service
            .command(&["keys", "rotate", unknown], "")
            .refused()
            .contains(unknown)
    );
    let overlap = service.command(&["keys", "rotate", &former_id, "--overlap", "soon"], "");
    assert!(overlap.refused().contains("for instance 24h"));
}

#[tokio::test]
async fn a_key_for_certain_addresses_is_refused_from_others() {
    let service = TestService::start_with(&[("PLATEN_TRUSTED_PROXIES", "127.0.0.1, 192.0.2.0/24")]).await;
    service.account("ann@example.org");
    let with = |network: &'static str| service.create_key("ann@example.org", "n", &["--allow-ip", network]);
    let key = with("198.51.100.0/24").succeeded();
    assert!(with("example.org").refused().contains("203.0.113.0/24"));

    let ask = async |forwarded: Option<&str>| {
        let request = service.client.get(service.url("/api/v1/health")).bearer_auth(&key);
        let request = match forwarded {
            Some(addresses) => request.header("x-forwarded-for", addresses),
            None => request,
        };
        let answer = request.send().await.expect("an answer");
        (answer.status(), answer.json::<Value>().await.expect("JSON"))
    };
    assert_eq!(
        ask(Some("203.0.113.9, 198.51.100.7, 192.0.2.3")).await.0,
        StatusCode::OK
    );
    for (forwarded, address) in [
        (None, "127.0.0.1"),
        (Some("203.0.113.9"), "203.0.113.9"),
        (Some("198.51.100.7, 203.0.113.9"), "203.0.113.9"),
    ] {
        let (status, body) = ask(forwarded).await;
        assert_eq!(
            (status, &body["error"]),
            (StatusCode::FORBIDDEN, &"insufficient_permissions".into())
        );
        assert!(body["message"].as_str().unwrap().contains(address), "{body}");
    }
}

/// Returns the status and message of a refusal.
async fn refusal(request: RequestBuilder) -> (u16, String) {
    let answer = request.send().await.expect("an answer");
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.expect("JSON");
    assert_eq!(body["error"], "insufficient_permissions", "{body}");
    (status, body["message"].as_str().expect("text").to_owned())
}

#[tokio::test]
async fn a_key_for_certain_templates_renders_and_sees_no_others() {
    let mut studio = Studio::start().await;
    let (one, other) = (
        studio.template("one", "One").await,
        studio.template("other", "Two").await,
    );
    let id = |path: &str| path.rsplit('/').next().expect("an id").to_owned();
    let with = |template: &str| {
        studio
            .service
            .create_key("ann@example.org", "n", &["--allow-template", template])
    };
    let unknown = "0192f0c1-5a3e-7c44-9d8e-3b1f6a2c7d90";
    assert!(with(unknown).refused().contains(unknown));
    let key = with(&id(&one)).succeeded();
    studio.account.key = key;
    let list = studio
        .service
        .command(&["keys", "list", "--email", "ann@example.org"], "")
        .succeeded();
    assert!(list.contains(&format!("templates {}", id(&one))), "{list}");

    let part = |path: &str| json!({"type": "template", "content": {"template_id": id(path)}});
    let harmless = json!({"scale": 2, "header_template": "", "footer_template": "", "render_header_footer": true});
    assert_eq!(studio.render(part(&one), harmless).await.status(), 200);
    let script = json!({"evaluate_js": {"expression": "document.body.textContent = 'Three'"}});
    for (body, named) in [
        (body(part(&other), json!({})), id(&other)),
        (body("<p>x", json!({})), "/parts/0".to_owned()),
        (body("https://example.org/", json!({})), "/parts/0".to_owned()),
        (body(part(&one), script), "/evaluate_js".to_owned()),
        // Headers and footers are refused whether they are printed or not: they could cover the page.
        (
            body(part(&one), json!({"header_template": "<p>Three"})),
            "/header_template".to_owned(),
        ),
        (
            body(
                part(&one),
                json!({"footer_template": "<p>Three", "render_header_footer": true}),
            ),
            "/footer_template".to_owned(),
        ),
    ] {
        let (status, message) = refusal(studio.request(Method::POST, "/api/v1/renderers/pdf").json(&body)).await;
        assert_eq!(status, 403, "{body}");
        assert!(message.contains(&named), "{message}");
    }

    let queued = json!({"parts": [part(&one)], "header_template": "<p>Three"});
    let queue = studio
        .request(Method::POST, "/api/v1/renderers/pdf/async")
        .json(&queued);
    assert_eq!(refusal(queue).await.0, 403);
    let shown = json!({"options": {"footer_template": "<p>Three"}});
    let preview = studio.request(Method::POST, &format!("{one}/preview")).json(&shown);
    assert_eq!(refusal(preview).await.0, 403);
    for unsaved in [
        json!({"content": "Three"}),
        json!({"partials": {"letterhead": "Three"}}),
    ] {
        let comparison = studio.request(Method::POST, &format!("{one}/compare")).json(&unsaved);
        assert_eq!(refusal(comparison).await.0, 403);
    }

    let found = studio.request(Method::GET, &one).send().await.unwrap();
    assert_eq!(found.status(), 200);
    let new = json!({"template": {"name": "new", "content": "x"}});
    for request in [
        studio.request(Method::GET, &other),
        studio.request(Method::DELETE, &other),
        studio.request(Method::PATCH, &other).json(&new),
        studio.request(Method::GET, "/api/v1/templates"),
        studio.request(Method::POST, "/api/v1/templates").json(&new),
    ] {
        assert_eq!(refusal(request).await.0, 403);
    }
}
