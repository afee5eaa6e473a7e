//! Requests documents from a running Platen and checks them.

use std::sync::Arc;

use bytes::Bytes;
use reqwest::{Method, RequestBuilder, StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    document::{Wanted, find_problem},
    error::LoadError,
    measure::Caller,
    pages::Load,
};

/// A client of one account; cheap to clone.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    /// Without a trailing slash.
    address: String,
    pub(crate) key: String,
}

/// A caller that requests the same document repeatedly.
pub(crate) struct Renderer {
    client: Client,
    order: Order,
}

/// A request, and the required result.
#[derive(Clone)]
pub(crate) struct Order {
    load: Arc<Load>,
    wanted: Wanted,
    body: Bytes,
}

impl Order {
    /// One part, with defaults except for the format.
    pub(crate) fn new(load: &Arc<Load>, wanted: Wanted) -> Self {
        let format = match wanted {
            Wanted::Pdf => "pdf",
            Wanted::PdfA => "pdf/a",
        };
        let body = json!({
            "parts": [{ "type": "html", "content": load.html }],
            "output_format": format,
            "output_encoding": "binary",
        });
        Self {
            load: load.clone(),
            wanted,
            body: body.to_string().into(),
        }
    }

    /// A stored template that, filled with `context`, produces the load.
    pub(crate) fn of_template(load: &Arc<Load>, template: &str, context: &Value) -> Self {
        let body = json!({
            "parts": [{ "type": "template", "content": { "template_id": template, "context": context } }],
            "output_encoding": "binary",
        });
        Self {
            load: load.clone(),
            wanted: Wanted::PdfA,
            body: body.to_string().into(),
        }
    }

    /// The load as `parts` identical parts, as PDF/A. The load's page count is that of the whole document.
    pub(crate) fn of_parts(load: &Arc<Load>, parts: usize, with_header_and_footer: bool) -> Self {
        let body = json!({
            "parts": vec![json!({ "type": "html", "content": load.html }); parts],
            "margin": { "top": 20, "right": 20, "bottom": 20, "left": 20 },
            "render_header_footer": with_header_and_footer,
            "header_template": "<p><span class=title></span></p>",
            "footer_template": "<p><span class=pageNumber></span> / <span class=totalPages></span></p>",
            "output_encoding": "binary",
        });
        Self {
            load: load.clone(),
            wanted: Wanted::PdfA,
            body: body.to_string().into(),
        }
    }

    /// Checks a returned document.
    pub(crate) fn check(&self, document: &[u8]) -> Result<(), LoadError> {
        find_problem(document, &self.load, self.wanted).map_or(Ok(()), |what| Err(self.wrong(what)))
    }

    fn wrong(&self, what: String) -> LoadError {
        LoadError::WrongAnswer {
            way: "Platen".into(),
            load: self.load.name,
            what,
        }
    }
}

/// A returned document with its timing.
pub(crate) struct Rendered {
    pub(crate) document: Bytes,
    /// Sum of the engine's phases in milliseconds, from `Server-Timing`.
    pub(crate) engine_ms: f64,
    /// Sum of the phases in which Chromium works, in milliseconds.
    pub(crate) chromium_ms: f64,
}

impl Client {
    /// Creates a client for the service at `address`.
    pub(crate) fn new(http: &reqwest::Client, address: &str, key: &str) -> Self {
        Self {
            http: http.clone(),
            address: address.to_owned(),
            key: key.to_owned(),
        }
    }

    /// Starts a request to a path below `/api/v1/`.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/api/v1/{path}", self.address);
        self.http.request(method, url).bearer_auth(&self.key)
    }

    /// Creates a template and returns its id.
    pub(crate) async fn create_template(&self, name: &str, content: &str) -> Result<String, LoadError> {
        let template = json!({ "template": { "name": name, "content": content } });
        self.create("templates", &template).await
    }

    /// Creates a batch that fills a template, with further members of its render, and returns its path below `/api/v1/`.
    pub(crate) async fn create_batch(&self, template: &str, mut render: Value) -> Result<String, LoadError> {
        render["parts"] = json!([{ "type": "template", "content": { "template_id": template } }]);
        let id = self
            .create("batches", &json!({ "batch": { "render": render } }))
            .await?;
        Ok(format!("batches/{id}"))
    }

    /// Creates a batch of documents with one line and a callback for each, and returns its path below `/api/v1/`.
    pub(crate) async fn create_line_batch(&self, callback: &str) -> Result<String, LoadError> {
        let template = self.create_template("Row", "<p>{{ number }}").await?;
        let render = json!({ "callback": { "url": callback } });
        self.create_batch(&template, render).await
    }

    /// Uploads the rows of a batch, which begins with that.
    pub(crate) async fn upload_rows(&self, batch: &str, rows: impl Iterator<Item = Value>) -> Result<(), LoadError> {
        let rows: Vec<_> = rows.map(|row| row.to_string()).collect();
        let upload = self.request(Method::PUT, &format!("{batch}/rows"));
        let upload = upload.header(CONTENT_TYPE, "application/x-ndjson");
        answer(upload.body(rows.join("\n"))).await?;
        Ok(())
    }

    /// Creates a resource and returns its id.
    pub(crate) async fn create(&self, path: &str, body: &Value) -> Result<String, LoadError> {
        let created = answer(self.request(Method::POST, path).json(body)).await?;
        let id = created["data"]["id"].as_str().map(ToOwned::to_owned);
        id.ok_or_else(|| LoadError::Platen(format!("answered without an id: {created}")))
    }

    /// Queues a render and returns its id.
    pub(crate) async fn enqueue(&self, body: &Value) -> Result<Uuid, LoadError> {
        let (id, _) = self.request_render("renderers/pdf/async", body).await?;
        Ok(id)
    }

    /// Requests a render at a path below `/api/v1/`, and returns its id and the body of the response.
    pub(crate) async fn request_render(&self, path: &str, body: &Value) -> Result<(Uuid, Bytes), LoadError> {
        let answer = self.request(Method::POST, path).json(body).send().await?;
        let id = answer.headers().get("x-render-id");
        let id = id.and_then(|id| Uuid::try_parse_ascii(id.as_bytes()).ok());
        let (status, body) = (answer.status(), answer.bytes().await?);
        match (status, id) {
            (StatusCode::OK, Some(id)) => Ok((id, body)),
            _ => Err(LoadError::Platen(format!(
                "answered {status}: {}",
                String::from_utf8_lossy(&body)
            ))),
        }
    }

    /// Renders once, and checks the status, the page count and the PDF header.
    pub(crate) async fn render(&self, order: &Order) -> Result<Bytes, LoadError> {
        Ok(self.render_timed(order).await?.document)
    }

    /// Like [`Self::render`], with the engine's share of the time.
    pub(crate) async fn render_timed(&self, order: &Order) -> Result<Rendered, LoadError> {
        let answer = self
            .request(Method::POST, "renderers/pdf")
            .header("content-type", "application/json")
            .body(order.body.clone())
            .send()
            .await?;
        let status = answer.status();
        let page_count: Option<usize> = answer
            .headers()
            .get("x-page-count")
            .and_then(|value| value.to_str().ok()?.parse().ok());
        let timing = answer.headers().get("server-timing");
        let timing = timing.and_then(|timing| timing.to_str().ok()).unwrap_or_default();
        let engine_ms = sum_of_phases(timing, |_| true);
        let chromium_ms = sum_of_phases(timing, |phase| phase == "load" || phase == "print");
        let document = answer.bytes().await?;
        if status != StatusCode::OK {
            let body = String::from_utf8_lossy(&document);
            return Err(order.wrong(format!("status {status}: {body}")));
        }
        if page_count != Some(order.load.page_count) {
            return Err(order.wrong(format!(
                "X-Page-Count {page_count:?} instead of {}",
                order.load.page_count
            )));
        }
        if !document.starts_with(b"%PDF-") {
            return Err(order.wrong("no PDF header".into()));
        }
        Ok(Rendered {
            document,
            engine_ms,
            chromium_ms,
        })
    }
}

/// Returns the body of a successful response, or null if it is empty.
pub(crate) async fn answer(request: RequestBuilder) -> Result<Value, LoadError> {
    let answer = request.send().await?;
    let status = answer.status();
    let body = answer.bytes().await?;
    if status.is_success() {
        return Ok(serde_json::from_slice(&body).unwrap_or_default());
    }
    let body = String::from_utf8_lossy(&body);
    Err(LoadError::Platen(format!("answered {status}: {body}")))
}

/// Returns the sum in milliseconds; the header has the form `queue;dur=0.0, load;dur=9.5`.
fn sum_of_phases(server_timing: &str, counts: impl Fn(&str) -> bool) -> f64 {
    let phases = server_timing
        .split(',')
        .filter_map(|phase| phase.trim().split_once(";dur="));
    let durations = phases.filter_map(|(name, duration)| duration.parse::<f64>().ok().filter(|_| counts(name)));
    durations.sum()
}

impl Renderer {
    /// Creates a caller for `order`.
    pub(crate) fn new(client: &Client, order: &Order) -> Self {
        Self {
            client: client.clone(),
            order: order.clone(),
        }
    }
}

impl Caller for Renderer {
    async fn render(&mut self) -> Result<Bytes, LoadError> {
        self.client.render(&self.order).await
    }
}
