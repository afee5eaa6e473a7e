//! Renders a document for each row of invoices.csv. Needs the packages reqwest (json, stream), `serde_json` and tokio
//! (full).

use std::{
    env,
    error::Error,
    fs,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::{fs::File, time::sleep};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Sends a request and gives the answer; an error says what is wrong.
async fn call(request: RequestBuilder) -> Outcome<Response> {
    let request = request.bearer_auth(env::var("PLATEN_KEY")?);
    let response = request.timeout(Duration::from_mins(10)).send().await?;
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

/// Sends a request and gives the resource in the answer.
async fn data(request: RequestBuilder) -> Outcome<Value> {
    let mut answer: Value = call(request).await?.json().await?;
    Ok(answer["data"].take())
}

/// Shows the progress until the batch has ended.
async fn wait(client: &Client, batch: &str) -> Outcome<Value> {
    let deadline = Instant::now() + Duration::from_hours(1);
    // It grows, because requests are limited by the minute.
    let mut interval = 1;
    loop {
        let shown = data(client.get(batch)).await?;
        let hold = match shown["hold"].as_str() {
            Some(hold) => format!(", on hold: {hold}"),
            None => String::new(),
        };
        let [succeeded, rows, failed] = ["succeeded", "rows", "failed"].map(|name| &shown[name]);
        println!("{succeeded} of {rows} documents, {failed} failed{hold}");
        if shown["state"] == "ended" || shown["state"] == "cancelled" {
            return Ok(shown);
        }
        if Instant::now() > deadline {
            return Err(format!("{batch} has not ended within an hour, and goes on").into());
        }
        sleep(Duration::from_secs(interval)).await;
        interval = (interval * 2).min(15);
    }
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let client = Client::new();
    let api = env::var("PLATEN_URL")? + "/api/v1";

    // It tells the templates of several runs apart.
    let name = format!("Invoices {}", SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos());
    let content = r#"<h1>Invoice {{ number }}</h1><p>{{ customer.name }}: {{ total|currency("EUR") }}</p>"#;
    let creation = json!({"template": {"name": name, "content": content}});
    let template = data(client.post(format!("{api}/templates")).json(&creation)).await?;

    let part = json!({"type": "template", "content": {"template_id": template["id"]}});
    let creation = json!({"batch": {"name": name, "render": {"parts": [part]}}});
    // With an idempotency key, a repeated request returns the same batch.
    let request = client.post(format!("{api}/batches")).header("Idempotency-Key", &name);
    let created = data(request.json(&creation)).await?;
    let batch = format!("{api}/batches/{}", created["id"].as_str().unwrap_or_default());

    let rows = File::open("invoices.csv").await?;
    let upload = client.put(format!("{batch}/rows")).header("Content-Type", "text/csv");
    call(upload.body(rows)).await?;
    let ended = wait(&client, &batch).await?;

    let errors = call(client.get(format!("{batch}/errors"))).await?.text().await?;
    for line in errors.lines() {
        let row: Value = serde_json::from_str(line)?;
        let error = &row["error"];
        eprintln!("Row {}: {}: {}", row["row"], error["code"], error["message"]);
    }

    // The results name the render of each row: GET /api/v1/renders/{id} locates its document.
    let results = call(client.get(format!("{batch}/results?format=csv"))).await?;
    fs::write("results.csv", results.bytes().await?)?;
    if ended["succeeded"] != ended["rows"] {
        return Err("some rows have no document".into());
    }
    Ok(())
}
