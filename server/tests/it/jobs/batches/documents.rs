//! Documents of a batch that are missing from the default storage.

use std::fs;

use reqwest::Method;

use super::{archived, counts, numbers, with_rows};
use crate::support::{pdf, studio::Studio};

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

#[tokio::test]
async fn a_download_has_the_documents_that_were_finished_at_its_beginning() {
    let studio = Studio::start().await;
    let body = with_rows(studio.batch("Invoice {{ number }}").await, numbers(2));
    let path = studio.created(&body).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [2, 2, 2, 0]);
    // As if the first row ended while the documents are sent.
    let later = "with later as (
            update renders set finished_at = now() + interval '1 hour', page_count = 10000 from batch_rows
            where batch_rows.render_id = renders.id and number = 1
            returning renders.id
        )
        update batch_rows set state = 'opened' from later where render_id = later.id";
    assert_eq!(studio.service.execute(later).await, 1);
    assert_eq!(
        archived(&studio, &path).await.keys().collect::<Vec<_>>(),
        ["000002.pdf"]
    );
    let request = studio.request(Method::GET, &format!("{path}/documents?format=pdf"));
    let document = request.send().await.expect("an answer").bytes().await.expect("a PDF");
    let text = pdf::text(&document);
    assert!(text.contains("Invoice 2") && !text.contains("Invoice 1"), "{text}");
}

#[tokio::test]
async fn a_download_has_the_documents_of_processes_whose_clocks_are_ahead() {
    let studio = Studio::start().await;
    let body = with_rows(studio.batch("Invoice {{ number }}").await, numbers(2));
    let path = studio.created(&body).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [2, 2, 2, 0]);
    let ahead = "update renders set finished_at = finished_at + interval '1 minute'";
    assert_eq!(studio.service.execute(ahead).await, 2);
    assert_eq!(archived(&studio, &path).await.len(), 2);
    let request = studio.request(Method::GET, &format!("{path}/documents?format=pdf"));
    let document = request.send().await.expect("an answer").bytes().await.expect("a PDF");
    assert_eq!(pdf::text(&document).matches("Invoice").count(), 2);
}

#[tokio::test]
async fn results_break_off_if_their_batch_is_deleted() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let path = studio.created(&studio.batch("{{ number }}").await).await;
    // More than the buffers of a connection have room for.
    let rows = "insert into batch_rows (batch_id, account_id, number, state, error)
        select id, account_id, number, 'failed', jsonb_build_object('message', repeat('x', 1000))
        from batches, generate_series(1, 30000) as number";
    assert_eq!(studio.service.execute(rows).await, 30_000);
    // That of the service reads whole bodies to check them.
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let request = client.get(studio.service.url(&format!("{path}/results")));
    let mut answer = request
        .bearer_auth(&studio.account.key)
        .send()
        .await
        .expect("an answer");
    assert!(answer.chunk().await.expect("rows").is_some());
    studio.service.execute("delete from batches").await;
    assert!(answer.bytes().await.is_err(), "the results are complete");
}
