//! The pages of batches, the upload of their rows, and the downloads.

use reqwest::{Method, Response};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;
use uuid::Uuid;

use super::{service_reaching, site};
use crate::support::{
    object_stores::{Access, access_key, s3},
    origin::Origin,
    pdf,
    process::PATIENCE,
    studio::{Studio, header},
    visitor::Visitor,
    wire::Wire,
};

const PAGE: &str = "/dashboard/batches";
const BOUNDARY: &str = "----of-this-form";
const ENDED: &str = "select count(*) from batches where state = 'ended'";
/// The largest form with rows, in bytes: 1 GiB of rows, and 64 KiB around them.
const LARGEST_FORM: u64 = (1 << 30) + (64 << 10);

async fn studio() -> (TempDir, Studio, Visitor) {
    studio_with("10000").await
}

/// Returns a service with an account that has so many credits.
async fn studio_with(credits: &str) -> (TempDir, Studio, Visitor) {
    let site = site();
    let service = service_reaching("127.0.0.1", site.path()).await;
    let account = service.account_with("ann@example.org", &["--credits", credits]);
    let visitor = Visitor::log_in(&service, "ann@example.org").await;
    (site, Studio { service, account }, visitor)
}

/// Returns the id at the end of a path.
fn id_of(path: &str) -> String {
    let (_, id) = path.rsplit_once('/').expect("an id");
    id.split('?').next().expect("an id").to_owned()
}

/// Creates a template and returns its id.
async fn template(studio: &Studio, content: &str) -> String {
    id_of(&studio.template("Invoice", content).await)
}

/// Creates a batch by the form and returns its id.
async fn created(visitor: &Visitor, fields: &[(&str, &str)]) -> String {
    let answer = visitor.submit("create-batch", fields).await;
    let location = header(&answer, "location").to_owned();
    assert!(location.ends_with("?done=created"), "{location}");
    id_of(&location)
}

/// Uploads a file as the form does (RFC 7578).
async fn upload(visitor: &Visitor, batch: &str, name: &str, content: &str) -> Response {
    let token = visitor.token().await;
    upload_with(visitor, &format!("csrf={token}"), batch, name, content).await
}

/// Uploads a file with the box checked that pauses the batch.
async fn upload_to_check(visitor: &Visitor, batch: &str, content: &str) -> Response {
    send_fields(visitor, batch, &[("check", "on")], ("rows.csv", content)).await
}

/// Uploads a file after fields with these names and values. Without a name, no file is chosen.
async fn send_fields(visitor: &Visitor, batch: &str, fields: &[(&str, &str)], file: (&str, &str)) -> Response {
    let field = |(name, value): &(&str, &str)| {
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let fields: String = fields.iter().map(field).collect();
    let token = visitor.token().await;
    send_form(visitor, &format!("csrf={token}"), batch, &fields, file).await
}

async fn upload_with(visitor: &Visitor, query: &str, batch: &str, name: &str, content: &str) -> Response {
    send_form(visitor, query, batch, "", (name, content)).await
}

/// Sends a form whose fields before the file are given as they are sent.
async fn send_form(
    visitor: &Visitor,
    query: &str,
    batch: &str,
    fields: &str,
    (name, content): (&str, &str),
) -> Response {
    let form = format!(
        "{fields}--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: application/vnd.ms-excel\r\n\r\n{content}\r\n--{BOUNDARY}--\r\n"
    );
    let media_type = format!("multipart/form-data; boundary={BOUNDARY}");
    let path = format!("{PAGE}/{batch}/rows?{query}");
    visitor.post_body(&path, &media_type, form.into_bytes()).await
}

/// Returns the page that shows why a form was rejected.
async fn rejected(visitor: &mut Visitor, page: &str, answer: &Response) -> String {
    visitor.remember(answer);
    let (_, error) = header(answer, "location").split_once('?').expect("an error");
    visitor.page(&format!("{page}?{error}")).await
}

/// Creates a batch by the API, with this many rows whose renders don't end.
async fn endless(studio: &Studio, rows: usize) -> String {
    let template = json!({"template_id": template(studio, "{{ number }}").await});
    let rows: Vec<Value> = (1..=rows).map(|number| json!({"number": number})).collect();
    let render = json!({
        "parts": [{"type": "template", "content": template}],
        "evaluate_js": {"expression": "new Promise(() => {})"},
    });
    let body = json!({"batch": {"name": "Endless", "render": render, "rows": rows}});
    let request = studio.request(Method::POST, "/api/v1/batches").json(&body);
    let answer = request.send().await.expect("an answer");
    assert_eq!(answer.status(), 201);
    id_of(header(&answer, "location"))
}

#[tokio::test]
async fn a_batch_is_created_by_a_form_filled_by_a_file_and_watched() {
    let (_site, studio, mut visitor) = studio().await;
    assert!(visitor.page(PAGE).await.contains("No batches yet"));
    let new = format!("{PAGE}/new");
    assert!(visitor.page(&new).await.contains("No published templates"));
    let template = template(&studio, "Invoice {{ number }} for {{ customer.name }}").await;
    studio.partial("footer", "Page").await;
    let page = visitor.page(&new).await;
    assert!(page.contains(&template) && !page.contains("footer"), "{page}");

    for name in [" ", "a\0b"] {
        let answer = visitor
            .submit("create-batch", &[("name", name), ("batch_template", "")])
            .await;
        let page = rejected(&mut visitor, &new, &answer).await;
        for text in [
            "Check the 2 highlighted fields.",
            "Enter a name of 1",
            "Choose a template with a release",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
    }
    let unknown = Uuid::now_v7().to_string();
    let fields = [("name", "November & more"), ("batch_template", unknown.as_str())];
    let answer = visitor.submit("create-batch", &fields).await;
    let page = rejected(&mut visitor, &new, &answer).await;
    assert!(page.contains("Choose a template with a release"), "{page}");
    assert!(page.contains("value=\"November &amp; more\""), "{page}");

    let batch = created(&visitor, &[("name", "November"), ("batch_template", &template)]).await;
    let path = format!("{PAGE}/{batch}");
    let page = visitor.page(&format!("{path}?done=created")).await;
    for text in ["Batch created.", "Waiting for rows", "Upload the rows", "Cancel batch"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("<live-part id=\"batch\" data-events"), "{page}");

    let events = [("accept", "text/event-stream")];
    let mut events = visitor
        .get_with(&format!("/dashboard/events/batches/{batch}"), &events)
        .await;
    events.chunk().await.expect("it listens");
    let rows = "number;customer.name\r\n1;Ann\r\n2;\"Bob; B\"\r\n3;Ümit\r\n";
    let answer = upload(&visitor, &batch, "Rechnungen.CSV", rows).await;
    assert_eq!(header(&answer, "location"), format!("{path}?done=uploaded"));
    // Each turn is an event, also the last one, after which no render changes.
    let until_end = async {
        loop {
            let event = events.chunk().await.expect("an event").expect("an event");
            if String::from_utf8_lossy(&event).contains(&batch) {
                let page = visitor.page(&path).await;
                if page.contains("3 of 3 rows") && page.contains("Ended") {
                    return page;
                }
            }
        }
    };
    let page = timeout(PATIENCE, until_end).await.expect("the batch ends");
    drop(events);
    for text in [
        "Ended",
        "3 of 3 rows",
        "<progress value=\"3\" max=\"3\"",
        "Download results (CSV)",
        "/dashboard/renders/",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    for text in ["Upload the rows", "Cancel batch", "Retry", "Download errors", "Pause"] {
        assert!(!page.contains(text), "{text}: {page}");
    }
    let list = visitor.page(PAGE).await;
    assert!(list.contains("November") && list.contains("3 of 3"), "{list}");

    let results = visitor.get(&format!("{path}/results.csv")).await;
    assert_eq!(header(&results, "content-type"), "text/csv; charset=utf-8");
    assert!(header(&results, "content-disposition").contains("platen-batch-results.csv"));
    let results = results.text().await.expect("a text");
    let lines: Vec<_> = results.lines().collect();
    assert_eq!(lines.len(), 4, "{results}");
    assert!(lines[3].starts_with("\"3\",\"succeeded\",\""), "{results}");
    let archive = visitor.get(&format!("{path}/documents.zip")).await;
    assert_eq!(header(&archive, "content-type"), "application/zip");
    assert!(archive.bytes().await.expect("an archive").starts_with(b"PK"));
    let collection = format!("{path}/documents.pdf");
    assert!(visitor.page(&path).await.contains(&collection));
    let answer = visitor.get(&collection).await;
    assert_eq!(header(&answer, "content-type"), "application/pdf");
    assert!(header(&answer, "content-disposition").ends_with(".pdf\""));
    assert_eq!(pdf::page_count(&answer.bytes().await.expect("a PDF")), 3);
    studio.service.execute("update renders set page_count = 9999").await;
    let answer = visitor.get(&collection).await;
    assert_eq!(answer.status(), 422);
    let reason = answer.text().await.expect("a text");
    assert!(reason.contains("10,000 pages"), "{reason}");
    // The same file once more is no other one; another is.
    let answer = upload(&visitor, &batch, "rows.csv", rows).await;
    assert_eq!(header(&answer, "location"), format!("{path}?done=uploaded"));
    let answer = upload(&visitor, &batch, "rows.csv", "number\r\n4\r\n").await;
    assert_eq!(header(&answer, "location"), path);
    assert_eq!(studio.service.number("select count(*) from renders").await, 3);
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn a_test_batch_renders_more_rows_than_there_are_credits_for() {
    let (_site, studio, mut visitor) = studio_with("1").await;
    let template = template(&studio, "{{ number }}").await;
    let unnamed = [
        ("name", ""),
        ("batch_template", template.as_str()),
        ("batch_mode", "test"),
    ];
    let answer = visitor.submit("create-batch", &unnamed).await;
    let page = rejected(&mut visitor, &format!("{PAGE}/new"), &answer).await;
    assert!(page.contains("value=\"test\" checked"), "{page}");
    let unknown = [
        ("name", "Trial"),
        ("batch_template", template.as_str()),
        ("batch_mode", "Test"),
    ];
    let answer = visitor.submit("create-batch", &unknown).await;
    let page = rejected(&mut visitor, &format!("{PAGE}/new"), &answer).await;
    assert!(page.contains("Choose one of the options."), "{page}");
    assert_eq!(studio.service.number("select count(*) from batches").await, 0);

    let fields = [
        ("name", "Trial"),
        ("batch_template", template.as_str()),
        ("batch_mode", "test"),
    ];
    let batch = created(&visitor, &fields).await;
    let path = format!("{PAGE}/{batch}");
    let page = visitor.page(&path).await;
    assert!(
        page.contains("tag--test") && page.contains("Documents of a test batch are free."),
        "{page}"
    );
    upload(&visitor, &batch, "rows.csv", "number\n1\n2\n3\n").await;
    studio.service.number_is(1, ENDED).await;
    let page = visitor.page(&path).await;
    assert!(page.contains("3 of 3 rows") && page.contains("tag--test"), "{page}");
    assert!(visitor.page(PAGE).await.contains("tag--test"));
    let tests = "select count(*) from renders where not livemode and status = 'succeeded'";
    assert_eq!(studio.service.number(tests).await, 3);
    let charged = "select coalesce(sum(used), 0)::bigint from credit_periods";
    assert_eq!(studio.service.number(charged).await, 0);
}

async fn assert_second_row_is_previewed(visitor: &Visitor, preview: &str) {
    let answer = visitor.submit_to(preview, &[("row", "2")]).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(header(&answer, "content-type"), "application/pdf");
    assert!(header(&answer, "content-disposition").contains("\"Row 2.pdf\""));
    let document = answer.bytes().await.expect("a document");
    assert!(pdf::text(&document).contains("Invoice 18 for Bob"));
    let inked = pdf::picture(&document, 1).pixels;
    let inked = inked.iter().filter(|byte| **byte != 255).count();
    assert!(inked > 1000, "a word lies across the page");
    for row in ["0", "3", "x", ""] {
        let answer = visitor.submit_to(preview, &[("row", row)]).await;
        assert_eq!(answer.status(), 422, "{row}");
        let page = answer.text().await.expect("a page");
        assert!(page.contains("Enter a number from 1 to 2."), "{row}: {page}");
    }
}

#[tokio::test]
async fn columns_are_mapped_and_rows_previewed_before_a_batch_begins() {
    let (_site, studio, mut visitor) = studio().await;
    let content = "Invoice {{ number }} for {{ customer.name }}: {{ total }}";
    let template = template(&studio, content).await;
    let batch = created(&visitor, &[("name", "November"), ("batch_template", &template)]).await;
    let path = format!("{PAGE}/{batch}");
    let page = visitor.page(&path).await;
    assert!(page.contains("Check the rows before the batch begins"), "{page}");
    assert!(!page.contains("Preview a row"), "{page}");

    let rows = "Nr;Name;note\r\n17;Ann;x\r\n18;Bob;y\r\n";
    let answer = upload_to_check(&visitor, &batch, rows).await;
    assert_eq!(header(&answer, "location"), format!("{path}?done=stored"));
    assert_eq!(studio.service.text("select state from batches").await, "paused");
    let page = visitor.page(&format!("{path}?done=stored")).await;
    for text in [
        "Rows stored. Check them, then begin.",
        "2 rows are not begun yet",
        "Begin</button>",
        ">Nr</label>",
        ">note</label>",
        "value=\"customer.name\"",
        ">customer.name</code>",
        ">total</code>",
        "Row, from 1 to 2",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }

    let with_members = |[first, second, third]: [&'static str; 3]| {
        [
            ("id", batch.as_str()),
            ("batch_members[0]", first),
            ("batch_members[1]", second),
            ("batch_members[2]", third),
        ]
    };
    for (members, marked) in [(["number", "number", ""], 2), (["number", "", "none"], 0)] {
        let answer = visitor.submit("set-batch-columns", &with_members(members)).await;
        let page = rejected(&mut visitor, &path, &answer).await;
        assert!(page.contains("Check the highlighted field."), "{page}");
        assert!(page.contains("Choose a member that no other column has"), "{page}");
        assert_eq!(page.matches("aria-invalid").count(), marked, "{page}");
        assert!(page.contains("value=\"number\" selected"), "{page}");
    }
    let answer = visitor.submit("set-batch-columns", &[("id", &batch)]).await;
    let page = rejected(&mut visitor, &path, &answer).await;
    assert!(page.contains("no longer allows this"), "{page}");
    let mapped = with_members(["number", "customer.name", ""]);
    let answer = visitor.submit("set-batch-columns", &mapped).await;
    assert_eq!(header(&answer, "location"), format!("{path}?done=mapped"));
    let page = visitor.page(&format!("{path}?done=mapped")).await;
    assert!(
        page.contains("Columns saved.") && page.contains(">total</code>"),
        "{page}"
    );
    assert!(!page.contains(">customer.name</code>"), "{page}");
    assert!(page.contains("value=\"customer.name\" selected"), "{page}");

    let preview = format!("{path}/preview.pdf");
    assert_second_row_is_previewed(&visitor, &preview).await;
    let answer = visitor.get(&preview).await;
    assert_eq!(
        (answer.status().as_u16(), header(&answer, "location")),
        (303, path.as_str())
    );
    studio.service.account("bob@example.org");
    let stranger = Visitor::log_in(&studio.service, "bob@example.org").await;
    assert_eq!(stranger.submit_to(&preview, &[("row", "1")]).await.status(), 404);
    let fields = mapped.map(|(name, value)| (name, value.to_owned()));
    assert_eq!(stranger.call("set-batch-columns", &fields).await, "NotFound");
    assert_eq!(studio.service.number("select count(*) from renders").await, 0);

    let answer = visitor
        .submit("change-batch", &[("id", &batch), ("change", "resume")])
        .await;
    assert_eq!(header(&answer, "location"), format!("{path}?done=resumed"));
    studio.service.number_is(1, ENDED).await;
    let results = visitor.page(&format!("{path}/results.csv")).await;
    let first = results.lines().nth(1).expect("a row");
    let render = first.split('"').nth(5).expect("an id");
    let document = visitor.get(&format!("/dashboard/renders/{render}/document.pdf")).await;
    let document = document.bytes().await.expect("a document");
    assert!(pdf::text(&document).contains("Invoice 17 for Ann"));
    let page = visitor.page(&path).await;
    assert!(
        !page.contains("Preview a row") && !page.contains("Save columns"),
        "{page}"
    );
    let answer = visitor.submit("set-batch-columns", &mapped).await;
    let page = rejected(&mut visitor, &path, &answer).await;
    assert!(page.contains("no longer allows this"), "{page}");
    let answer = visitor.submit_to(&preview, &[("row", "1")]).await;
    assert_eq!(answer.status(), 422);
}

#[tokio::test]
async fn failed_rows_without_an_outcome_are_not_offered_to_be_retried() {
    let (_site, studio, visitor) = studio().await;
    let template = template(&studio, "{{ number + 1 }}").await;
    let part = json!({"type": "template", "content": {"template_id": template}});
    let batch = json!({"render": {"parts": [part]}, "rows": [{"number": "none"}]});
    let request = studio.service.client.post(studio.service.url("/api/v1/batches"));
    let request = request.bearer_auth(&studio.account.key);
    let created = request.json(&json!({ "batch": batch })).send().await;
    let batch = id_of(header(&created.expect("an answer"), "location"));
    studio.service.number_is(1, ENDED).await;
    let path = format!("{PAGE}/{batch}");
    let page = visitor.page(&path).await;
    assert!(page.contains("Retry 1 failed row"), "{page}");
    let delete = r#"update batch_rows set error = jsonb_set(error, '{code}', '"render_deleted"')"#;
    assert_eq!(studio.service.execute(delete).await, 1);
    let page = visitor.page(&path).await;
    assert!(
        page.contains("1 failed") && !page.contains("Retry 1 failed row"),
        "{page}"
    );
}

#[tokio::test]
async fn rejected_choices_stay_for_as_many_columns_as_are_allowed() {
    const COLUMNS: usize = 1000;
    let (_site, studio, mut visitor) = studio().await;
    let template = template(&studio, "{{ number }}").await;
    let batch = created(&visitor, &[("name", "November"), ("batch_template", &template)]).await;
    let path = format!("{PAGE}/{batch}");
    let columns: Vec<_> = (0..COLUMNS).map(|index| format!("c{index}")).collect();
    let columns = columns.join(",");
    upload_to_check(&visitor, &batch, &format!("{columns}\n{columns}\n")).await;
    let names: Vec<_> = (0..COLUMNS).map(|index| format!("batch_members[{index}]")).collect();
    let too_long = "x".repeat(17);
    for (member, kept) in [("number", COLUMNS), (too_long.as_str(), 0)] {
        let members = names.iter().map(|name| (name.as_str(), member));
        let fields: Vec<_> = [("id", batch.as_str())].into_iter().chain(members).collect();
        let answer = visitor.submit("set-batch-columns", &fields).await;
        let page = rejected(&mut visitor, &path, &answer).await;
        assert!(page.contains("Check the highlighted field."));
        assert_eq!(page.matches("value=\"number\" selected").count(), kept);
        assert_eq!(page.contains("Your choices are no longer shown"), kept == 0);
    }
}

/// Connects a store that can't be reached, and returns the connection's id.
async fn connected_archive(studio: &Studio) -> String {
    let connection = json!({
        "provider": "aws_s3", "name": "Archive", "bucket": "archive", "path_prefix": "",
        "endpoint": "http://127.0.0.1:1", "credentials": access_key(),
    });
    id_of(&studio.connected(&connection).await)
}

#[tokio::test]
async fn documents_in_the_archive_are_named_by_a_pattern() {
    let (_site, studio, mut visitor) = studio().await;
    let template = template(&studio, "{{ number }}").await;
    let with_names = |names: &'static str| {
        [
            ("name", "November"),
            ("batch_template", template.as_str()),
            ("file_names", names),
        ]
    };
    let answer = visitor.submit("create-batch", &with_names("all.pdf")).await;
    let page = rejected(&mut visitor, &format!("{PAGE}/new"), &answer).await;
    assert!(page.contains("Enter a name with the name of a column"), "{page}");
    let batch = created(&visitor, &with_names("2026/{{ number }}.pdf")).await;
    upload_to_check(&visitor, &batch, "number\n7\n").await;
    let answer = visitor
        .submit_to(&format!("{PAGE}/{batch}/preview.pdf"), &[("row", "1")])
        .await;
    assert_eq!(answer.status(), 200);
    assert!(header(&answer, "content-disposition").contains("\"2026-7.pdf\""));
}

#[tokio::test]
async fn a_preview_shows_whether_paths_are_filled_by_the_columns() {
    let (_site, studio, visitor) = studio().await;
    let connection = connected_archive(&studio).await;
    let template = template(&studio, "{{ number }}").await;
    let fields = [
        ("name", "November"),
        ("batch_template", template.as_str()),
        ("batch_storage", connection.as_str()),
        ("document_path", "2026/{{ number }}.pdf"),
    ];
    let batch = created(&visitor, &fields).await;
    upload_to_check(&visitor, &batch, "Nr\n7\n").await;
    let preview = format!("{PAGE}/{batch}/preview.pdf");
    let answer = visitor.submit_to(&preview, &[("row", "1")]).await;
    assert_eq!(answer.status(), 422);
    let page = answer.text().await.expect("a page");
    assert!(page.contains("The row has no member"), "{page}");

    let fields = [("id", batch.as_str()), ("batch_members[0]", "number")];
    visitor.submit("set-batch-columns", &fields).await;
    let answer = visitor.submit_to(&preview, &[("row", "1")]).await;
    assert_eq!(answer.status(), 200);
    assert!(header(&answer, "content-disposition").contains("\"2026-7.pdf\""));
}

#[tokio::test]
async fn a_rejected_file_is_explained_once_and_stores_nothing() {
    let (_site, studio, visitor) = studio().await;
    let template = template(&studio, "{{ number }}").await;
    let batch = created(&visitor, &[("name", "November"), ("batch_template", &template)]).await;
    let path = format!("{PAGE}/{batch}");
    let many = "1,2\r\n".repeat(1200);
    // Larger than other forms, and read to the end.
    let large = format!("{{\"text\": \"{}\"}}\n", "x".repeat(10_000)).repeat(1000);
    for (name, content, reason) in [
        ("rows.csv", format!("number,name\r\n{many}1,2,3\r\n"), "Line 1202:"),
        (
            "rows.jsonl",
            "{\"number\": 1}\n[1]\n".to_owned(),
            "Line 2: A row is a JSON object",
        ),
        (
            "rows.ndjson",
            format!("{large}[1]\n"),
            "Line 1001: A row is a JSON object",
        ),
        ("rows.ndjson", format!("[1]\n{large}"), "Line 1: A row is a JSON object"),
        (
            "rows.csv",
            String::new(),
            "There are no rows; send at least one. Correct the file, and upload it again.",
        ),
        ("rows.xlsx", "PK".to_owned(), "\"rows.xlsx\" is not a .csv"),
        ("", String::new(), "Choose a file, or enter the URL of one."),
    ] {
        let answer = upload(&visitor, &batch, name, &content).await;
        assert_eq!(
            (answer.status().as_u16(), header(&answer, "location")),
            (303, path.as_str())
        );
        let page = visitor.page(&path).await.replace("&quot;", "\"");
        assert!(
            page.contains("No rows were stored") && page.contains(reason),
            "{reason}: {page}"
        );
        assert!(page.contains("Waiting for rows"), "{page}");
        let again = visitor.page(&path).await;
        assert!(
            !again.contains("No rows were stored"),
            "a reason is shown once: {again}"
        );
        assert_eq!(studio.service.number("select count(*) from batch_pieces").await, 0);
    }
    let file = ("rows.csv", "number\r\n1\r\n");
    for query in ["", "csrf=forged"] {
        let answer = upload_with(&visitor, query, &batch, file.0, file.1).await;
        assert_eq!(answer.status(), 403, "{query}");
    }
    studio.service.account("bob@example.org");
    let stranger = Visitor::log_in(&studio.service, "bob@example.org").await;
    assert_eq!(upload(&stranger, &batch, file.0, file.1).await.status(), 404);
    for path in [
        path.clone(),
        format!("{path}/results.csv"),
        format!("{path}/errors.csv"),
        format!("{path}/documents.zip"),
        format!("{path}/documents.pdf"),
    ] {
        assert_eq!(stranger.get(&path).await.status(), 404, "{path}");
    }
    assert!(stranger.page(PAGE).await.contains("No batches yet"));
    let suspend = format!(
        "update accounts set suspended_at = now() where id = '{}'",
        studio.account.id
    );
    assert_eq!(studio.service.execute(&suspend).await, 1);
    assert_eq!(upload(&visitor, &batch, file.0, file.1).await.status(), 403);
    assert_eq!(studio.service.number("select count(*) from batch_pieces").await, 0);
    assert_eq!(studio.service.text("select state from batches").await, "open");
}

#[tokio::test]
async fn a_form_that_announces_more_than_a_batch_may_have_is_refused_before_it_is_sent() {
    let (_site, studio, visitor) = studio().await;
    let template = template(&studio, "{{ number }}").await;
    let batch = created(&visitor, &[("name", "November"), ("batch_template", &template)]).await;
    let token = visitor.token().await;
    let announced = async |length: u64| {
        let mut wire = Wire::open(&studio.service).await;
        let origin = &studio.service.base_url;
        wire.send(format!(
            "POST {PAGE}/{batch}/rows?csrf={token} HTTP/1.1\r\nhost: platen\r\norigin: {origin}\r\ncookie: {}\r\n\
             content-type: multipart/form-data; boundary={BOUNDARY}\r\ncontent-length: {length}\r\n\
             expect: 100-continue\r\n\r\n",
            visitor.cookie()
        ))
        .await;
        wire
    };
    let mut too_large = announced(LARGEST_FORM + 1).await;
    let refused = too_large.until("Shorten it").await;
    assert!(refused.starts_with("HTTP/1.1 413"), "{refused}");
    assert!(refused.contains("larger than 1073807360 bytes"), "{refused}");
    // A form of the largest size is waited for.
    announced(LARGEST_FORM).await.until("HTTP/1.1 100 Continue").await;
    assert_eq!(studio.service.number("select count(*) from batch_pieces").await, 0);
    assert_eq!(studio.service.text("select state from batches").await, "open");
}

#[tokio::test]
async fn rows_are_loaded_from_a_url_instead_of_a_file() {
    let origin = Origin::start().await;
    let (_site, studio, mut visitor) = studio().await;
    let template = template(&studio, "{{ number }}").await;
    let batch = created(&visitor, &[("name", "November"), ("batch_template", &template)]).await;
    let path = format!("{PAGE}/{batch}");
    let missing = |length| origin.url(&format!("/status/404?signature={}", "x".repeat(length)));
    let no_file = ("", "");
    for (url, reason, is_shown) in [
        ("ftp://example.com/a.csv".to_owned(), "Enter a public http://", true),
        ("http://127.0.0.2/a.csv".to_owned(), "the address is refused", true),
        ("http://127.0.0.2/\0.csv".to_owned(), "the address is refused", false),
        (missing(10_000), "status 404 instead of 200", true),
        (missing(20_000), "URLs longer than 16 KiB are not shown again.", false),
        (missing(65_536), "Enter a public http://", false),
        (origin.url("/malformed.csv"), "Line 3: The row has 2 fields", true),
        (origin.url("/export"), "Download it, name it .csv or .ndjson", true),
    ] {
        let answer = send_fields(&visitor, &batch, &[("rows_url", &url)], no_file).await;
        assert_eq!(
            (answer.status().as_u16(), header(&answer, "location")),
            (303, path.as_str())
        );
        visitor.remember(&answer);
        assert!(!visitor.cookie().contains("rows_url"), "a signed URL is a secret");
        let page = visitor.page(&path).await;
        assert!(
            page.contains("No rows were stored") && page.contains(reason),
            "{reason}: {page}"
        );
        assert_eq!(page.contains(&format!("value=\"{url}\"")), is_shown, "{reason}: {page}");
        assert!(!visitor.page(&path).await.contains(&url), "the URL is shown once");
        assert_eq!(studio.service.number("select count(*) from batch_pieces").await, 0);
    }

    let rows = origin.url("/rows.csv");
    let answer = send_fields(&visitor, &batch, &[("check", "on"), ("rows_url", &rows)], no_file).await;
    assert_eq!(header(&answer, "location"), format!("{path}?done=stored"));
    assert!(visitor.page(&path).await.contains("Row, from 1 to 3"));
    let batch = created(&visitor, &[("name", "December"), ("batch_template", &template)]).await;
    let answer = send_fields(&visitor, &batch, &[("rows_url", &rows)], no_file).await;
    assert_eq!(header(&answer, "location"), format!("{PAGE}/{batch}?done=uploaded"));
    studio.service.number_is(1, ENDED).await;
}

#[tokio::test]
async fn a_chosen_file_is_used_instead_of_a_url() {
    let (_site, studio, visitor) = studio().await;
    let template = template(&studio, "{{ number }}").await;
    let long = format!("https://example.com/{}", "x".repeat(65_536));
    for url in ["https://example.com/rows.csv", long.as_str()] {
        let batch = created(&visitor, &[("name", "November"), ("batch_template", &template)]).await;
        let fields = [("check", "on"), ("rows_url", url)];
        let answer = send_fields(&visitor, &batch, &fields, ("rows.csv", "number\n1\n2\n")).await;
        assert_eq!(header(&answer, "location"), format!("{PAGE}/{batch}?done=stored"));
        let page = visitor.page(&format!("{PAGE}/{batch}")).await;
        assert!(page.contains("Row, from 1 to 2"), "{page}");
    }
}

#[tokio::test]
async fn documents_go_to_paths_in_the_bucket_and_failed_rows_are_listed_and_retried() {
    let store = s3().await;
    let bucket = store.bucket(Access::Full);
    let (_site, studio, mut visitor) = studio().await;
    let connection = json!({
        "provider": "aws_s3", "name": "Archive", "bucket": bucket, "path_prefix": "invoices/",
        "endpoint": store.endpoint(), "credentials": access_key(),
    });
    let connection = id_of(&studio.connected(&connection).await);
    let template = template(&studio, "{{ number }}").await;
    let new = format!("{PAGE}/new");
    assert!(visitor.page(&new).await.contains("Archive (s3://"));
    let with_path = |path: &'static str| {
        [
            ("name", "November"),
            ("batch_template", template.as_str()),
            ("batch_storage", connection.as_str()),
            ("document_path", path),
        ]
    };
    for path in ["", "all.pdf", "{{ number", "../{{ number }}.pdf"] {
        let answer = visitor.submit("create-batch", &with_path(path)).await;
        let page = rejected(&mut visitor, &new, &answer).await;
        assert!(
            page.contains("Enter a path with the name of a column"),
            "{path}: {page}"
        );
    }
    let mut unknown = with_path("{{ number }}.pdf");
    unknown[2].1 = &studio.account.id;
    let answer = visitor.submit("create-batch", &unknown).await;
    let page = rejected(&mut visitor, &new, &answer).await;
    assert!(page.contains("Choose one of the options."), "{page}");

    let batch = created(&visitor, &with_path("/2026/{{ number }}.pdf")).await;
    let rows: String = (1..=30).map(|_| "same\n").collect();
    upload(&visitor, &batch, "rows.csv", &format!("number\n{rows}")).await;
    studio.service.number_is(1, ENDED).await;
    assert_eq!(store.keys(&bucket).await, ["invoices/2026/same.pdf"]);
    let path = format!("{PAGE}/{batch}");
    let page = visitor.page(&path).await;
    for text in [
        "Ended with errors",
        "29 failed rows",
        "the first 20 of 29",
        "Another row of the batch has the same path.",
        "Retry 29 failed rows",
        "Download errors (CSV)",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert_eq!(page.matches("has the same path.").count(), 20);
    let errors = visitor.page(&format!("{path}/errors.csv")).await;
    assert_eq!(errors.lines().count(), 30, "{errors}");

    let answer = visitor
        .submit("change-batch", &[("id", &batch), ("change", "retry")])
        .await;
    assert_eq!(header(&answer, "location"), format!("{path}?done=retried"));
    studio.service.number_is(1, ENDED).await;
    assert!(visitor.page(&path).await.contains("29 failed rows"));
}

#[tokio::test]
async fn rows_that_are_no_longer_stored_are_not_retried() {
    let (_site, studio, mut visitor) = studio().await;
    let keep = "update accounts set keep_content = false";
    assert!(studio.service.execute(keep).await > 0);
    let connection = connected_archive(&studio).await;
    let template = template(&studio, "{{ number }}").await;
    let fields = [
        ("name", "November"),
        ("batch_template", template.as_str()),
        ("batch_storage", connection.as_str()),
        ("document_path", "{{ other }}.pdf"),
    ];
    let batch = created(&visitor, &fields).await;
    upload(&visitor, &batch, "rows.csv", "number\n1\n").await;
    studio.service.number_is(1, ENDED).await;
    let path = format!("{PAGE}/{batch}");
    let page = visitor.page(&path).await;
    assert!(page.contains("1 failed row") && !page.contains("Retry"), "{page}");
    let answer = visitor
        .submit("change-batch", &[("id", &batch), ("change", "retry")])
        .await;
    let page = rejected(&mut visitor, &path, &answer).await;
    assert!(page.contains("no longer allows this"), "{page}");
    assert_eq!(studio.service.number(ENDED).await, 1);
}

#[tokio::test]
async fn a_batch_is_paused_resumed_and_cancelled() {
    let (_site, studio, mut visitor) = studio().await;
    let batch = endless(&studio, 2).await;
    studio
        .service
        .number_is(1, "select count(*) from batches where opened = 2")
        .await;
    let path = format!("{PAGE}/{batch}");
    let page = visitor.page(&path).await;
    assert!(page.contains("data-events=\"/dashboard/events/batches/"), "{page}");
    for (change, done, shown, hidden) in [
        ("pause", "paused", "Resume", "Pause"),
        ("resume", "resumed", "Pause", "Resume"),
        ("cancel", "cancelled", "Cancelled", "Cancel batch"),
    ] {
        let answer = visitor
            .submit("change-batch", &[("id", &batch), ("change", change)])
            .await;
        assert_eq!(header(&answer, "location"), format!("{path}?done={done}"));
        let page = visitor.page(&path).await;
        let is_on_button = |text: &str| page.contains(&format!("{text}</button>"));
        assert!(page.contains(shown) && !is_on_button(hidden), "{change}: {page}");
    }
    let answer = visitor
        .submit("change-batch", &[("id", &batch), ("change", "resume")])
        .await;
    let page = rejected(&mut visitor, &path, &answer).await;
    assert!(page.contains("no longer allows this"), "{page}");
    studio
        .service
        .number_is(0, "select count(*) from jobs where kind in ('render', 'batch')")
        .await;
    let page = visitor.page(&path).await;
    assert!(
        page.contains("2 failed rows") && page.contains("The render was cancelled."),
        "{page}"
    );
}

#[tokio::test]
async fn a_hold_is_explained_with_the_next_step() {
    let (_site, studio, visitor) = studio_with("2").await;
    let template = template(&studio, "{{ number }}").await;
    let batch = created(&visitor, &[("name", "November"), ("batch_template", &template)]).await;
    upload(&visitor, &batch, "rows.csv", "number\n1\n2\n3\n").await;
    let held = "select count(*) from batches where hold = 'credits' and succeeded = 2";
    studio.service.number_is(1, held).await;
    let path = format!("{PAGE}/{batch}");
    for (hold, text) in [
        ("credits", "On hold: not enough credits"),
        ("storage", "On hold: storage is full"),
        ("key", "was revoked, or has expired"),
    ] {
        // The next turn of the batch is only after 15 seconds.
        studio
            .service
            .execute(&format!("update batches set hold = '{hold}'"))
            .await;
        let page = visitor.page(&path).await;
        assert!(page.contains(text) && page.contains("2 of 3 rows"), "{hold}: {page}");
    }
}

#[tokio::test]
async fn older_batches_are_on_further_pages() {
    let (_site, studio, mut visitor) = studio().await;
    let template = template(&studio, "{{ number }}").await;
    for number in 1..=20 {
        let name = format!("Batch {number:02}");
        created(&visitor, &[("name", &name), ("batch_template", &template)]).await;
    }
    // No more may wait at a time, but those that have ended are listed, too.
    let answer = visitor
        .submit("create-batch", &[("name", "One more"), ("batch_template", &template)])
        .await;
    let page = rejected(&mut visitor, &format!("{PAGE}/new"), &answer).await;
    assert!(page.contains("20 batches that have not ended"), "{page}");
    let end = "update batches set state = 'cancelled', ended_at = now()";
    assert_eq!(studio.service.execute(end).await, 20);
    for number in 21..=26 {
        let name = format!("Batch {number:02}");
        created(&visitor, &[("name", &name), ("batch_template", &template)]).await;
    }
    let page = visitor.page(PAGE).await;
    assert!(
        page.contains("Batch 26") && page.contains("Batch 02") && !page.contains("Batch 01"),
        "{page}"
    );
    let (_, older) = page.split_once("/dashboard/batches?cursor=").expect("a link");
    let cursor = older.split('"').next().expect("a cursor");
    let older = visitor.page(&format!("{PAGE}?cursor={cursor}")).await;
    assert!(older.contains("Batch 01") && !older.contains("Batch 02"), "{older}");
}
