//! Batches: rows that become documents.

mod apart;
mod by_url;
mod crashes;
mod documents;
mod file_names;
mod held;
mod lifetime;
mod placeholders;
mod webhook;

use std::{
    collections::{HashMap, HashSet},
    io::{self, Cursor, Read},
    time::{Duration, Instant},
};

use futures::{StreamExt, stream};
use platen_pdf::inspect::inspect;
use reqwest::{Method, Response, header::CONTENT_TYPE};
use rustix::process::Signal;
use serde_json::{Value, json};
use zip::ZipArchive;

use crate::support::{
    object_stores::{Access, access_key, s3},
    origin::Origin,
    pdf,
    process::PATIENCE,
    receiver::Receiver,
    service::TestService,
    storage_limits::ROOM_FOR_RENDERS,
    studio::{Studio, header},
    wire::Wire,
};

const POLL: Duration = Duration::from_millis(20);
const NDJSON: &str = "application/x-ndjson";

async fn data(answer: Response) -> Value {
    let status = answer.status();
    let body: Value = answer.json().await.expect("JSON");
    assert!(status.is_success(), "{status}: {body}");
    body["data"].clone()
}

/// Returns the texts of the documents in the batch's archive, by their names.
async fn archived(studio: &Studio, path: &str) -> HashMap<String, String> {
    let request = studio.request(Method::GET, &format!("{path}/documents"));
    let answer = request.send().await.expect("an answer");
    assert_eq!(header(&answer, "content-type"), "application/zip");
    let archive = Cursor::new(answer.bytes().await.expect("an archive"));
    let mut archive = ZipArchive::new(archive).expect("a ZIP archive");
    let count = archive.len();
    let text_of = |index| {
        let mut document = Vec::new();
        let mut file = archive.by_index(index).expect("a document");
        file.read_to_end(&mut document).expect("a document");
        (file.name().to_owned(), pdf::text(&document))
    };
    (0..count).map(text_of).collect()
}

async fn conflict(answer: Response) -> String {
    assert_eq!(answer.status(), 409);
    let body: Value = answer.json().await.expect("JSON");
    body["error"]["message"].as_str().expect("a message").to_owned()
}

/// Returns the errors of a request that must be invalid, as `pointer: detail`.
async fn faults(answer: Response) -> Vec<String> {
    assert_eq!(answer.status(), 422);
    let body: Value = answer.json().await.expect("JSON");
    let errors = body["errors"].as_array().expect("errors").iter();
    let text = |error: &Value| {
        let pointer = error["source"]["pointer"].as_str().expect("a pointer");
        format!("{pointer}: {}", error["detail"].as_str().expect("a detail"))
    };
    errors.map(text).collect()
}

impl Studio {
    /// Returns a request for a batch whose rows fill a template with this content.
    async fn batch(&self, content: &str) -> Value {
        let path = self.template("Invoice", content).await;
        let template = json!({"template_id": path.rsplit_once('/').expect("an id").1});
        json!({"batch": {"render": {"parts": [{"type": "template", "content": template}]}}})
    }

    async fn create_batch(&self, body: &Value) -> Response {
        let request = self.request(Method::POST, "/api/v1/batches").json(body);
        request.send().await.expect("an answer")
    }

    /// Creates a batch and returns its path.
    async fn created(&self, body: &Value) -> String {
        let answer = self.create_batch(body).await;
        assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap_or_default());
        header(&answer, "location").to_owned()
    }

    async fn upload(&self, path: &str, media_type: &str, rows: impl Into<String>) -> Response {
        let request = self
            .request(Method::PUT, &format!("{path}/rows"))
            .header(CONTENT_TYPE, media_type);
        request.body(rows.into()).send().await.expect("an answer")
    }

    async fn act(&self, path: &str, action: &str) -> Response {
        self.post(&format!("{path}/{action}")).await
    }

    async fn get_data(&self, path: &str) -> Value {
        data(self.request(Method::GET, path).send().await.expect("an answer")).await
    }

    async fn text(&self, path: &str) -> String {
        let answer = self.request(Method::GET, path).send().await.expect("an answer");
        assert_eq!(answer.status(), 200);
        answer.text().await.expect("a text")
    }

    /// Returns the batch once it is as wanted.
    async fn batch_when(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let batch = self.get_data(path).await;
            if wanted(&batch) {
                return batch;
            }
            assert!(Instant::now() < deadline, "{batch}");
            tokio::time::sleep(POLL).await;
        }
    }

    async fn batch_ended(&self, path: &str) -> Value {
        self.batch_when(path, |batch| batch["state"] == "ended").await
    }

    /// Returns the outcomes of rows in order.
    async fn outcomes(&self, path: &str) -> Vec<Value> {
        let text = self.text(&format!("{path}/results")).await;
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }
}

fn with_rows(mut body: Value, rows: impl IntoIterator<Item = Value>) -> Value {
    body["batch"]["rows"] = rows.into_iter().collect();
    body
}

fn numbers(count: usize) -> impl Iterator<Item = Value> {
    (1..=count).map(|number| json!({"number": number}))
}

fn counts(batch: &Value) -> [i64; 4] {
    ["rows", "opened", "succeeded", "failed"].map(|name| batch[name].as_i64().expect("a number"))
}

#[tokio::test]
async fn all_documents_are_downloaded_together() {
    let studio = Studio::start().await;
    let body = studio.batch("Invoice {{ number + 1 }}").await;
    let body = with_rows(
        body,
        [json!({"number": 1}), json!({"number": "none"}), json!({"number": 3})],
    );
    let path = studio.created(&body).await;
    let counted = counts(&studio.batch_ended(&path).await);
    assert_eq!(counted, [3, 3, 2, 1]);
    let archived = archived(&studio, &path).await;
    assert_eq!(archived.len(), 2);
    for (name, text) in [("000001.pdf", "Invoice 2"), ("000003.pdf", "Invoice 4")] {
        assert!(archived[name].contains(text));
    }
    studio
        .service
        .execute("update renders set object_expires_at = now()")
        .await;
    let answer = studio.request(Method::GET, &format!("{path}/documents")).send().await;
    let message = conflict(answer.expect("an answer")).await;
    assert_eq!(message, "The batch has no documents in the default storage.");
}

#[tokio::test]
async fn all_documents_are_downloaded_as_one_pdf() {
    let studio = Studio::start().await;
    let content = "<title>{{ title }}</title><h1 id='top'>Invoice {{ number + 1 }}</h1><a href='#top'>Up</a>";
    let rows = [
        json!({"number": 1, "title": "Ann’s"}),
        json!({"number": "none", "title": "None"}),
        json!({"number": 3, "title": ""}),
    ];
    let mut body = with_rows(studio.batch(content).await, rows);
    body["batch"]["name"] = "Invoices of November".into();
    let path = studio.created(&body).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [3, 3, 2, 1]);
    let request = async |query: &str| {
        let request = studio.request(Method::GET, &format!("{path}/documents{query}"));
        request.send().await.expect("an answer")
    };
    let answer = request("?format=pdf").await;
    assert_eq!(header(&answer, "content-type"), "application/pdf");
    assert!(header(&answer, "content-disposition").ends_with(".pdf\""));
    let document = answer.bytes().await.expect("a PDF");
    let text = pdf::text(&document);
    let pages: Vec<_> = text.split_terminator('\u{c}').collect();
    assert!(
        pages.len() == 2 && pages[0].contains("Invoice 2") && pages[1].contains("Invoice 4"),
        "{text}"
    );
    assert!(pdf::info(&document).contains("Invoices of November"));
    // Text as qpdf writes it in JSON.
    let objects = pdf::objects(&document).to_string();
    for title in ["\"/Title\":\"u:Ann’s\"", "\"/Title\":\"u:Row 3\""] {
        assert!(objects.contains(title), "{title}");
    }
    assert!(!objects.contains("u:Row 1"), "the first row has a title");
    let inspection = inspect(&document).expect("a PDF");
    assert_eq!(inspection.outline.count, 4);
    assert!(inspection.verdict.is_ok(), "{:?}", inspection.verdict);
    assert_eq!(
        faults(request("?format=tar").await).await,
        ["/format: Must be zip or pdf; got \"tar\""]
    );
    studio
        .service
        .execute("update renders set page_count = 5001 where status = 'succeeded'")
        .await;
    let reason = "One PDF may have 10,000 pages, and the documents have 10,002; use zip, or batches of fewer rows";
    assert_eq!(
        faults(request("?format=pdf").await).await,
        [format!("/format: {reason}")]
    );
    assert_eq!(request("?format=zip").await.status(), 200);
    studio
        .service
        .execute("update renders set object_expires_at = now()")
        .await;
    let message = conflict(request("?format=pdf").await).await;
    assert_eq!(message, "The batch has no documents in the default storage.");
}

#[tokio::test]
async fn each_row_becomes_a_document() {
    let studio = Studio::start().await;
    let mut body = with_rows(studio.batch("Invoice {{ number }}").await, numbers(12));
    body["batch"]["name"] = "November".into();
    let path = studio.created(&body).await;
    let batch = studio.batch_ended(&path).await;
    assert_eq!(counts(&batch), [12, 12, 12, 0]);
    assert_eq!((&batch["name"], &batch["hold"]), (&json!("November"), &Value::Null));
    let outcomes = studio.outcomes(&path).await;
    assert_eq!(outcomes.len(), 12);
    for (index, outcome) in outcomes.iter().enumerate() {
        assert_eq!(
            (&outcome["row"], &outcome["state"]),
            (&json!(index + 1), &json!("succeeded"))
        );
        let url = outcome["document_url"].as_str().expect("a URL");
        let document = studio.service.client.get(url).send().await.expect("an answer");
        let document = document.bytes().await.expect("a PDF");
        assert_eq!(pdf::text(&document).trim(), format!("Invoice {}", index + 1));
        assert_eq!(outcome["path"], Value::Null);
    }
    // What is no longer needed is deleted.
    studio.service.number_is(0, "select count(*) from batch_pieces").await;
    studio
        .service
        .number_is(0, "select count(*) from jobs where kind = 'batch'")
        .await;
    let listed = studio.get_data("/api/v1/batches").await;
    assert_eq!(listed, json!([batch]));
    assert_eq!(studio.text(&format!("{path}/errors")).await, "");
}

#[tokio::test]
async fn a_repeated_request_returns_the_same_batch() {
    let mut studio = Studio::start().await;
    let template = studio.template("Invoice", "{{ number }}").await;
    let (_, template) = template.rsplit_once('/').expect("an id");
    let render = json!({"parts": [{"type": "template", "content": {"template_id": template}}]});
    let body = with_rows(json!({"batch": {"render": render}}), numbers(2));
    let send = async |studio: &Studio, body: &Value| {
        let request = studio
            .request(Method::POST, "/api/v1/batches")
            .header("idempotency-key", "november");
        request.json(body).send().await.expect("an answer")
    };
    let first = send(&studio, &body).await;
    let again = send(&studio, &body).await;
    // Idempotency keys are those of the account, also for an API key that sees no batches of others.
    let restricted = ["--allow-template", template];
    studio.account.key = studio
        .service
        .create_key("ann@example.org", "invoices", &restricted)
        .succeeded();
    for again in [again, send(&studio, &body).await] {
        assert_eq!(again.status(), 201);
        assert_eq!(header(&again, "idempotent-replayed"), "true");
        assert_eq!(header(&first, "location"), header(&again, "location"));
    }
    let other = faults(send(&studio, &with_rows(body, numbers(3))).await).await;
    assert!(other[0].contains("use a new key"), "{other:?}");
    assert_eq!(studio.service.number("select count(*) from batches").await, 1);
}

#[tokio::test]
async fn uploaded_rows_go_to_paths_of_their_own() {
    let store = s3().await;
    let bucket = store.bucket(Access::Full);
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", "127.0.0.1")]).await;
    let connection = json!({
        "provider": "aws_s3", "name": "invoices", "bucket": bucket, "path_prefix": "2026/",
        "endpoint": store.endpoint(), "credentials": access_key(),
    });
    studio.connected(&connection).await;
    let mut body = studio.batch("Invoice {{ number }} for {{ customer.name }}").await;
    let destination = json!({"provider": "aws_s3", "bucket": bucket, "path": "{{ folder }}/{{ number }}.pdf"});
    body["batch"]["render"]["destination"] = destination;
    let path = studio.created(&body).await;
    assert_eq!(studio.get_data(&path).await["state"], "open");
    let rows = "number,customer.name,folder\r\n\
                1,\"Ann, \"\"A\"\"\",2026\r\n\
                a/b,Bob,2026\r\n\
                1,Ann again,2026\r\n\
                ..,Dots,..\r\n\
                5,Eve,2025\r\n\
                =1+1,Formula,\r\n";
    let uploaded = data(studio.upload(&path, "text/csv; charset=utf-8", rows).await).await;
    assert_eq!((&uploaded["state"], &uploaded["rows"]), (&json!("running"), &json!(6)));
    let batch = studio.batch_ended(&path).await;
    assert_eq!(counts(&batch), [6, 6, 2, 4]);
    assert_eq!(store.keys(&bucket).await, ["2026/1.pdf", "2026/a-b.pdf"]);
    let object = store.object(&bucket, "2026/1.pdf").await.expect("an object");
    assert_eq!(pdf::text(&object.content).trim(), "Invoice 1 for Ann, \"A\"");
    let errors = studio.text(&format!("{path}/errors?format=csv")).await;
    let errors: Vec<_> = errors.lines().collect();
    assert_eq!(errors.len(), 5, "{errors:?}");
    let columns = ["row", "state", "render_id", "path", "document_url", "code", "message"];
    assert_eq!(errors[0], columns.map(|name| format!("\"{name}\"")).join(","));
    for (line, (row, reason)) in errors[1..].iter().zip([
        (3, "the same path"),
        (4, "the segment .."),
        (5, "no storage connection"),
        (6, "is empty"),
    ]) {
        assert!(
            line.starts_with(&format!("\"{row}\",\"failed\",\"\",\"\",\"\",\"row_invalid\"")),
            "{line}"
        );
        assert!(line.to_lowercase().contains(reason), "{line}");
    }
    let first = &studio.outcomes(&path).await[0];
    assert_eq!(
        (&first["path"], &first["document_url"]),
        (&json!("2026/1.pdf"), &Value::Null)
    );
    // A repeated upload of the same rows succeeds; others are refused.
    assert_eq!(
        data(studio.upload(&path, "text/csv", rows).await).await["state"],
        "ended"
    );
    let refused = conflict(studio.upload(&path, NDJSON, "{}").await).await;
    assert!(refused.contains("other rows"), "{refused}");

    // Rows that have failed are rendered once there is a connection.
    let older = json!({"path_prefix": "2025/", "name": "older"});
    let mut connection = connection;
    connection
        .as_object_mut()
        .expect("members")
        .extend(older.as_object().expect("members").clone());
    studio.connected(&connection).await;
    assert_eq!(data(studio.act(&path, "retry").await).await["state"], "running");
    let batch = studio.batch_ended(&path).await;
    assert_eq!(counts(&batch), [6, 6, 3, 3]);
    assert_eq!(store.keys(&bucket).await, ["2025/5.pdf", "2026/1.pdf", "2026/a-b.pdf"]);
}

#[tokio::test]
async fn malformed_rows_are_refused_with_their_line_and_nothing_is_stored() {
    let studio = Studio::start().await;
    let path = studio.created(&studio.batch("{{ number }}").await).await;
    let many = "{\"number\": 1}\n".repeat(700);
    let refused = faults(studio.upload(&path, NDJSON, format!("{many}[1]\n")).await).await;
    assert_eq!(refused, [": Line 701: A row is a JSON object; got \"[1]\""]);
    assert_eq!(studio.service.number("select count(*) from batch_pieces").await, 0);
    let answer = studio.upload(&path, "text/plain", "{}").await;
    assert_eq!(answer.status(), 415);
    let refused = faults(studio.upload(&path, NDJSON, "").await).await;
    assert!(refused[0].contains("no rows"), "{refused:?}");
    assert_eq!(studio.get_data(&path).await["state"], "open");
    data(studio.upload(&path, NDJSON, "{\"number\": 1}").await).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [1, 1, 1, 0]);
}

#[tokio::test]
async fn rows_that_stop_arriving_are_not_waited_for() {
    let studio = Studio::start_with(&[("PLATEN_BODY_SECONDS", "1")]).await;
    let path = studio.created(&studio.batch("{{ number }}").await).await;
    let beginning = stream::iter([Ok::<_, io::Error>("{\"number\": 1}\n".repeat(1_000))]);
    let request = studio
        .request(Method::PUT, &format!("{path}/rows"))
        .header(CONTENT_TYPE, NDJSON)
        .body(reqwest::Body::wrap_stream(beginning.chain(stream::pending())));
    let answer = request.send().await.expect("an answer");
    assert_eq!(answer.status(), 408);
    assert_eq!(studio.get_data(&path).await["state"], "open");
    // The same batch takes them later.
    let rows = studio.upload(&path, NDJSON, "{\"number\": 1}").await;
    assert_eq!(data(rows).await["rows"], 1);
    studio.service.number_is(0, "select count(*) from batch_pieces").await;
}

#[tokio::test]
async fn faults_of_a_batch_are_at_their_members() {
    let studio = Studio::start().await;
    let valid = studio.batch("{{ number }}").await;
    let change = |pointer: &str, value: Value| {
        let mut body = valid.clone();
        let (parent, name) = pointer.rsplit_once('/').expect("a member");
        body.pointer_mut(parent).expect("a parent")[name] = value;
        body
    };
    let destination = |path: &str| json!({"provider": "aws_s3", "bucket": "b", "path": path});
    let with_both = |destination: Value, file_names: &str| {
        let mut body = change("/batch/render/destination", destination);
        body["batch"]["file_names"] = file_names.into();
        body
    };
    for (body, pointer, reason) in [
        (
            change("/batch/render/parts", json!(["<p>"])),
            "/batch/render/parts",
            "a template without context",
        ),
        (
            change("/batch/render/scale", json!("x")),
            "/batch/render/scale",
            "number",
        ),
        (
            change("/batch/render/destination", destination("a.pdf")),
            "/batch/render/destination/path",
            "placeholder",
        ),
        (
            change("/batch/render/destination", destination("{{ a")),
            "/batch/render/destination/path",
            "}}",
        ),
        (
            change("/batch/name", json!("a\u{0}b")),
            "/batch/name",
            "without control characters",
        ),
        (
            change("/batch/file_names", json!("{{ a\u{0}b }}.pdf")),
            "/batch/file_names",
            "control characters",
        ),
        (change("/batch/file_names", json!(1)), "/batch/file_names", "a string"),
        (change("/batch/file_names", json!("")), "/batch/file_names", "empty"),
        (change("/batch/file_names", json!("{{ a")), "/batch/file_names", "}}"),
        (
            change("/batch/file_names", json!("a.pdf")),
            "/batch/file_names",
            "a name of its own",
        ),
        (
            change("/batch/file_names", json!("../{{ a }}.pdf")),
            "/batch/file_names",
            "the segment ..",
        ),
        (
            with_both(destination("{{ a }}.pdf"), "{{ a }}.pdf"),
            "/batch/file_names",
            "a path of its own",
        ),
        (change("/batch/rows", json!([1])), "/batch/rows/0", "object"),
        (change("/batch/rows", json!([])), "/batch/rows", "empty"),
        (change("/batch/other", json!(1)), "/batch/other", "not allowed"),
        (
            change("/batch/render/assets", json!({"a.css": "cHt9".repeat(100_000)})),
            "/batch/render",
            "256 KiB",
        ),
        (
            change(
                "/batch/render/parts/0/content/template_id",
                json!("0192f0c1-5a3e-7c44-9d8e-3b1f6a2c7d90"),
            ),
            "/batch/render/parts/0/content/template_id",
            "No such template",
        ),
    ] {
        let faults = faults(studio.create_batch(&body).await).await;
        assert!(
            faults
                .iter()
                .any(|fault| fault.starts_with(pointer) && fault.contains(reason)),
            "{pointer}: {faults:?}"
        );
    }
    assert_eq!(studio.service.number("select count(*) from batches").await, 0);
}

#[tokio::test]
async fn a_batch_stops_without_credits_and_goes_on_with_more() {
    let service = TestService::start().await;
    let account = service.account_with("ann@example.org", &["--credits", "3"]);
    let studio = Studio { service, account };
    let body = with_rows(studio.batch("{{ number }}").await, numbers(12));
    let path = studio.created(&body).await;
    let held = studio
        .batch_when(&path, |batch| batch["hold"] == "credits" && batch["succeeded"] == 3)
        .await;
    assert_eq!(counts(&held), [12, 3, 3, 0]);
    data(studio.act(&path, "pause").await).await;
    let grant = ["accounts", "grant", "--email", "ann@example.org", "--credits", "100"];
    studio.service.command(&grant, "").succeeded();
    studio
        .service
        .number_is(0, "select count(*) from jobs where kind = 'batch'")
        .await;
    assert_eq!(studio.get_data(&path).await["state"], "paused");
    data(studio.act(&path, "resume").await).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [12, 12, 12, 0]);
    assert_eq!(studio.service.number("select count(*) from renders").await, 12);
}

/// Gives the batch that is on hold its next turn, for which it would wait for seconds.
async fn next_turn(service: &TestService) {
    let late = "select count(*) from jobs where kind = 'batch' and run_at > now() + interval '15 seconds'";
    assert_eq!(service.number(late).await, 0);
    service
        .execute("update jobs set run_at = now() where kind = 'batch' and claim is null")
        .await;
}

/// Renders one row, and returns the bytes of documents that the account stores then.
async fn stored_by_one_row(studio: &Studio, body: &Value) -> i64 {
    let path = studio.created(&with_rows(body.clone(), numbers(1))).await;
    studio.batch_ended(&path).await;
    studio.service.stored(&studio.account, "document_bytes").await
}

#[tokio::test]
async fn rows_without_room_for_their_documents_wait_until_there_is() {
    let studio = Studio::start().await;
    let body = studio.batch("{{ number }}").await;
    let size = stored_by_one_row(&studio, &body).await;
    let limit = async |halves: i64| {
        let limit = size * halves / 2;
        studio
            .service
            .limit_storage(&studio.account, "document_bytes", limit)
            .await;
    };
    limit(7).await;
    let path = studio.created(&with_rows(body.clone(), numbers(12))).await;
    let is_held = |succeeded: i64| {
        move |batch: &Value| batch["hold"] == "storage" && batch["succeeded"] == succeeded && batch["failed"] == 0
    };
    studio.batch_when(&path, is_held(2)).await;
    studio
        .service
        .number_is(10, "select count(*) from jobs where hold = 'storage' and not resumed")
        .await;
    limit(11).await;
    next_turn(&studio.service).await;
    studio.batch_when(&path, is_held(4)).await;
    // Rows that are known not to fit are not rendered once more.
    let unknown = format!("select count(*) from jobs where needed < {}", size / 2);
    assert_eq!(studio.service.number(&unknown).await, 0);
    limit(100).await;
    next_turn(&studio.service).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [12, 12, 12, 0]);
    studio.service.storage_is_counted().await;
    // A document that exceeds the limit by itself would wait forever.
    studio.service.execute("delete from renders").await;
    limit(1).await;
    let path = studio.created(&with_rows(body, numbers(1))).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [1, 1, 0, 1]);
    assert_eq!(studio.outcomes(&path).await[0]["error"]["code"], "storage_full");
}

#[tokio::test]
async fn rows_that_wait_are_cancelled_with_their_batch() {
    let studio = Studio::start().await;
    let body = studio.batch("{{ number }}").await;
    let size = stored_by_one_row(&studio, &body).await;
    studio
        .service
        .limit_storage(&studio.account, "document_bytes", size * 3 / 2)
        .await;
    let path = studio.created(&with_rows(body, numbers(4))).await;
    studio.batch_when(&path, |batch| batch["hold"] == "storage").await;
    data(studio.act(&path, "cancel").await).await;
    let batch = studio.batch_when(&path, |batch| batch["failed"] == 4).await;
    assert_eq!(batch["state"], "cancelled");
    studio
        .service
        .number_is(0, "select count(*) from jobs where kind in ('render', 'batch')")
        .await;
}

/// A template whose documents cost two credits.
fn of_two_credits() -> String {
    "<p style='break-after: page'>{{ number }}</p>".repeat(12)
}

#[tokio::test]
async fn rows_without_credits_for_all_their_pages_wait_for_more() {
    let service = TestService::start().await;
    let account = service.account_with("ann@example.org", &["--credits", "7"]);
    let studio = Studio { service, account };
    // Each reserves one credit when it is begun, so that none has two at first.
    let rows = numbers(7);
    let path = studio
        .created(&with_rows(studio.batch(&of_two_credits()).await, rows))
        .await;
    let held = studio
        .batch_when(&path, |batch| batch["hold"] == "credits" && batch["succeeded"] == 3)
        .await;
    assert_eq!(counts(&held), [7, 7, 3, 0]);
    // They don't keep the last one from others.
    assert_eq!(studio.service.reserved_credits().await, 0);
    assert_eq!(studio.render("<p>", json!({})).await.status(), 200);
    let grant = ["accounts", "grant", "--email", "ann@example.org", "--credits", "100"];
    studio.service.command(&grant, "").succeeded();
    next_turn(&studio.service).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [7, 7, 7, 0]);
    let used = "select used from credit_periods order by starts_at desc limit 1";
    assert_eq!(studio.service.number(used).await, 15);
    assert_eq!(studio.service.reserved_credits().await, 0);
}

#[tokio::test]
async fn a_row_that_costs_more_than_all_credits_of_a_period_fails() {
    let service = TestService::start().await;
    let account = service.account_with("ann@example.org", &["--credits", "1"]);
    let studio = Studio { service, account };
    let body = with_rows(studio.batch(&of_two_credits()).await, numbers(1));
    let path = studio.created(&body).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [1, 1, 0, 1]);
    assert_eq!(studio.outcomes(&path).await[0]["error"]["code"], "credits");
}

#[tokio::test]
async fn renders_that_end_together_are_recorded_and_charged_exactly() {
    const ROWS: usize = 12;
    let receiver = Receiver::start().await;
    let mut studio = Studio::start_with_receiver(&receiver.authority).await;
    // With the tenth credit, four fifths of the other account's credits are used, of which its owner is notified.
    let other = studio.service.account_with("bob@example.org", &["--credits", "12"]);
    for _ in 0..2 {
        let mut body = with_rows(studio.batch("{{ number }}").await, numbers(ROWS));
        body["batch"]["render"]["callback"] = json!({"url": receiver.url("/")});
        // Slow enough to be unfinished when the lock is taken.
        body["batch"]["render"]["evaluate_js"] = json!({"expression": "new Promise(done => setTimeout(done, 300))"});
        studio.created(&body).await;
        studio.account = other.clone();
    }
    let service = &studio.service;
    service
        .number_is(24, "select count(*) from renders where mode = 'async'")
        .await;
    // Successes wait for this lock, and are then recorded together.
    let mut lock = service.connection().await;
    let locking = "begin; select from credit_periods for update";
    sqlx::raw_sql(locking).execute(&mut lock).await.expect("a lock");
    // More are not claimed meanwhile: as many as are rendered and waiting.
    let claimed = "select count(*) from jobs where kind = 'render' and claim is not null";
    let documents = || service.stored_documents().len();
    let recorded = "select count(*) from renders where mode = 'async' and finished_at is not null";
    let deadline = Instant::now() + PATIENCE;
    loop {
        let (claimed, recorded) = (service.number(claimed).await, service.number(recorded).await);
        if claimed >= 2 && i64::try_from(documents()) == Ok(claimed + recorded) {
            break;
        }
        assert!(Instant::now() < deadline, "{claimed} claimed, {recorded} recorded");
        tokio::time::sleep(POLL).await;
    }
    sqlx::raw_sql("rollback").execute(&mut lock).await.expect("no lock");
    let deliveries = receiver.wait_for(2 * ROWS).await;
    let ids: HashSet<_> = deliveries
        .iter()
        .map(|delivery| &delivery.headers["webhook-id"])
        .collect();
    assert_eq!((deliveries.len(), ids.len()), (2 * ROWS, 2 * ROWS));
    let jobs = "select count(*) from jobs where kind in ('render', 'callback', 'batch')";
    service.number_is(0, jobs).await;
    // Those of a group end at the same moment.
    let grouped = "select count(*) - count(distinct finished_at) from renders where mode = 'async'";
    assert!(service.number(grouped).await > 0);
    let charged = "select count(*) from credit_periods where used = 12";
    assert_eq!(service.number(charged).await, 2);
    let counted = "select sum(credits)::bigint from usage_days where livemode and meter = 'async_render'";
    assert_eq!(service.number(counted).await, 24);
    assert_eq!(service.reserved_credits().await, 0);
    let notices = "select count(*) from mails where letter ->> 'kind' = 'credits_used'";
    assert_eq!(service.number(notices).await, 2);
    service.storage_is_counted().await;
}

#[tokio::test]
async fn a_locked_account_does_not_keep_others_from_recording_their_renders() {
    const ROWS: usize = 12;
    let mut studio = Studio::start().await;
    let other = studio.service.account_with("bob@example.org", &["--credits", "1234"]);
    for _ in 0..2 {
        let mut body = with_rows(studio.batch("{{ number }}").await, numbers(ROWS));
        // Slow enough to be unfinished when the lock is taken.
        body["batch"]["render"]["evaluate_js"] = json!({"expression": "new Promise(done => setTimeout(done, 300))"});
        studio.created(&body).await;
        studio.account = other.clone();
    }
    let (service, both) = (&studio.service, i64::try_from(2 * ROWS).expect("a number"));
    let queued = "select count(*) from renders where mode = 'async'";
    service.number_is(both, queued).await;
    let mut lock = service.connection().await;
    let locking = "begin; select from credit_periods where allowance <> 1234 for update";
    sqlx::raw_sql(locking).execute(&mut lock).await.expect("a lock");
    let of_locked = "select count(*) from renders join credit_periods using (account_id)
        where allowance <> 1234 and mode = 'async' and renders.finished_at is not null";
    let before = service.number(of_locked).await;
    let of_other = "select count(*) from renders join credit_periods using (account_id)
        where allowance = 1234 and mode = 'async' and renders.finished_at is not null";
    service.number_is(both / 2, of_other).await;
    assert!(before < both / 2);
    assert_eq!(service.number(of_locked).await, before);
    sqlx::raw_sql("rollback").execute(&mut lock).await.expect("no lock");
    service
        .number_is(both, "select sum(used)::bigint from credit_periods")
        .await;
    assert_eq!(service.reserved_credits().await, 0);
}

#[tokio::test]
async fn a_cancelled_batch_cancels_its_renders_and_begins_no_more() {
    let studio = Studio::start().await;
    let mut body = with_rows(studio.batch("{{ number }}").await, numbers(600));
    body["batch"]["render"]["evaluate_js"] = json!({"expression": "new Promise(() => {})"});
    let path = studio.created(&body).await;
    studio.batch_when(&path, |batch| batch["opened"] == 500).await;
    // After all others of the account.
    assert_eq!(
        studio
            .service
            .number("select min(priority)::bigint from jobs where kind = 'render'")
            .await,
        2
    );
    let cancelled = data(studio.act(&path, "cancel").await).await;
    assert_eq!(cancelled["state"], "cancelled");
    let batch = studio.batch_when(&path, |batch| batch["failed"] == 500).await;
    assert_eq!(counts(&batch), [600, 500, 0, 500]);
    studio
        .service
        .number_is(0, "select count(*) from renders where status <> 'cancelled'")
        .await;
    studio
        .service
        .number_is(0, "select count(*) from jobs where kind in ('render', 'batch')")
        .await;
    let first = &studio.outcomes(&path).await[0];
    assert_eq!(first["error"]["code"], "cancelled");
    for action in ["pause", "resume", "retry"] {
        conflict(studio.act(&path, action).await).await;
    }
}

#[tokio::test]
async fn a_killed_process_loses_and_repeats_no_row() {
    let mut studio = Studio::start().await;
    let body = with_rows(studio.batch("Invoice {{ number }}").await, numbers(60));
    let path = studio.created(&body).await;
    studio
        .batch_when(&path, |batch| batch["opened"].as_i64() > Some(0))
        .await;
    studio.service.restart(Signal::KILL).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [60, 60, 60, 0]);
    assert_eq!(studio.service.number("select count(*) from renders").await, 60);
    let charged = "select sum(credits)::bigint from renders";
    assert_eq!(studio.service.number(charged).await, 60);
}

#[tokio::test]
async fn a_batch_is_paused_only_by_crashes_in_succession() {
    let origin = Origin::start().await;
    let settings = [
        ("PLATEN_ROLE", "web"),
        ("PLATEN_EGRESS_ALLOW", origin.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    let mut body = studio.batch("Invoice {{ number }}").await;
    let parts = body["batch"]["render"]["parts"].as_array_mut().expect("parts");
    parts.push(json!(origin.url("/held")));
    let path = studio.created(&with_rows(body, numbers(1))).await;
    studio.service.execute("update jobs set crashes = 2").await;
    let _worker = studio.service.beside(&[("PLATEN_ROLE", "worker"), settings[1]]).await;
    // The turn that opens the row succeeds.
    let forgiven = "select count(*) from jobs where kind = 'batch' and crashes = 0";
    studio.service.number_is(1, forgiven).await;
    studio
        .service
        .execute("update jobs set crashes = 3, claim = null, instance = null, lease_until = null where kind = 'batch'")
        .await;
    studio.batch_when(&path, |batch| batch["state"] == "paused").await;
    origin.release();
    assert!(studio.act(&path, "resume").await.status().is_success());
    assert_eq!(counts(&studio.batch_ended(&path).await), [1, 1, 1, 0]);
}

#[tokio::test]
async fn rows_that_wait_to_be_opened_again_fail_when_the_batch_is_cancelled() {
    let studio = Studio::start().await;
    let mut body = with_rows(studio.batch("{{ number }}").await, numbers(30));
    let destination = json!({"provider": "aws_s3", "bucket": "none", "path": "{{ number }}.pdf"});
    body["batch"]["render"]["destination"] = destination;
    let path = studio.created(&body).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [30, 30, 0, 30]);
    studio.service.execute("update batch_rows set state = 'again'").await;
    studio
        .service
        .execute("update batches set failed = 0, state = 'paused', ended_at = null")
        .await;
    data(studio.act(&path, "cancel").await).await;
    assert_eq!(counts(&studio.get_data(&path).await), [30, 30, 0, 30]);
    studio
        .service
        .number_is(0, "select count(*) from jobs where kind = 'batch'")
        .await;
    // What is no longer needed counts no longer.
    studio.service.number_is(0, "select count(*) from batch_pieces").await;
    studio
        .service
        .number_is(
            0,
            "select coalesce((used -> 'queued_bytes')::bigint, 0) from account_storage",
        )
        .await;
}

#[tokio::test]
async fn rows_with_the_same_path_do_not_stop_a_retry() {
    let store = s3().await;
    let bucket = store.bucket(Access::Full);
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", "127.0.0.1")]).await;
    let rows = [1, 1, 2, 2, 3].map(|number| json!({"number": number}));
    let mut body = with_rows(studio.batch("{{ number }}").await, rows);
    let destination = json!({"provider": "aws_s3", "bucket": bucket, "path": "{{ number }}.pdf"});
    body["batch"]["render"]["destination"] = destination;
    let path = studio.created(&body).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [5, 5, 0, 5]);
    let connection = json!({
        "provider": "aws_s3", "name": "all", "bucket": bucket, "path_prefix": "", "endpoint": store.endpoint(),
        "credentials": access_key(),
    });
    studio.connected(&connection).await;
    data(studio.act(&path, "retry").await).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [5, 5, 3, 2]);
    assert_eq!(store.keys(&bucket).await, ["1.pdf", "2.pdf", "3.pdf"]);
}

#[tokio::test]
async fn keys_control_batches_that_they_could_have_created() {
    let studio = Studio::start().await;
    let path = studio.created(&studio.batch("{{ number }}").await).await;
    let with = async |arguments: &[&str], method: Method, path: String| {
        let key = studio
            .service
            .create_key("ann@example.org", "other", arguments)
            .succeeded();
        let request = studio
            .service
            .client
            .request(method, studio.service.url(&path))
            .bearer_auth(key);
        let request = request.header(CONTENT_TYPE, NDJSON).body("{\"number\": 1}");
        request.send().await.expect("an answer")
    };
    let rows = || format!("{path}/rows");
    let refused = conflict(with(&["--test"], Method::PUT, rows()).await).await;
    assert!(refused.contains("own mode"), "{refused}");
    let refused = with(&["--allow-channel", "production"], Method::PUT, rows()).await;
    assert_eq!(refused.status(), 403);
    let refused: Value = refused.json().await.expect("JSON");
    assert_eq!(refused["error"], "insufficient_permissions");
    let reason = refused["message"].as_str().expect("a message");
    assert!(reason.contains("controls only batches that it created"), "{reason}");
    // This one doesn't even see it.
    let template = studio.template("Invoice", "{{ number }}").await;
    let (_, template) = template.rsplit_once('/').expect("an id");
    let unseen = with(&["--allow-template", template], Method::POST, format!("{path}/cancel")).await;
    assert_eq!(unseen.status(), 404);
    assert_eq!(
        with(&["--test"], Method::POST, format!("{path}/cancel")).await.status(),
        409
    );
    assert_eq!(studio.get_data(&path).await["state"], "open");
    assert_eq!(with(&[], Method::PUT, rows()).await.status(), 200);
    assert_eq!(counts(&studio.batch_ended(&path).await), [1, 1, 1, 0]);
}

#[tokio::test]
async fn names_of_columns_are_bounded() {
    let studio = Studio::start().await;
    let path = studio.created(&studio.batch("{{ number }}").await).await;
    let header = "x".repeat(200_000);
    let refused = faults(
        studio
            .upload(&path, "text/csv", format!("{header}\n{}", "1\n".repeat(10_000)))
            .await,
    )
    .await;
    assert!(refused[0].contains("names of the columns"), "{refused:?}");
    // As many rows as are in a piece, each with long names.
    let header = vec!["x".repeat(150); 100];
    let header: Vec<_> = header
        .iter()
        .enumerate()
        .map(|(index, name)| format!("{name}{index}"))
        .collect();
    let row = vec!["1"; 100].join(",") + "\n";
    let rows = format!("{}\n{}", header.join(","), row.repeat(300));
    data(studio.upload(&path, "text/csv", rows).await).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [300, 300, 300, 0]);
}

#[tokio::test]
async fn rows_that_announce_more_than_1_gib_are_refused_before_they_are_sent() {
    let studio = Studio::start().await;
    let path = studio.created(&studio.batch("{{ number }}").await).await;
    let mut wire = Wire::open(&studio.service).await;
    wire.send(format!(
        "PUT {path}/rows HTTP/1.1\r\nhost: platen\r\nauthorization: Bearer {}\r\ncontent-type: text/csv\r\n\
         content-length: {}\r\nexpect: 100-continue\r\n\r\n",
        studio.account.key,
        (1_u64 << 30) + 1
    ))
    .await;
    let refused = wire.until("1073741824").await;
    assert!(refused.starts_with("HTTP/1.1 413"), "{refused}");
}

#[tokio::test]
async fn batches_leave_half_of_the_queue_to_other_renders() {
    let studio = Studio::start().await;
    let limits = "update accounts set storage_limits = '{\"queued_renders\": 40}'";
    assert_eq!(studio.service.execute(limits).await, 1);
    let mut body = with_rows(studio.batch("{{ number }}").await, numbers(60));
    body["batch"]["render"]["evaluate_js"] = json!({"expression": "new Promise(() => {})"});
    let path = studio.created(&body).await;
    studio.batch_when(&path, |batch| batch["opened"] == 20).await;
    studio.queued(&json!({"parts": ["<p>x"]})).await;
    assert_eq!(studio.get_data(&path).await["opened"], 20);
    data(studio.act(&path, "cancel").await).await;
}

#[tokio::test]
async fn batches_leave_bytes_of_the_queue_to_other_renders() {
    let studio = Studio::start().await;
    let (service, account) = (&studio.service, &studio.account);
    let rows = (1..=20).map(|number| json!({"number": number, "text": "x".repeat(200_000)}));
    service
        .limit_storage(account, "queued_bytes", ROOM_FOR_RENDERS + 4_100_000)
        .await;
    let body = json!({"batch": {"render": {"parts": ["<p>{{ text }}"]}}});
    let mut body = with_rows(body, rows);
    body["batch"]["render"]["evaluate_js"] = json!({"expression": "new Promise(() => {})"});
    let path = studio.created(&body).await;
    // Of 4.3 MB, 2 MiB are left.
    studio.batch_when(&path, |batch| batch["opened"] == 10).await;
    studio
        .queued(&json!({"parts": [format!("<p>{}", "x".repeat(2_000_000))]}))
        .await;
    assert_eq!(studio.get_data(&path).await["opened"], 10);
    data(studio.act(&path, "cancel").await).await;
}

#[tokio::test]
async fn batches_at_once_leave_half_of_the_queue_together() {
    let studio = Studio::start().await;
    let (service, account) = (&studio.service, &studio.account);
    service.limit_storage(account, "queued_renders", 400).await;
    let mut body = with_rows(studio.batch("{{ number }}").await, numbers(400));
    body["batch"]["render"]["evaluate_js"] = json!({"expression": "new Promise(() => {})"});
    let [first, second] = [studio.created(&body).await, studio.created(&body).await];
    for path in [&first, &second] {
        studio
            .batch_when(path, |batch| batch["opened"].as_i64() > Some(0))
            .await;
    }
    let deadline = Instant::now() + PATIENCE;
    while service.stored(account, "queued_renders").await < 200 {
        assert!(Instant::now() < deadline, "half of the queue is used");
        tokio::time::sleep(POLL).await;
    }
    // Each of two turns that look for room at the same time may take it for 25 rows.
    let queued = service.stored(account, "queued_renders").await;
    assert!(queued <= 225, "{queued}");
    for path in [first, second] {
        data(studio.act(&path, "cancel").await).await;
    }
}

#[tokio::test]
async fn rows_are_deleted_only_if_that_makes_room() {
    let studio = Studio::start().await;
    let (service, account) = (&studio.service, &studio.account);
    service
        .limit_storage(account, "queued_bytes", ROOM_FOR_RENDERS + 3_000_000)
        .await;
    let row = || json!({"number": 1, "text": "x".repeat(200_000)});
    let text = |count| format!("{}\n", row()).repeat(count);
    let mut body = with_rows(studio.batch("{{ number }}").await, (0..10).map(|_| row()));
    body["batch"]["render"]["evaluate_js"] = json!({"expression": "document.body.missing.member"});
    let failed = studio.created(&body).await;
    assert_eq!(counts(&studio.batch_ended(&failed).await), [10, 10, 0, 10]);
    let next = studio.created(&studio.batch("{{ number }}").await).await;
    let refused = studio.upload(&next, NDJSON, text(40)).await;
    assert_eq!(refused.status(), 403);
    let message = refused.text().await.expect("a text");
    assert!(message.contains("send fewer rows in a batch"), "{message}");
    data(studio.act(&failed, "retry").await).await;
    assert_eq!(counts(&studio.batch_ended(&failed).await), [10, 10, 0, 10]);
    data(studio.upload(&next, NDJSON, text(10)).await).await;
    assert_eq!(counts(&studio.batch_ended(&next).await), [10, 10, 10, 0]);
    assert!(
        conflict(studio.act(&failed, "retry").await)
            .await
            .contains("rows were deleted")
    );
}

#[tokio::test]
async fn a_batch_of_a_revoked_key_holds() {
    let studio = Studio::start().await;
    let key = studio.service.create_key("ann@example.org", "batches", &[]).succeeded();
    let body = studio.batch("{{ number }}").await;
    let request = studio.service.client.post(studio.service.url("/api/v1/batches"));
    let created = request.bearer_auth(&key).json(&body).send().await.expect("an answer");
    let path = header(&created, "location").to_owned();
    let revoke = "update api_keys set revoked_at = now() where name = 'batches'";
    assert_eq!(studio.service.execute(revoke).await, 1);
    data(studio.upload(&path, NDJSON, "{\"number\": 1}").await).await;
    let batch = studio.batch_when(&path, |batch| batch["hold"] == "key").await;
    assert_eq!(counts(&batch), [1, 0, 0, 0]);
    // Also once the key is deleted.
    assert_eq!(
        studio
            .service
            .execute("delete from api_keys where name = 'batches'")
            .await,
        1
    );
    data(studio.act(&path, "resume").await).await;
    studio
        .service
        .number_is(1, "select count(*) from batches where hold = 'key'")
        .await;
    assert_eq!(studio.service.number("select count(*) from renders").await, 0);
}
