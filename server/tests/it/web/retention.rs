//! Accounts that turn off storing content.

use rustix::process::Signal;
use serde_json::json;

use super::{service_with, site};
use crate::support::{
    studio::{body, header},
    visitor::Visitor,
};

#[tokio::test]
async fn turning_off_stored_content_deletes_that_of_the_account_alone() {
    let site = site();
    let mut service = service_with(site.path()).await;
    let (ann, bob) = (service.account("ann@example.org"), service.account("bob@example.org"));
    let visitor = Visitor::log_in(&service, "ann@example.org").await;
    let other = Visitor::log_in(&service, "bob@example.org").await;
    let _open = (visitor.open_page().await, other.open_page().await);
    let page = "<title>Top secret</title><script>console.log('secret')</script>";
    for account in [&ann, &bob] {
        let request = service.client.post(service.url("/api/v1/renderers/pdf"));
        let request = request.bearer_auth(&account.key).json(&body(page, json!({})));
        assert_eq!(request.send().await.expect("an answer").status(), 200);
        let queued = service.queued(account, &json!({"parts": [page]})).await;
        service.ended(account, &queued).await;
    }
    let kept = |account: &str| {
        [
            format!("select count(*) from render_contents where account_id = '{account}'"),
            format!("select count(*) from render_thumbnails where account_id = '{account}'"),
            format!("select count(*) from accessibility_reports where account_id = '{account}'"),
            format!("select count(*) from renders where account_id = '{account}' and title is not null"),
            format!("select count(*) from renders where account_id = '{account}' and console <> '[]'"),
        ]
    };
    for account in [&ann.id, &bob.id] {
        for (query, count) in kept(account).iter().zip([2, 1, 2, 2, 2]) {
            service.number_is(count, query).await;
        }
    }
    let answer = visitor.submit("keep-content", &[]).await;
    assert_eq!(header(&answer, "location"), "/dashboard/settings?done=content");
    assert!(
        visitor
            .page("/dashboard/settings")
            .await
            .contains("Turning it off also deletes")
    );
    // The service deletes such content when it starts.
    service.restart(Signal::TERM).await;
    service
        .number_is(
            1,
            "select count(*) from accounts where not keep_content and forget_content_before is null",
        )
        .await;
    for query in kept(&ann.id) {
        assert_eq!(service.number(&query).await, 0, "{query}");
    }
    for (query, count) in kept(&bob.id).iter().zip([2, 1, 2, 2, 2]) {
        assert_eq!(service.number(query).await, count, "{query}");
    }
    assert_eq!(service.number("select count(*) from renders").await, 4);
}
