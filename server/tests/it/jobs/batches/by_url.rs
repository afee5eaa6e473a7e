//! Rows that the service loads from a URL.

use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::{counts, data, faults};
use crate::support::{origin::Origin, pdf, studio::Studio};

impl Studio {
    async fn load_rows(&self, path: &str, source: &Value) -> Response {
        let request = self.request(Method::PUT, &format!("{path}/rows")).json(source);
        request.send().await.expect("an answer")
    }

    /// Asserts that nothing is stored of the rows of a batch, which waits for others.
    async fn has_no_rows(&self, path: &str) {
        assert_eq!(self.service.number("select count(*) from batch_pieces").await, 0);
        assert_eq!(self.get_data(path).await["state"], "open");
    }
}

#[tokio::test]
async fn rows_at_a_url_become_documents() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let body = studio.batch("Invoice {{ number }}").await;
    for source in [
        json!({"url": origin.url("/rows.csv?token=hunter2")}),
        json!({"url": origin.url("/redirect/302?to=/rows")}),
        json!({"url": origin.url("/export"), "format": "csv"}),
    ] {
        let path = studio.created(&body).await;
        let loaded = data(studio.load_rows(&path, &source).await).await;
        assert_eq!((&loaded["state"], &loaded["rows"]), (&json!("running"), &json!(3)));
        assert_eq!(counts(&studio.batch_ended(&path).await), [3, 3, 3, 0]);
        for (number, outcome) in (1..).zip(studio.outcomes(&path).await) {
            let document = studio.document(outcome["render_id"].as_str().expect("an id")).await;
            assert_eq!(pdf::text(&document).trim(), format!("Invoice {number}"));
        }
        // The same rows are accepted again.
        assert_eq!(
            data(studio.load_rows(&path, &source).await).await["state"],
            "ended",
            "{source}"
        );
    }
    assert!(!studio.service.process.log().contains("hunter2"));
}

#[tokio::test]
async fn a_file_that_cannot_be_loaded_leaves_a_batch_without_rows() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let path = studio.created(&studio.batch("{{ number }}").await).await;
    for (url, reason) in [
        (
            origin.url("/status/404"),
            "the server responds with status 404 instead of 200",
        ),
        (origin.url("/loop"), "it redirects more than 5 times"),
        (
            origin.url("/compressed.csv"),
            "it is compressed: its Content-Encoding is \"gzip\"",
        ),
        (origin.url("/broken.ndjson"), "the transfer was interrupted"),
        (
            origin.url("/redirect/302?to=http://127.0.0.1:9/rows.csv"),
            "the address is refused: a loopback address",
        ),
        ("http://127.0.0.1:9/rows.csv".to_owned(), "the address is refused"),
        ("http://localhost/rows.csv".to_owned(), "the address is refused"),
    ] {
        let refused = faults(studio.load_rows(&path, &json!({"url": url})).await).await;
        let expected = format!("/url: The file can't be loaded: {reason}");
        assert!(refused[0].starts_with(&expected), "{url}: {refused:?}");
        assert!(refused[0].ends_with("check the URL, or send the rows themselves"));
        studio.has_no_rows(&path).await;
    }
    let malformed = json!({"url": origin.url("/malformed.csv")});
    let refused = faults(studio.load_rows(&path, &malformed).await).await;
    assert!(refused[0].starts_with(": Line 3: The row has 2 fields"), "{refused:?}");
    studio.has_no_rows(&path).await;
    data(studio.load_rows(&path, &json!({"url": origin.url("/rows.csv")})).await).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [3, 3, 3, 0]);
}

#[tokio::test]
async fn a_file_that_stalls_is_not_waited_for() {
    let origin = Origin::start().await;
    let settings = [
        ("PLATEN_BODY_SECONDS", "1"),
        ("PLATEN_EGRESS_ALLOW", origin.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    let path = studio.created(&studio.batch("{{ number }}").await).await;
    let stalled = json!({"url": origin.url("/stalled.ndjson")});
    let refused = faults(studio.load_rows(&path, &stalled).await).await;
    assert!(refused[0].contains("less than 128 KiB/s"), "{refused:?}");
    studio.has_no_rows(&path).await;
}

#[tokio::test]
async fn faults_of_a_url_are_at_their_members() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let url = origin.url("/export");
    let unknown = "/api/v1/batches/0192f0c1-5a3e-7c44-9d8e-3b1f6a2c7d90";
    assert_eq!(studio.load_rows(unknown, &json!({"url": url})).await.status(), 404);
    let path = studio.created(&studio.batch("{{ number }}").await).await;
    for (source, pointer, reason) in [
        (json!({}), "/url", "url is required"),
        (json!([]), "", "Must be an object"),
        (json!({"url": "ftp://example.com/a.csv"}), "/url", "got \"ftp://"),
        (json!({"url": "http://a..b/a.csv"}), "/url", "Must be a valid address"),
        (
            json!({"url": format!("{url}?{}", "x".repeat(65_536))}),
            "/url",
            "at most 65536 characters",
        ),
        (json!({"url": url, "format": "xlsx"}), "/format", "\"csv\", \"ndjson\""),
        (json!({"url": url, "rows": []}), "/rows", "not allowed here"),
    ] {
        let faults = faults(studio.load_rows(&path, &source).await).await;
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(
            faults[0].starts_with(&format!("{pointer}: ")) && faults[0].contains(reason),
            "{faults:?}"
        );
    }
    assert!(origin.hits().is_empty(), "{:?}", origin.hits());
    let refused = faults(studio.load_rows(&path, &json!({"url": url})).await).await;
    assert!(
        refused[0].starts_with("/format: Must be \"csv\" or \"ndjson\"") && refused[0].contains("\"text/plain"),
        "{refused:?}"
    );
    studio.has_no_rows(&path).await;
}
