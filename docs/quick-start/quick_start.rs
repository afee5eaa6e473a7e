//! Renders a PDF from HTML and from a template. Needs the packages reqwest (json), `serde_json` and tokio (full).

use std::{
    env,
    error::Error,
    fs,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use reqwest::{Client, Response};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Sends JSON and gives the answer; an error says what is wrong.
async fn call(client: &Client, path: &str, body: &Value) -> Outcome<Response> {
    let request = client.post(env::var("PLATEN_URL")? + path);
    let request = request.bearer_auth(env::var("PLATEN_KEY")?).json(body);
    let response = request.timeout(Duration::from_secs(90)).send().await?;
    let status = response.status().as_u16();
    if status < 300 {
        return Ok(response);
    }
    let answer: Value = response.json().await?;
    let refusal = match status {
        401 | 403 => format!("{}: {}", answer["error"], answer["message"]),
        422 => {
            let problems = answer["errors"].as_array().into_iter().flatten();
            let lines = problems.map(|problem| format!("{}: {}\n", problem["source"]["pointer"], problem["detail"]));
            lines.collect()
        }
        _ => answer["error"]["message"].to_string(),
    };
    Err(refusal.into())
}

async fn render(client: &Client, part: Value, file_name: &str) -> Outcome<()> {
    let body = json!({"parts": [part], "output_encoding": "binary"});
    let pdf = call(client, "/api/v1/renderers/pdf", &body).await?.bytes().await?;
    fs::write(file_name, pdf)?;
    Ok(())
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let client = Client::new();
    render(&client, "<h1>Hello</h1>".into(), "hello.pdf").await?;

    let content = r#"<h1>Invoice {{ number }}</h1><p>{{ total|currency("EUR") }}</p>"#;
    // It tells the templates of several runs apart.
    let name = format!("Invoice {}", SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos());
    let body = json!({"template": {"name": name, "content": content}});
    let created: Value = call(&client, "/api/v1/templates", &body).await?.json().await?;
    let template = json!({"template_id": created["data"]["id"], "context": {"number": 7, "total": 1234.5}});
    render(&client, json!({"type": "template", "content": template}), "invoice.pdf").await
}
