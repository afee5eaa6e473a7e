//! Documents of a batch that are missing from the default storage.

use std::fs;

use reqwest::Method;

use super::{archived, counts, numbers, with_rows};
use crate::support::studio::Studio;

/// Deletes the file of the document of a row of the only batch.
async fn lose_document(studio: &Studio, row: usize) {
    let object = format!(
        "select object_id::text from renders join batch_rows on batch_rows.render_id = renders.id where number = {row}"
    );
    let name = format!("{}.pdf", studio.service.text(&object).await);
    fs::remove_file(studio.service.data().join("renders").join(name)).expect("a document");
}

#[tokio::test]
async fn a_download_breaks_off_at_a_document_that_is_lost_but_not_at_one_that_has_expired() {
    let mut studio = Studio::start().await;
    let body = with_rows(studio.batch("Invoice {{ number }}").await, numbers(3));
    let path = studio.created(&body).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [3, 3, 3, 0]);
    lose_document(&studio, 2).await;
    for format in ["zip", "pdf"] {
        let request = studio.request(Method::GET, &format!("{path}/documents?format={format}"));
        assert!(request.send().await.is_err(), "{format} is complete");
    }
    let missing = "the document of row 2 is missing from the default storage";
    let process = &mut studio.service.process;
    process.wait_for(|process| process.log().contains(missing).then_some(()));
    let expire = "update renders set object_expires_at = now() from batch_rows
        where batch_rows.render_id = renders.id and number = 2";
    assert_eq!(studio.service.execute(expire).await, 1);
    let archived = archived(&studio, &path).await;
    assert_eq!(archived.len(), 2);
    assert!(archived.contains_key("000001.pdf") && archived.contains_key("000003.pdf"));
}
