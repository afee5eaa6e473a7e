//! Documents of a batch that one process has stored in a bucket, and another one sends. They share no folder.

use reqwest::Method;

use super::{archived, counts, numbers, with_rows};
use crate::{
    jobs::default_bucket::settings,
    support::{
        object_stores::{Access, s3},
        pdf,
        studio::Studio,
    },
};

#[tokio::test]
async fn documents_in_a_bucket_are_downloaded_together_from_a_process_that_has_not_rendered_them() {
    let store = s3().await;
    let (endpoint, bucket) = (store.endpoint(), store.bucket(Access::Full));
    let with_role = |role| [&settings(&endpoint, &bucket)[..], &[("PLATEN_ROLE", role)]].concat();
    let studio = Studio::start_with(&with_role("web")).await;
    let _worker = studio.service.apart(&with_role("worker")).await;
    let body = with_rows(studio.batch("Invoice {{ number }}").await, numbers(3));
    let path = studio.created(&body).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [3, 3, 3, 0]);
    assert_eq!(store.keys(&bucket).await.len(), 3);

    let archived = archived(&studio, &path).await;
    assert_eq!(archived.len(), 3);
    for number in 1..=3 {
        let text = &archived[format!("{number:06}.pdf").as_str()];
        assert!(text.contains(&format!("Invoice {number}")), "{text}");
    }
    let request = studio.request(Method::GET, &format!("{path}/documents?format=pdf"));
    let answer = request.send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    let collection = answer.bytes().await.expect("a PDF");
    assert_eq!(pdf::page_count(&collection), 3);
    for number in 1..=3 {
        assert!(pdf::text(&collection).contains(&format!("Invoice {number}")));
    }
    assert!(studio.service.stored_documents().is_empty());
}
