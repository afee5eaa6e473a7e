//! Numbers of templates, connections and keys, and the bytes of template versions.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures::future::join_all;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::refusal;
use crate::support::studio::{Studio, header};

const TEMPLATES: &str = "/api/v1/templates";
const ASSETS: &str = "/api/v1/assets";
const CONNECTIONS: &str = "/api/v1/connections";

async fn post(studio: &Studio, path: &str, body: &Value) -> Response {
    let request = studio.request(Method::POST, path).json(body);
    request.send().await.expect("an answer")
}

/// Sends all bodies concurrently; returns the responses that created something, and the refusals.
async fn post_at_once(studio: &Studio, path: &str, bodies: Vec<Value>) -> (Vec<Response>, Vec<Response>) {
    let answers = join_all(bodies.iter().map(|body| post(studio, path, body))).await;
    answers.into_iter().partition(|answer| answer.status() == 201)
}

async fn delete(studio: &Studio, path: &str) {
    let answer = studio.request(Method::DELETE, path).send().await;
    assert_eq!(answer.expect("an answer").status(), 204);
}

fn letter(name: &str) -> Value {
    json!({"template": {"name": name, "content": "<p>Dear {{ name }}"}})
}

#[tokio::test]
async fn of_many_new_templates_at_once_no_more_are_made_than_fit() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let (service, account) = (&studio.service, &studio.account);
    service.limit_storage(account, "templates", 3).await;
    let bodies = (0..8).map(|number| letter(&format!("Letter {number}"))).collect();
    let (made, refused) = post_at_once(&studio, TEMPLATES, bodies).await;
    assert_eq!((made.len(), service.stored(account, "templates").await), (3, 3));
    for answer in refused {
        let message = refusal(answer).await;
        let expected = "Templates are limited to 3, of which 3 are in use. Delete templates";
        assert!(message.starts_with(expected), "{message}");
    }
    delete(&studio, header(&made[0], "location")).await;
    assert_eq!(post(&studio, TEMPLATES, &letter("Another")).await.status(), 201);
    refusal(post(&studio, TEMPLATES, &letter("One more")).await).await;
    service.storage_is_counted().await;
}

#[tokio::test]
async fn all_versions_of_templates_share_one_limit() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let (service, account) = (&studio.service, &studio.account);
    service.limit_storage(account, "template_bytes", 250_000).await;
    let path = studio.template("Letter", &"x".repeat(100_000)).await;
    let save = async |content: String| {
        let request = studio.request(Method::PATCH, &path);
        let request = request.json(&json!({"template": {"content": content}}));
        request.send().await.expect("an answer")
    };
    assert_eq!(save("y".repeat(100_000)).await.status(), 200);
    let message = refusal(save("z".repeat(100_000)).await).await;
    assert!(
        message.starts_with("Template versions are limited to 244.1 KB"),
        "{message}"
    );
    // Renders use the last version that was saved.
    let shown = studio.request(Method::GET, &path).send().await.expect("an answer");
    let shown: Value = shown.json().await.expect("JSON");
    assert!(shown["data"]["content"].as_str().expect("text").starts_with("yyy"));
    assert_eq!(save("z".into()).await.status(), 200);
    service.storage_is_counted().await;
}

#[tokio::test]
async fn assets_are_limited_in_number_and_bytes() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let (service, account) = (&studio.service, &studio.account);
    service.limit_storage(account, "assets", 2).await;
    service.limit_storage(account, "asset_bytes", 5000).await;
    let asset = |number: usize, bytes: usize| {
        let content = BASE64_STANDARD.encode("x".repeat(bytes));
        json!({"asset": {"name": format!("{number}.csv"), "content": content}})
    };
    let bodies = (0..5).map(|number| asset(number, 1000)).collect();
    let (made, refused) = post_at_once(&studio, ASSETS, bodies).await;
    assert_eq!((made.len(), refused.len()), (2, 3));
    for answer in refused {
        assert!(refusal(answer).await.starts_with("Assets are limited to 2"));
    }
    // Two assets of 1,000 bytes, and 28 bytes of encryption each.
    assert_eq!(service.stored(account, "asset_bytes").await, 2056);
    let path = header(&made[0], "location");
    let replace = async |bytes: usize| {
        let body = json!({"asset": {"content": BASE64_STANDARD.encode("y".repeat(bytes))}});
        studio
            .request(Method::PUT, path)
            .json(&body)
            .send()
            .await
            .expect("an answer")
    };
    assert_eq!(replace(3900).await.status(), 200);
    let message = refusal(replace(3945).await).await;
    assert!(
        message.starts_with("Files of assets are limited to 4.8 KB"),
        "{message}"
    );
    assert_eq!(replace(10).await.status(), 200);
    delete(&studio, header(&made[1], "location")).await;
    assert_eq!(post(&studio, ASSETS, &asset(9, 4900)).await.status(), 201);
    service.storage_is_counted().await;
}

#[tokio::test]
async fn connections_are_limited_in_number() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let (service, account) = (&studio.service, &studio.account);
    service.limit_storage(account, "connections", 2).await;
    let connection = |number: usize| {
        json!({"connection": {
            "provider": "aws_s3", "name": format!("Bucket {number}"), "bucket": format!("bucket-{number}"),
            "region": "eu-central-1",
            "credentials": {"access_key_id": "AKIAIOSFODNN7EXAMPLE", "secret_access_key": "platen-secret"},
        }})
    };
    let (made, refused) = post_at_once(&studio, CONNECTIONS, (0..5).map(connection).collect()).await;
    assert_eq!((made.len(), refused.len()), (2, 3));
    for answer in refused {
        assert!(
            refusal(answer)
                .await
                .starts_with("Storage connections are limited to 2")
        );
    }
    delete(&studio, header(&made[0], "location")).await;
    assert_eq!(post(&studio, CONNECTIONS, &connection(9)).await.status(), 201);
    service.storage_is_counted().await;
}

#[tokio::test]
async fn keys_are_limited_in_number_and_revoked_ones_make_room() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let (service, account) = (&studio.service, &studio.account);
    service.limit_storage(account, "api_keys", 2).await;
    let create = |name: &str| service.create_key("ann@example.org", name, &[]);
    let second = create("second");
    let id = second.stderr.trim().to_owned();
    second.succeeded();
    let refused = create("third").refused();
    assert!(refused.contains("API keys are limited to 2"), "{refused}");
    service.command(&["keys", "revoke", &id], "").succeeded();
    create("third").succeeded();
    service.storage_is_counted().await;

    // Revoked keys don't accumulate either.
    service.limit_storage(account, "api_keys", 1000).await;
    service
        .execute(
            "insert into api_keys
                (id, account_id, created_by, name, hint, digest, scopes, livemode, revoked_at, inserted_at)
             select gen_random_uuid(), account_id, created_by, 'old', 'pk', sha256(gen_random_uuid()::text::bytea), '{}',
                true, null, now()
             from api_keys, generate_series(1, 300) where name = 'third'",
        )
        .await;
    service
        .execute("update api_keys set revoked_at = now() where name = 'old'")
        .await;
    create("fourth").succeeded();
    assert_eq!(
        service
            .number("select count(*) from api_keys where revoked_at is not null")
            .await,
        100
    );
    service.storage_is_counted().await;
}
