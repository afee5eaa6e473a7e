//! `/api/v1/templates/{id}/samples`

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::studio::{Studio, header, problems};

async fn listed(studio: &Studio, path: &str) -> Value {
    let request = studio.request(Method::GET, &format!("{path}/samples"));
    let mut body: Value = request.send().await.expect("an answer").json().await.expect("JSON");
    body["data"].take()
}

async fn replaced(studio: &Studio, path: &str, samples: &Value) -> Value {
    let request = studio.request(Method::PUT, &format!("{path}/samples"));
    let answer = request
        .json(&json!({ "samples": samples }))
        .send()
        .await
        .expect("an answer");
    let status = answer.status();
    let mut body: Value = answer.json().await.expect("JSON");
    assert_eq!(status, 200, "{body}");
    body["data"].take()
}

async fn versions(studio: &Studio) -> i64 {
    studio.service.number("select count(*) from template_versions").await
}

#[tokio::test]
async fn sets_are_replaced_as_a_whole_and_used_by_their_names() {
    let studio = Studio::start().await;
    let path = studio.template("Letter", "<p>Dear {{ name }}").await;
    assert_eq!(listed(&studio, &path).await, json!([]));
    let sets = json!([
        {"name": "Long names", "context": {"name": "Wolfeschlegelsteinhausen", "empty": "\u{0}"}},
        {"name": "Brief", "context": {"name": "Bo"}},
    ]);
    assert_eq!(replaced(&studio, &path, &sets).await, sets);
    assert_eq!(listed(&studio, &path).await, sets);

    let compare = studio.request(Method::POST, &format!("{path}/compare"));
    let compare = compare.json(&json!({"content": "<p>Dear Bo", "sample_set": "Brief"}));
    let compared: Value = compare.send().await.expect("an answer").json().await.expect("JSON");
    assert_eq!(compared["data"]["pages"][0]["change"], "unchanged", "{compared}");

    let fewer = json!([sets[1]]);
    replaced(&studio, &path, &fewer).await;
    assert_eq!(listed(&studio, &path).await, fewer);
    studio.service.storage_is_counted().await;
}

/// Editors notice changes by the number of the newest version.
#[tokio::test]
async fn a_change_is_a_draft_and_publishes_nothing() {
    let studio = Studio::start().await;
    let path = studio.template("Letter", "<p>Dear {{ name }}").await;
    let sets = json!([{"name": "Brief", "context": {"name": "Bo"}}]);
    for expected in [2, 2] {
        replaced(&studio, &path, &sets).await;
        assert_eq!(versions(&studio).await, expected);
    }
    let published = studio.request(Method::GET, &path).send().await.expect("an answer");
    assert_eq!(header(&published, "etag"), "\"1\"");
    let draft = studio.request(Method::GET, &format!("{path}/versions/2"));
    let draft: Value = draft.send().await.expect("an answer").json().await.expect("JSON");
    assert_eq!(draft["data"]["content"], "<p>Dear {{ name }}", "{draft}");
}

#[tokio::test]
async fn wrong_sets_are_refused_at_their_members_and_change_nothing() {
    let studio = Studio::start().await;
    let path = studio.template("Letter", "<p>Dear {{ name }}").await;
    let sets = json!([{"name": "Brief", "context": {}}, {"name": "brief", "context": {}}]);
    let request = studio.request(Method::PUT, &format!("{path}/samples"));
    let answer = request
        .json(&json!({ "samples": sets }))
        .send()
        .await
        .expect("an answer");
    let [(pointer, detail)] = problems(answer).await.try_into().expect("one");
    assert_eq!(pointer, "/samples/1/name", "{detail}");
    assert_eq!(listed(&studio, &path).await, json!([]));
    assert_eq!(versions(&studio).await, 1);

    let unknown = "/api/v1/templates/0199a000-0000-7000-8000-000000000000/samples";
    let answer = studio.request(Method::GET, unknown).send().await.expect("an answer");
    assert_eq!(answer.status(), 404);
    let answer = studio.request(Method::PUT, unknown).json(&json!({"samples": []}));
    assert_eq!(answer.send().await.expect("an answer").status(), 404);
}
