//! `/api/v1/templates/{id}`

use reqwest::Method;
use reqwest_middleware::RequestBuilder;
use serde_json::{Value, json};

use crate::support::studio::{Studio, header, problems};

async fn got(studio: &Studio, path: &str) -> Value {
    let answer = studio.request(Method::GET, path).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    let body: Value = answer.json().await.expect("JSON");
    body["data"].clone()
}

fn update(studio: &Studio, path: &str, template: &Value) -> RequestBuilder {
    studio.request(Method::PATCH, path).json(&json!({"template": template}))
}

#[tokio::test]
async fn an_update_changes_what_it_names_and_the_time() {
    let studio = Studio::start().await;
    let path = studio.template("Invoice", "old").await;
    let before = got(&studio, &path).await;
    let mut last = before["updated_at"].as_str().unwrap().to_owned();
    for change in [
        json!({"name": "Rechnung"}),
        json!({"content": "{{ new }}"}),
        json!({"preview_context": {"new": 1}}),
        json!({}),
        json!({"name": "Facture", "content": "x", "preview_context": {}}),
    ] {
        let mut expected = got(&studio, &path).await;
        let answer = update(&studio, &path, &change).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let body: Value = answer.json().await.unwrap();
        for (name, value) in change.as_object().unwrap() {
            expected[name] = value.clone();
        }
        let updated_at = body["data"]["updated_at"].as_str().unwrap().to_owned();
        assert!(updated_at > last, "{updated_at} {last}");
        expected["updated_at"] = updated_at.as_str().into();
        assert_eq!(body["data"], expected);
        assert_eq!(got(&studio, &path).await, expected);
        last = updated_at;
    }
    assert_eq!(got(&studio, &path).await["inserted_at"], before["inserted_at"]);
}

#[tokio::test]
async fn a_faulty_update_changes_nothing() {
    let studio = Studio::start().await;
    let path = studio.template("Invoice", "old").await;
    let before = got(&studio, &path).await;
    for (change, pointer) in [
        (json!({"content": "{% for %}", "name": "n"}), "/template/content"),
        (json!({"content": null}), "/template/content"),
        (json!({"inserted_at": "2026-01-01T00:00:00Z"}), "/template/inserted_at"),
    ] {
        let found = problems(update(&studio, &path, &change).send().await.unwrap()).await;
        let pointers: Vec<_> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(pointers, [pointer]);
    }
    assert_eq!(got(&studio, &path).await, before);
}

#[tokio::test]
async fn a_deleted_template_is_gone() {
    let studio = Studio::start().await;
    let path = studio.template("Invoice", "x").await;
    let answer = studio.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(answer.status(), 204);
    assert_eq!(answer.bytes().await.unwrap().len(), 0);
    assert_ne!(studio.template("Invoice", "y").await, path);
    for method in [Method::GET, Method::DELETE, Method::PATCH] {
        let request = studio.request(method.clone(), &path).json(&json!({"template": {}}));
        assert_eq!(request.send().await.unwrap().status(), 404, "{method}");
    }
}

#[tokio::test]
async fn unknown_malformed_and_other_accounts_templates_are_not_found() {
    let studio = Studio::start().await;
    let own = studio.template("Invoice", "x").await;
    let id = own.rsplit('/').next().unwrap();
    let stranger = studio.service.account("bob@example.org");
    let ids = [
        "01939f2e-0000-7000-8000-000000000000",
        "nonsense",
        "%ff",
        "0",
        &id.replace('-', ""),
        &format!("%7B{id}%7D"),
    ]
    .map(|id| (format!("/api/v1/templates/{id}"), &studio.account.key));
    for (path, key) in ids.iter().chain([&(own.clone(), &stranger.key)]) {
        for method in [Method::GET, Method::PATCH, Method::DELETE] {
            let request = studio.service.client.request(method.clone(), studio.service.url(path));
            let request = request.bearer_auth(key).json(&json!({"template": {"name": "mine"}}));
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), 404, "{method} {path}");
        }
    }
    assert_eq!(got(&studio, &own).await["name"], "Invoice");
}

#[tokio::test]
async fn an_update_of_another_version_than_the_clients_is_refused() {
    let studio = Studio::start().await;
    let path = studio.template("Invoice", "x").await;
    let with_tag = |tag: &str, name: &str| {
        update(&studio, &path, &json!({"name": name}))
            .header("if-match", tag)
            .send()
    };
    let first = with_tag("\"1\"", "First").await.unwrap();
    assert_eq!((first.status().as_u16(), header(&first, "etag")), (200, "\"2\""));
    for outdated in ["\"1\"", "\"3\"", "W/\"2\"", "nonsense"] {
        let refused = with_tag(outdated, "Lost").await.unwrap();
        assert_eq!(refused.status(), 412, "{outdated}");
    }
    assert_eq!(got(&studio, &path).await["name"], "First");
    for sound in ["*", "\"1\", \"3\""] {
        assert_eq!(with_tag(sound, "Second").await.unwrap().status(), 200, "{sound}");
    }

    let delete = |tag: &str| studio.request(Method::DELETE, &path).header("if-match", tag).send();
    assert_eq!(delete("\"1\"").await.unwrap().status(), 412);
    assert_eq!(delete("\"4\"").await.unwrap().status(), 204);
    assert_eq!(delete("*").await.unwrap().status(), 404);
}

#[tokio::test]
async fn of_updates_at_once_for_one_version_one_succeeds() {
    let studio = Studio::start().await;
    let path = studio.template("Invoice", "x").await;
    let updates = (0..8).map(|number| {
        let change = json!({"content": format!("{number}")});
        update(&studio, &path, &change).header("if-match", "\"1\"").send()
    });
    let answers = futures::future::join_all(updates).await;
    let mut statuses: Vec<_> = answers
        .into_iter()
        .map(|answer| answer.unwrap().status().as_u16())
        .collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412, 412, 412, 412, 412, 412, 412]);
}

#[tokio::test]
async fn a_copy_that_is_still_right_is_not_sent_again() {
    let studio = Studio::start().await;
    let path = studio.template("Invoice", "x").await;
    let ask = |tag: &str| studio.request(Method::GET, &path).header("if-none-match", tag).send();
    let same = ask("\"1\"").await.unwrap();
    assert_eq!((same.status().as_u16(), header(&same, "etag")), (304, "\"1\""));
    assert_eq!(same.bytes().await.unwrap().len(), 0);
    update(&studio, &path, &json!({"content": "y"})).send().await.unwrap();
    let other = ask("\"1\"").await.unwrap();
    assert_eq!((other.status().as_u16(), header(&other, "etag")), (200, "\"2\""));
}
