//! Every operation of the API description, attempted by everyone who lacks permission.

use reqwest::{Method, Response, header::CONTENT_TYPE};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use crate::support::{
    description::{Operation, operations},
    object_stores::service_account_key,
    studio::{Studio, body, header, problems},
};

const SCOPES: [&str; 9] = [
    "render",
    "renders:read",
    "templates:read",
    "templates:write",
    "assets:read",
    "assets:write",
    "usage:read",
    "connections:read",
    "connections:write",
];

/// Requests an operation with this key, and with the example body of the description.
async fn ask(studio: &Studio, operation: &Operation, path: &str, key: Option<&str>) -> Response {
    let request = studio
        .service
        .client
        .request(operation.method.clone(), studio.service.url(path));
    let request = match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    };
    let request = match operation.description["operationId"].as_str() {
        Some("uploadBatchRows") => request.header(CONTENT_TYPE, "application/x-ndjson").body("{}"),
        // The template of the example doesn't exist.
        Some("createBatch") => request.json(&batch(&studio.template("Batch", "{{ number }}").await)),
        _ => match operation.example_body() {
            Some(body) => request.json(body),
            None => request,
        },
    };
    request.send().await.expect("an answer")
}

/// Returns the status and, for an authentication error, its code.
async fn refusal(answer: Response) -> (u16, String) {
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.unwrap_or_default();
    (status, body["error"].as_str().unwrap_or_default().to_owned())
}

/// Returns a request for a batch without rows.
fn batch(template: &str) -> Value {
    let template = json!({"template_id": template.rsplit_once('/').expect("an id").1});
    json!({"batch": {"render": {"parts": [{"type": "template", "content": template}]}}})
}

/// Returns the operation's path for an object that was just created for it.
async fn path_to_own(studio: &Studio, operation: &Operation) -> String {
    let name = operation.description["operationId"].as_str().expect("a name");
    let path = operation.path;
    if let Some(of_template) = path.strip_prefix("/api/v1/templates/{id}") {
        let template = studio.template(name, "Dear {{ name }}").await;
        if of_template.starts_with("/promotions") {
            return template.clone() + &path_to_promotion(studio, &template, of_template).await;
        }
        return template + &of_template.replace("{number}", "1");
    }
    if let Some(of_render) = path.strip_prefix("/api/v1/renders/{id}") {
        let mut body = json!({"parts": ["<p>"], "callback": {"url": "https://example.invalid/"}});
        if of_render.ends_with("/cancel") {
            // A render that has ended can't be cancelled.
            body["evaluate_js"] = json!({"expression": "new Promise(() => {})"});
        }
        let id = studio.queued(&body).await;
        if of_render.ends_with("/accessibility") {
            // Stored after the render.
            let reports = format!("select count(*) from accessibility_reports where render_id = '{id}'");
            studio.service.number_is(1, &reports).await;
        }
        if of_render.ends_with("/links") {
            studio.ended(&id).await;
        }
        if of_render.ends_with("/resend") {
            // A delivery in progress isn't sent again.
            let untried = "select count(*) from jobs where kind = 'callback' and (failures = 0 or claim is not null)";
            studio.ended(&id).await;
            studio.service.number_is(0, untried).await;
        }
        return format!("/api/v1/renders/{id}{of_render}");
    }
    if let Some(of_batch) = path.strip_prefix("/api/v1/batches/{id}") {
        let body = batch(&studio.template(name, "{{ number }}").await);
        let request = studio.request(Method::POST, "/api/v1/batches").json(&body);
        let created = request.send().await.expect("an answer");
        let path = header(&created, "location").to_owned();
        // One without rows can only be cancelled.
        let rows = match of_batch {
            "/pause" | "/resume" | "/retry" => 100,
            "/documents" => 1,
            _ => 0,
        };
        if rows > 0 {
            let upload = studio.request(Method::PUT, &format!("{path}/rows"));
            let upload = upload
                .header(CONTENT_TYPE, "application/x-ndjson")
                .body("{}\n".repeat(rows));
            assert_eq!(upload.send().await.expect("an answer").status(), 200);
        }
        if of_batch == "/documents" {
            let (_, id) = path.rsplit_once('/').expect("an id");
            let succeeded = format!(
                "select count(*) from batch_rows join renders on renders.id = render_id
                 where batch_id = '{id}' and status = 'succeeded'"
            );
            studio.service.number_is(1, &succeeded).await;
        }
        return path + of_batch;
    }
    if let Some(of_asset) = path.strip_prefix("/api/v1/assets/{id}") {
        return studio
            .asset(&format!("{name}.svg"), b"<svg xmlns='http://www.w3.org/2000/svg'/>")
            .await
            + of_asset;
    }
    if let Some(of_connection) = path.strip_prefix("/api/v1/connections/{id}") {
        return studio.connection(name).await + of_connection;
    }
    assert!(
        !path.contains('{'),
        "say here what {path} is about, so that a stranger can try it"
    );
    path.to_owned()
}

/// Publishes a second version of a template, and completes a path below it with a promotion that waits.
async fn path_to_promotion(studio: &Studio, template: &str, path: &str) -> String {
    let channels = "update accounts set template_channels = '{staging}' where id = ";
    studio.execute(format!("{channels}'{}'", studio.account.id)).await;
    studio.change_template(template, json!({"content": "Hello"})).await;
    let due_at = (OffsetDateTime::now_utc() + Duration::HOUR)
        .format(&Rfc3339)
        .expect("a time");
    let body = json!({"promotion": {"channel": "production", "version": 2, "due_at": due_at}});
    let request = studio
        .request(Method::POST, &format!("{template}/promotions"))
        .json(&body);
    let answer: Value = request.send().await.expect("an answer").json().await.expect("JSON");
    path.replace("{promotion}", answer["data"]["id"].as_str().expect("an id"))
}

impl Studio {
    /// Creates a connection to an unreachable store, and returns its path.
    async fn connection(&self, name: &str) -> String {
        let connection = json!({
            "provider": "google_cloud_storage",
            "name": name,
            "bucket": "documents",
            "path_prefix": format!("{name}/{}/", Uuid::new_v4()),
            "credentials": service_account_key(),
        });
        self.connected(&connection).await
    }

    fn key(&self, email: &str, more: &[&str]) -> String {
        let create = ["keys", "create", "--email", email, "--name", "tried"];
        self.service.command(&[&create, more].concat(), "").succeeded()
    }

    async fn execute(&self, statement: String) {
        assert_eq!(self.service.execute(&statement).await, 1);
    }
}

#[tokio::test]
async fn keys_that_are_no_longer_good_open_nothing() {
    let studio = Studio::start().await;
    let expired = studio.key("ann@example.org", &["--expires", "2099-01-01T00:00:00Z"]);
    studio
        .execute("update api_keys set expires_at = now() where expires_at is not null".into())
        .await;
    let revoked = studio.service.account("rita@example.org");
    studio
        .service
        .command(&["keys", "revoke", &revoked.key_id], "")
        .succeeded();
    let suspended = studio.service.account("sue@example.org");
    let suspend = format!("update accounts set suspended_at = now() where id = '{}'", suspended.id);
    studio.execute(suspend).await;

    for operation in operations() {
        let path = path_to_own(&studio, &operation).await;
        for (key, status, error) in [
            (None, 401, "unauthorized"),
            (Some(&expired), 401, "expired_token"),
            (Some(&revoked.key), 401, "invalid_token"),
            (Some(&suspended.key), 403, "forbidden"),
        ] {
            let answer = ask(&studio, &operation, &path, key.map(String::as_str)).await;
            let refused = refusal(answer).await;
            assert_eq!(refused, (status, error.to_owned()), "{} {path}", operation.method);
        }
    }
}

#[tokio::test]
async fn a_key_opens_what_its_scopes_say() {
    let studio = Studio::start().await;
    for operation in operations() {
        let Some(scope) = operation.scope() else { continue };
        assert!(SCOPES.contains(&scope), "{scope}");
        let with = |wanted: &dyn Fn(&str) -> bool| {
            let scopes = SCOPES.into_iter().filter(|&scope| wanted(scope));
            let arguments: Vec<_> = scopes.flat_map(|scope| ["--scope", scope]).collect();
            studio.key("ann@example.org", &arguments)
        };
        let all_others = with(&|other| other != scope);
        let it_alone = with(&|other| other == scope);
        let path = path_to_own(&studio, &operation).await;
        let refused = refusal(ask(&studio, &operation, &path, Some(&all_others)).await).await;
        assert_eq!(
            refused,
            (403, "insufficient_permissions".to_owned()),
            "{} {path}",
            operation.method
        );
        let answer = ask(&studio, &operation, &path, Some(&it_alone)).await;
        assert!(
            answer.status().is_success(),
            "{} {path}: {}",
            operation.method,
            answer.status()
        );
    }
}

#[tokio::test]
async fn a_stranger_finds_nothing_of_another_account() {
    let studio = Studio::start().await;
    let stranger = studio.service.account("bob@example.org");
    for operation in operations() {
        let path = path_to_own(&studio, &operation).await;
        let answer = ask(&studio, &operation, &path, Some(&stranger.key)).await;
        let status = answer.status();
        let headers = format!("{:?}", answer.headers());
        let body = answer.bytes().await.expect("a body");
        let told = headers + &String::from_utf8_lossy(&body);
        for owned in ["ann@example.org", &studio.account.id, &studio.account.key_id] {
            assert!(!told.contains(owned), "{} {path} tells {owned}", operation.method);
        }
        if operation.path.contains('{') {
            assert_eq!(status, 404, "{} {path}", operation.method);
        } else if operation.description["operationId"] == "createBatch" {
            assert_eq!(status, 422, "a batch uses a stranger's template");
        } else {
            assert!(status.is_success(), "{} {path}: {status}", operation.method);
        }
    }
}

#[tokio::test]
async fn a_part_finds_no_template_of_another_account() {
    let studio = Studio::start().await;
    let stranger = studio.service.account("bob@example.org");
    let path = studio.template("Invoice", "Dear {{ name }}").await;
    let (_, owned) = path.rsplit_once('/').expect("an id at its end");
    let mut told = Vec::new();
    for id in [owned, "0192f0c1-5a3e-7c44-9d8e-3b1f6a2c7d90", "nonsense"] {
        let part = json!({"type": "template", "content": {"template_id": id}});
        let request = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
        let request = request.bearer_auth(&stranger.key).json(&body(part, json!({})));
        let [(pointer, detail)] = problems(request.send().await.expect("an answer"))
            .await
            .try_into()
            .expect("one");
        assert_eq!(pointer, "/parts/0/content/template_id", "{id}");
        told.push(detail.replace(id, "ID"));
    }
    assert!(told.iter().all(|detail| *detail == told[0]), "{told:?}");
}
