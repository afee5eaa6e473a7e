//! A service with one account.

use std::time::{Duration, Instant};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::{Method, Response};
use reqwest_middleware::RequestBuilder;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use crate::support::{
    origin::Origin,
    process::PATIENCE,
    service::{TestAccount, TestService},
};

const POLL: Duration = Duration::from_millis(10);

pub(crate) struct Studio {
    pub(crate) service: TestService,
    pub(crate) account: TestAccount,
}

impl Studio {
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    pub(crate) async fn start_with(settings: &[(&str, &str)]) -> Self {
        let service = TestService::start_with(settings).await;
        let account = service.account("ann@example.org");
        Self { service, account }
    }

    /// Creates an authenticated request.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.service.client.request(method, self.service.url(path));
        request.bearer_auth(&self.account.key)
    }

    /// Sends a body to the synchronous render.
    pub(crate) async fn send(&self, body: &Value) -> Response {
        let request = self.request(Method::POST, "/api/v1/renderers/pdf").json(body);
        request.send().await.expect("an answer")
    }

    /// Creates a template, which must succeed, and returns its path.
    pub(crate) async fn template(&self, name: &str, content: &str) -> String {
        let body = json!({"template": {"name": name, "content": content}});
        let request = self.request(Method::POST, "/api/v1/templates").json(&body);
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), 201);
        header(&answer, "location").to_owned()
    }

    /// Creates an asset, which must succeed, and returns its path.
    pub(crate) async fn asset(&self, name: &str, content: &[u8]) -> String {
        let body = json!({"asset": {"name": name, "content": BASE64_STANDARD.encode(content)}});
        let request = self.request(Method::POST, "/api/v1/assets").json(&body);
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap_or_default());
        header(&answer, "location").to_owned()
    }

    /// Creates a partial, which must succeed, and returns its path. Its name is its handle.
    pub(crate) async fn partial(&self, handle: &str, content: &str) -> String {
        let body = json!({"template": {"name": handle, "handle": handle, "kind": "partial", "content": content}});
        let request = self.request(Method::POST, "/api/v1/templates").json(&body);
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap_or_default());
        header(&answer, "location").to_owned()
    }

    /// Changes a template and publishes it, which must succeed.
    pub(crate) async fn change_template(&self, path: &str, template: Value) {
        let request = self.request(Method::PATCH, path).json(&json!({"template": template}));
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap_or_default());
    }

    /// Requests a storage connection.
    pub(crate) async fn connect(&self, connection: &Value) -> Response {
        let request = self
            .request(Method::POST, "/api/v1/connections")
            .json(&json!({"connection": connection}));
        request.send().await.expect("an answer")
    }

    /// Creates a storage connection, which must succeed, and returns its path.
    pub(crate) async fn connected(&self, connection: &Value) -> String {
        let answer = self.connect(connection).await;
        assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap_or_default());
        header(&answer, "location").to_owned()
    }

    /// Renders one part with options.
    pub(crate) async fn render(&self, part: impl Into<Value>, options: Value) -> Response {
        self.send(&body(part, options)).await
    }

    /// Renders one part, which must succeed, and returns the PDF.
    pub(crate) async fn pdf(&self, part: impl Into<Value>, options: Value) -> Vec<u8> {
        let answer = self.render(part, options).await;
        let status = answer.status();
        let bytes = answer.bytes().await.expect("a body");
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
        bytes.to_vec()
    }

    /// Renders one part, which must be refused with a single error, and returns its pointer and detail.
    pub(crate) async fn problem(&self, part: impl Into<Value>, options: Value) -> (String, String) {
        let problems = problems(self.render(part, options).await).await;
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems.into_iter().next().expect("one")
    }

    /// Returns the database row of a render.
    pub(crate) async fn recorded(&self, render_id: &str) -> Value {
        let mut connection = self.database().await;
        sqlx::query_scalar("select to_jsonb(renders) from renders where id = $1::uuid")
            .bind(render_id)
            .fetch_one(&mut connection)
            .await
            .expect("the render is recorded")
    }

    /// Waits for a render with this status and returns its database row.
    pub(crate) async fn recorded_as(&self, status: &str) -> Value {
        let mut connection = self.database().await;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = sqlx::query_scalar("select to_jsonb(renders) from renders where status = $1")
                .bind(status)
                .fetch_optional(&mut connection)
                .await
                .expect("a query");
            if let Some(row) = found {
                return row;
            }
            assert!(Instant::now() < deadline, "no render is {status}");
            tokio::time::sleep(POLL).await;
        }
    }

    /// Waits until this many renders are unfinished.
    pub(crate) async fn recorded_under_way(&self, count: i64) {
        let unfinished = "select count(*) from renders where finished_at is null";
        self.service.number_is(count, unfinished).await;
    }

    async fn database(&self) -> PgConnection {
        PgConnection::connect(self.service.database_url())
            .await
            .expect("a database")
    }
}

/// Waits for the first request to the site.
pub(crate) async fn asked(origin: &Origin) {
    while origin.hits().is_empty() {
        tokio::time::sleep(POLL).await;
    }
}

/// Returns a body with one part whose response is the document itself.
pub(crate) fn body(part: impl Into<Value>, mut options: Value) -> Value {
    options["parts"] = json!([part.into()]);
    options["output_encoding"] = "binary".into();
    options
}

/// Asserts a 422, and returns its pointers and details.
pub(crate) async fn problems(answer: Response) -> Vec<(String, String)> {
    let status = answer.status();
    let body: Value = answer.json().await.expect("JSON");
    assert_eq!(status, 422, "{body}");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let errors = body["errors"].as_array().expect("a list");
    errors
        .iter()
        .map(|error| (text(&error["source"]["pointer"]), text(&error["detail"])))
        .collect()
}

/// Returns a header of a response.
#[track_caller]
pub(crate) fn header<'a>(answer: &'a Response, name: &str) -> &'a str {
    let value = answer
        .headers()
        .get(name)
        .unwrap_or_else(|| panic!("no {name} in {:?}", answer.headers()));
    value.to_str().expect("text")
}
