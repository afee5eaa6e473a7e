//! The database becomes unreachable while a service runs, and comes back.

use futures::future::join_all;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::{
    support::{cluster::Cluster, people::PASSWORD, service::TestService, studio::header, visitor::Visitor},
    web::site,
};

/// Asserts that the response says when to retry.
fn assert_comes_back(answer: &Response, told: &str) {
    assert_eq!(answer.status(), 503, "{told}");
    assert_eq!(header(answer, "retry-after"), "5", "{told}");
}

#[tokio::test]
async fn while_the_database_is_away_everybody_is_asked_to_come_again_and_then_all_is_well() {
    let (mut cluster, site) = (Cluster::start().await, site());
    let site = site.path().to_str().expect("text");
    let service = TestService::start_at(cluster.url(), &[("PLATEN_SITE_DIR", site)]).await;
    let account = service.account_with("ann@example.org", &[]);
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let ask = async |method: Method, path: &str, body: Option<Value>| {
        let request = service
            .client
            .request(method, service.url(path))
            .bearer_auth(&account.key);
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        request.send().await.expect("an answer")
    };
    assert_eq!(ask(Method::GET, "/api/v1/credits", None).await.status(), 200);

    cluster.kill();
    let render = json!({"parts": ["<p>"], "output_encoding": "binary"});
    let queued = json!({"parts": ["<p>"]});
    let asked = [
        (Method::GET, "/api/v1/credits", None),
        (Method::POST, "/api/v1/renderers/pdf", Some(render.clone())),
        (Method::POST, "/api/v1/renderers/pdf/async", Some(queued)),
        (Method::GET, "/api/v1/templates", None),
    ]
    .map(async |(method, path, body)| {
        let answer = ask(method, path, body).await;
        assert_comes_back(&answer, path);
        let message = "The service can't reach its database; send the request again after 5 s.";
        let body: Value = answer.json().await.expect("JSON");
        assert_eq!(body, json!({"error": {"message": message}}), "{path}");
    });
    let seen = async {
        let page = ann.get("/dashboard").await;
        assert_comes_back(&page, "a page");
        let page = page.text().await.expect("a page");
        assert!(page.contains("<h1") && page.contains("Try again in a minute"), "{page}");
        assert_comes_back(&ann.get("/dashboard/team/log.csv").await, "a file");
    };
    let log_in = async {
        let form = [("email", "ann@example.org"), ("password", PASSWORD)];
        let request = reqwest::Client::new().post(service.url("/web/log-in")).form(&form);
        let request = request
            .header("accept", "application/json")
            .header("origin", &service.base_url);
        let answer = request.send().await.expect("an answer");
        assert_comes_back(&answer, "a function");
        assert_eq!(answer.json::<Value>().await.expect("JSON"), "Unavailable");
    };
    // Each request waits for a database connection.
    tokio::join!(join_all(asked), seen, log_in);

    cluster.come_back().await;
    assert_eq!(
        ask(Method::POST, "/api/v1/renderers/pdf", Some(render)).await.status(),
        200
    );
    assert_eq!(ann.get("/dashboard").await.status(), 200);
}
