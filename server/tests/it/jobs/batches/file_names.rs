//! Names of documents in the archive of a batch.

use serde_json::json;

use super::{archived, counts, with_rows};
use crate::support::studio::Studio;

#[tokio::test]
async fn documents_in_the_archive_are_named_by_a_pattern() {
    let pattern = "{{ customer.name }}/invoice-{{ number }}.pdf";
    let studio = Studio::start().await;
    let rows = [
        json!({"number": 1, "customer": {"name": "Ann"}}),
        json!({"number": "a/b", "customer": {"name": "Ärzte: \\"}}),
        json!({"number": 1, "customer": {"name": "ANN"}}),
        json!({"number": 4, "customer": {"name": ".."}}),
        json!({"number": 5, "customer": {}}),
        json!({"number": 6, "customer": {"name": "Ann "}}),
    ];
    let mut body = with_rows(studio.batch("Invoice {{ number }}").await, rows);
    body["batch"]["file_names"] = pattern.into();
    let path = studio.created(&body).await;
    let batch = studio.batch_ended(&path).await;
    assert_eq!(counts(&batch), [6, 6, 2, 4]);
    assert_eq!(batch["file_names"], pattern);
    let outcomes = studio.outcomes(&path).await;
    for (outcome, reason) in outcomes[2..].iter().zip([
        "the same file name",
        "the segment ..",
        "no member \"customer.name\"",
        "ends with a dot or a space",
    ]) {
        assert_eq!(outcome["error"]["code"], "row_invalid");
        let message = outcome["error"]["message"].as_str().expect("a message");
        assert!(message.contains(reason), "{message}");
    }
    let archived = archived(&studio, &path).await;
    assert_eq!(archived.len(), 2);
    for (name, text) in [
        ("Ann/invoice-1.pdf", "Invoice 1"),
        ("Ärzte- -/invoice-a-b.pdf", "Invoice a/b"),
    ] {
        assert_eq!(archived[name].trim(), text);
    }
}

#[tokio::test]
async fn rows_with_the_same_name_do_not_stop_a_retry() {
    let studio = Studio::start().await;
    let rows = [
        json!({"number": 1}),
        json!({"number": "none"}),
        json!({"number": "NONE"}),
    ];
    let mut body = with_rows(studio.batch("Invoice {{ number + 1 }}").await, rows);
    body["batch"]["file_names"] = "{{ number }}.pdf".into();
    let path = studio.created(&body).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [3, 3, 1, 2]);
    assert!(studio.act(&path, "retry").await.status().is_success());
    assert_eq!(counts(&studio.batch_ended(&path).await), [3, 3, 1, 2]);
    let outcomes = studio.outcomes(&path).await;
    assert_ne!(outcomes[1]["error"]["code"], "row_invalid");
    assert_eq!(outcomes[2]["error"]["code"], "row_invalid");
}
