//! Announcements of operators.

use super::super::{service_with, site};
use crate::support::{service::TestService, studio::header, visitor::Visitor};

const WORDS: &str = "We are <away> on Sunday";
const SHOWN: &str = "We are &lt;away&gt; on Sunday";
const PAGE: &str = "/admin/announcements";

async fn announce(operator: &Visitor, starts_at: &str, ends_at: &str) -> String {
    let fields = [
        ("words", WORDS),
        ("link", "https://status.example.org/"),
        ("link_words", "Status"),
        ("level", "warning"),
        ("starts_at", starts_at),
        ("ends_at", ends_at),
    ];
    let answer = operator.submit_from(PAGE, "announce", &fields).await;
    assert_eq!(answer.status(), 303);
    header(&answer, "location").to_owned()
}

async fn only_id(service: &TestService) -> String {
    service.text("select id::text from announcements").await
}

#[tokio::test]
async fn everybody_reads_an_announcement_until_they_hide_it_or_it_ends() {
    let site = site();
    let service = service_with(site.path()).await;
    service.account("ann@example.org");
    service.account("bob@example.org");
    let operator = Visitor::operator(&service, "operator@example.org").await;
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let bob = Visitor::log_in(&service, "bob@example.org").await;
    assert_eq!(announce(&operator, "", "").await, "/admin/announcements?done=announced");
    for page in ["/dashboard", "/dashboard/settings", "/dashboard/templates"] {
        let page = ann.page(page).await;
        assert!(
            page.contains(SHOWN) && page.contains("https://status.example.org/"),
            "{page}"
        );
        assert!(!page.contains(WORDS), "{page}");
    }
    // An announcement that one user has hidden is still shown to others.
    let id = only_id(&service).await;
    for _ in 0..2 {
        ann.submit("hide-announcement", &[("subject", &id)]).await;
    }
    assert!(!ann.page("/dashboard").await.contains(SHOWN));
    assert!(bob.page("/dashboard").await.contains(SHOWN));
    let list = operator.page(PAGE).await;
    assert!(list.contains(SHOWN) && list.contains("hidden by 1 user"), "{list}");

    let answer = operator
        .submit_from(PAGE, "end-announcement", &[("subject", &id)])
        .await;
    assert_eq!(header(&answer, "location"), "/admin/announcements?done=ended");
    assert!(!bob.page("/dashboard").await.contains(SHOWN));
    let again = operator.call("end-announcement", &[("subject", id)]).await;
    assert_eq!(again, "NotFound");
    let audit_events =
        "select string_agg(kind || ' ' || (entry -> 'by' ->> 'email'), ', ' order by number) from audit_log
                 where kind like 'announcement.%'";
    assert_eq!(
        service.text(audit_events).await,
        "announcement.made operator@example.org, announcement.ended operator@example.org"
    );
}

#[tokio::test]
async fn an_announcement_has_its_time() {
    let site = site();
    let service = service_with(site.path()).await;
    let operator = Visitor::operator(&service, "operator@example.org").await;
    announce(&operator, "2126-01-01T10:00", "2126-01-02T10:00").await;
    assert!(!operator.page("/dashboard").await.contains(SHOWN));
    assert!(operator.page(PAGE).await.contains("Scheduled"));
    service
        .execute("update announcements set starts_at = now() - interval '1 h'")
        .await;
    assert!(operator.page("/dashboard").await.contains(SHOWN));
    service.execute("update announcements set ends_at = now()").await;
    assert!(!operator.page("/dashboard").await.contains(SHOWN));
    assert!(operator.page(PAGE).await.contains("Past"));
}

#[tokio::test]
async fn what_has_not_begun_can_be_taken_back() {
    let site = site();
    let service = service_with(site.path()).await;
    let operator = Visitor::operator(&service, "operator@example.org").await;
    announce(&operator, "2126-01-01T10:00", "").await;
    let id = only_id(&service).await;
    operator
        .submit_from(PAGE, "end-announcement", &[("subject", &id)])
        .await;
    assert_eq!(
        service
            .number("select count(*) from announcements where ends_at > now()")
            .await,
        0
    );
    assert!(operator.page(PAGE).await.contains("No current announcements."));
}

#[tokio::test]
async fn an_announcement_that_breaks_a_rule_comes_back_with_what_was_typed() {
    let site = site();
    let service = service_with(site.path()).await;
    let mut operator = Visitor::operator(&service, "operator@example.org").await;
    let wrong = [
        ("words", WORDS),
        ("link", "javascript:alert(1)"),
        ("link_words", "Status"),
        ("level", "warning"),
        ("starts_at", ""),
        ("ends_at", "2020-01-01T00:00"),
    ];
    let refused = operator.submit_from(PAGE, "announce", &wrong).await;
    operator.remember(&refused);
    let (_, error) = header(&refused, "location").split_once('?').expect("an error");
    let page = operator.page(&format!("{PAGE}?{error}")).await;
    let words = "We are &lt;away> on Sunday</textarea>";
    for typed in [words, "javascript:alert(1)", "2020-01-01T00:00"] {
        assert!(page.contains(typed), "{typed}: {page}");
    }
    let refused = operator
        .call("announce", &wrong.map(|(name, value)| (name, value.to_owned())))
        .await;
    assert_eq!(
        refused["Rejected"]["reason"]["invalid"],
        serde_json::json!(["link_address", "ends_at"])
    );
    assert_eq!(service.number("select count(*) from announcements").await, 0);
}
