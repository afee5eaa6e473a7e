//! `/api/v1/templates/{id}/versions` and below.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::studio::{Studio, header};

async fn got(studio: &Studio, path: &str) -> Value {
    let answer = studio.request(Method::GET, path).send().await.expect("an answer");
    assert_eq!(answer.status(), 200, "{path}");
    answer.json::<Value>().await.expect("JSON")["data"].clone()
}

#[tokio::test]
async fn every_save_is_a_version_and_an_earlier_one_comes_back_as_a_new_one() {
    let studio = Studio::start().await;
    let path = studio.template("Invoice", "first").await;
    studio
        .change_template(&path, json!({"content": "second", "preview_context": {"a": 1}}))
        .await;
    studio.change_template(&path, json!({"name": "Rechnung"})).await;

    let versions = got(&studio, &format!("{path}/versions")).await;
    let listed: Vec<_> = versions
        .as_array()
        .unwrap()
        .iter()
        .map(|version| json!([version["number"], version["name"], version["published"]]))
        .collect();
    assert_eq!(
        listed,
        [
            json!([3, "Rechnung", true]),
            json!([2, "Invoice", false]),
            json!([1, "Invoice", false])
        ]
    );
    let health = studio.request(Method::GET, "/api/v1/health").send().await.unwrap();
    let user = health.json::<Value>().await.unwrap()["current_user"]["id"].clone();
    assert_eq!(versions[0]["created_by"], user);

    let first = got(&studio, &format!("{path}/versions/1")).await;
    assert_eq!(
        (&first["content"], &first["preview_context"], &first["published"]),
        (&json!("first"), &json!({}), &json!(false))
    );

    let restore = studio.request(Method::POST, &format!("{path}/versions/1/restore"));
    let outdated = studio.request(Method::POST, &format!("{path}/versions/1/restore"));
    let outdated = outdated.header("if-match", "\"1\"").send().await.unwrap();
    assert_eq!(outdated.status(), 412);
    let restored = restore.send().await.unwrap();
    assert_eq!((restored.status().as_u16(), header(&restored, "etag")), (200, "\"4\""));
    let template = got(&studio, &path).await;
    assert_eq!(
        (&template["name"], &template["content"]),
        (&json!("Invoice"), &json!("first"))
    );
    // The restored version itself is unchanged.
    assert_eq!(got(&studio, &format!("{path}/versions/1")).await, first);
}

#[tokio::test]
async fn versions_come_in_pages_and_what_is_not_there_is_not_found() {
    let studio = Studio::start().await;
    let path = studio.template("Invoice", "x").await;
    for content in ["a", "b"] {
        studio.change_template(&path, json!({"content": content})).await;
    }
    let page = studio
        .request(Method::GET, &format!("{path}/versions?page_size=2"))
        .send()
        .await
        .unwrap();
    let link = header(&page, "link");
    assert_eq!(link, format!("<{path}/versions?page_size=2&cursor=2>; rel=\"next\""));
    let rest = got(&studio, &format!("{path}/versions?page_size=2&cursor=2")).await;
    assert_eq!(rest.as_array().unwrap().len(), 1);

    for number in ["0", "4", "-1", "x", "99999999999"] {
        let answer = studio
            .request(Method::GET, &format!("{path}/versions/{number}"))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 404, "{number}");
    }
}

#[tokio::test]
async fn a_version_is_restored_beside_a_template_of_its_name() {
    let studio = Studio::start().await;
    let path = studio.template("Invoice", "x").await;
    studio.change_template(&path, json!({"name": "Old invoice"})).await;
    studio.template("Invoice", "y").await;
    let restore = studio.request(Method::POST, &format!("{path}/versions/1/restore"));
    assert_eq!(restore.send().await.unwrap().status(), 200);
    assert_eq!(got(&studio, &path).await["name"], "Invoice");
}
