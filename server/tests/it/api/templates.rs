//! `/api/v1/templates`: creation and lists.

mod channels;
mod comparison;
mod one;
mod partials;
mod preview;
mod samples;
mod settings;
mod translations;
mod versions;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::studio::{Studio, header, problems};

const PATH: &str = "/api/v1/templates";

async fn create(studio: &Studio, template: Value) -> reqwest::Response {
    let request = studio.request(Method::POST, PATH).json(&json!({"template": template}));
    request.send().await.expect("an answer")
}

/// Returns the ids of a page, and the target of its `Link` header.
async fn page(studio: &Studio, path: &str) -> (Vec<String>, Option<String>) {
    let answer = studio.request(Method::GET, path).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    let link = answer
        .headers()
        .get("link")
        .map(|link| link.to_str().expect("text").to_owned());
    let next = link.map(|link| {
        let (target, parameters) = link.split_once('>').expect("a link");
        assert_eq!(parameters, "; rel=\"next\"");
        target.trim_start_matches('<').to_owned()
    });
    let body: Value = answer.json().await.expect("JSON");
    let templates = body["data"].as_array().expect("a list");
    let path_of = |template: &Value| format!("{PATH}/{}", template["id"].as_str().expect("an id"));
    (templates.iter().map(path_of).collect(), next)
}

#[tokio::test]
async fn a_new_template_has_exactly_the_members_of_the_contract() {
    let studio = Studio::start().await;
    let preview_context = json!({"z": 1, "a": {"y": ["ä", null, 1.5, true], "nul": "\u{0}"}});
    let content = "<h1>{{ z }}</h1>\r\n{% for y in a.y %}{{ y }}{% endfor %}";
    let answer = create(
        &studio,
        json!({"name": "Größe", "content": content, "preview_context": preview_context}),
    )
    .await;
    assert_eq!(answer.status(), 201);
    assert_eq!(header(&answer, "content-type"), "application/json");
    assert_eq!(header(&answer, "etag"), "\"1\"");
    let location = header(&answer, "location").to_owned();
    let body: Value = answer.json().await.unwrap();
    let members: Vec<_> = body["data"].as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        ["id", "name", "content", "preview_context", "inserted_at", "updated_at"]
    );
    let template = &body["data"];
    assert_eq!(location, format!("{PATH}/{}", template["id"].as_str().unwrap()));
    assert_eq!(
        (&template["name"], &template["content"]),
        (&json!("Größe"), &json!(content))
    );
    // In the same order as well.
    assert_eq!(template["preview_context"].to_string(), preview_context.to_string());
    assert_eq!(template["inserted_at"], template["updated_at"]);
    assert!(template["inserted_at"].as_str().unwrap().ends_with('Z'));

    let plain: Value = create(&studio, json!({"name": "plain", "content": "x"}))
        .await
        .json()
        .await
        .unwrap();
    assert_eq!(plain["data"]["preview_context"], json!({}));
}

#[tokio::test]
async fn templates_may_have_one_name() {
    let studio = Studio::start().await;
    let twins = [
        studio.template("Invoice", "1").await,
        studio.template("Invoice", "2").await,
    ];
    let other = studio.template("Letter", "3").await;
    let renamed = studio
        .request(Method::PATCH, &other)
        .json(&json!({"template": {"name": "Invoice"}}));
    assert_eq!(renamed.send().await.unwrap().status(), 200);
    let (listed, _) = page(&studio, PATH).await;
    assert_eq!(listed, [other, twins[1].clone(), twins[0].clone()]);
}

#[tokio::test]
async fn every_fault_of_a_body_is_listed_the_templates_own_too() {
    let studio = Studio::start().await;
    let content = "<p>\n{{ total|curency('EUR') }}";
    let body = json!({"template": {"name": "", "content": content, "preview_context": [], "x": 1}, "y": 2});
    let answer = studio.request(Method::POST, PATH).json(&body).send().await.unwrap();
    let found = problems(answer).await;
    let pointers: Vec<_> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(
        pointers,
        [
            "/template/name",
            "/template/content",
            "/template/preview_context",
            "/template/x",
            "/y"
        ]
    );
    let detail = &found[1].1;
    for part in ["Line 2, column 10", "curency", "{{ total|curency('EUR') }}"] {
        assert!(detail.contains(part), "{part}: {detail}");
    }

    let missing = studio.request(Method::POST, PATH).json(&json!({"template": {}}));
    let found = problems(missing.send().await.unwrap()).await;
    let pointers: Vec<_> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/template/name", "/template/content"]);
}

#[tokio::test]
async fn lists_are_newest_first_whole_or_in_pages() {
    let studio = Studio::start().await;
    assert_eq!(page(&studio, PATH).await, (Vec::new(), None));
    let mut paths = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        paths.insert(0, studio.template(name, "x").await);
    }
    // An update doesn't change the order.
    let update = studio
        .request(Method::PATCH, &paths[4])
        .json(&json!({"template": {"name": "z"}}));
    assert_eq!(update.send().await.unwrap().status(), 200);
    assert_eq!(page(&studio, PATH).await, (paths.clone(), None));
    assert_eq!(
        page(&studio, &format!("{PATH}?page_size=5")).await,
        (paths.clone(), None)
    );

    let (first, next) = page(&studio, &format!("{PATH}?page_size=2")).await;
    assert_eq!(first, paths[..2]);
    // Deleting the last template of a page, or creating another one, doesn't shift the following pages.
    studio.request(Method::DELETE, &paths[1]).send().await.unwrap();
    studio.template("f", "x").await;
    let (second, next) = page(&studio, &next.unwrap()).await;
    assert_eq!(second, paths[2..4]);
    let (third, next) = page(&studio, &next.unwrap()).await;
    assert_eq!((third.as_slice(), next), (&paths[4..], None));
}

#[tokio::test]
async fn a_list_of_large_and_small_templates_is_whole() {
    let studio = Studio::start().await;
    let large = "x".repeat(3 << 19);
    let mut created = Vec::new();
    // More than is read at a time.
    for content in ["one", &large, &large, "two", &large, &large, &large, &large, "three"] {
        created.push(studio.template("Letter", content).await);
    }
    created.reverse();
    assert_eq!(page(&studio, PATH).await, (created, None));
}

#[tokio::test]
async fn faulty_pages_are_refused_at_the_parameter() {
    let studio = Studio::start().await;
    let ask = studio.request(Method::GET, &format!("{PATH}?page_size=0&cursor=nonsense"));
    let found = problems(ask.send().await.unwrap()).await;
    let pointers: Vec<_> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/page_size", "/cursor"]);
}

#[tokio::test]
async fn reading_and_writing_are_scopes_of_their_own() {
    let studio = Studio::start().await;
    let path = studio.template("Invoice", "x").await;
    let key_with = |scope: &str| {
        let created = studio.service.create_key("ann@example.org", "n", &["--scope", scope]);
        created.succeeded()
    };
    let (reader, writer) = (key_with("templates:read"), key_with("templates:write"));
    for (method, path, may_read) in [
        (Method::GET, PATH, true),
        (Method::POST, PATH, false),
        (Method::GET, path.as_str(), true),
        (Method::PATCH, path.as_str(), false),
        (Method::DELETE, path.as_str(), false),
    ] {
        let other = if may_read { &writer } else { &reader };
        let request = studio.service.client.request(method.clone(), studio.service.url(path));
        let refused = request.bearer_auth(other).send().await.unwrap();
        assert_eq!(refused.status(), 403, "{method} {path}");
        let body: Value = refused.json().await.unwrap();
        assert_eq!(body["error"], "insufficient_permissions");
    }
    let list = studio.service.client.get(studio.service.url(PATH)).bearer_auth(&reader);
    assert_eq!(list.send().await.unwrap().status(), 200);
    let update = studio
        .service
        .client
        .patch(studio.service.url(&path))
        .bearer_auth(&writer);
    let update = update.json(&json!({"template": {"content": "y"}}));
    assert_eq!(update.send().await.unwrap().status(), 200);
}
