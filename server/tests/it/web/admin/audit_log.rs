//! The audit log as shown to operators.

use super::super::{service_with, site};
use crate::support::{service::TestService, studio::header, visitor::Visitor};

const PAGE: &str = "/admin/audit";
const OPERATOR: &str = "operator@example.org";

async fn announce(operator: &Visitor, words: &str) {
    let fields = [
        ("link", ""),
        ("link_words", ""),
        ("level", "warning"),
        ("starts_at", ""),
        ("ends_at", ""),
    ];
    let fields: Vec<_> = fields.into_iter().chain([("words", words)]).collect();
    let answer = operator.submit_from("/admin/announcements", "announce", &fields).await;
    assert_eq!(answer.status(), 303);
}

/// Creates an operator who suspends an account and publishes an announcement.
async fn busy_operator(service: &TestService) -> Visitor {
    let ann = service.account("ann@example.org");
    let operator = Visitor::operator(service, OPERATOR).await;
    let fields = [("subject", ann.id.as_str()), ("reason", "=port <scans>")];
    let page = format!("/admin/accounts/{}", ann.id);
    let answer = operator.submit_from(&page, "suspend-account", &fields).await;
    assert_eq!(answer.status(), 303);
    announce(&operator, "We move").await;
    operator
}

#[tokio::test]
async fn operators_find_what_was_done_by_whom_to_whom_and_why() {
    let site = site();
    let service = service_with(site.path()).await;
    let operator = busy_operator(&service).await;
    let kinds = async |query: &str| {
        let page = operator.page(&format!("{PAGE}{query}")).await;
        let body = page.split_once("<tbody").map_or("", |(_, body)| body);
        let body = body.split_once("</tbody").map_or("", |(body, _)| body).to_owned();
        let told = [
            ("announced: We move", "announced"),
            ("suspended", "suspended"),
            ("made operator@", "appointed"),
        ];
        let found = told.into_iter().filter(|(words, _)| body.contains(words));
        found.map(|(_, name)| name).collect::<Vec<_>>()
    };
    let today = service
        .text("select to_char(now() at time zone 'utc', 'YYYY-MM-DD')")
        .await;
    for (query, expected) in [
        (String::new(), vec!["announced", "suspended", "appointed"]),
        ("?q=ann%40example".to_owned(), vec!["suspended"]),
        ("?q=PORT".to_owned(), vec!["suspended"]),
        ("?q=operator%40".to_owned(), vec!["announced", "suspended"]),
        ("?q=command+line".to_owned(), vec!["appointed"]),
        ("?q=%25".to_owned(), vec![]),
        ("?kind=announcement.made".to_owned(), vec!["announced"]),
        (format!("?from={today}"), vec!["announced", "suspended", "appointed"]),
        ("?to=2020-01-01".to_owned(), vec![]),
        ("?cursor=2".to_owned(), vec!["appointed"]),
    ] {
        assert_eq!(kinds(&query).await, expected, "{query}");
    }
    let page = operator.page(PAGE).await;
    assert!(
        page.contains("=port &lt;scans&gt;") && !page.contains("<scans>"),
        "{page}"
    );
    // The page shows the same end of the chain as the command.
    let end = service.command(&["admin", "verify-audit"], "").succeeded();
    let (number, digest) = end.trim().split_once(':').expect("number and digest");
    assert_eq!(number, "3");
    assert!(page.contains("3 events") && page.contains(&digest[..16]), "{page}");
}

#[tokio::test]
async fn the_log_is_a_file_in_which_nothing_is_a_formula() {
    let site = site();
    let service = service_with(site.path()).await;
    let operator = busy_operator(&service).await;
    let answer = operator.get("/admin/audit.csv?q=port").await;
    assert_eq!(header(&answer, "content-type"), "text/csv; charset=utf-8");
    let disposition = header(&answer, "content-disposition").to_owned();
    assert_eq!(disposition, "attachment; filename=\"platen-audit.csv\"");
    let file = answer.text().await.expect("a file");
    let lines: Vec<_> = file.lines().collect();
    assert_eq!(lines.len(), 2, "{file}");
    assert_eq!(
        lines[0],
        r#""number","time","who","address","kind","what","account","account_name","reason""#
    );
    assert!(lines[1].starts_with("\"2\",\"20"), "{file}");
    assert!(
        lines[1].contains(r#""operator@example.org","127.0.0.1","account.suspended""#),
        "{file}"
    );
    assert!(lines[1].ends_with(r#""ann@example.org","'=port <scans>""#), "{file}");

    // More than one chunk, and complete.
    let many = "insert into audit_log (entry)
         select json_build_object('at_ms', 1795000000000, 'by', json_build_object('is', 'service'), 'account', null,
             'account_name', null, 'deed', json_build_object('kind', 'look.ended'), 'reason', number::text)
         from generate_series(1, 1500) as number";
    assert_eq!(service.execute(many).await, 1500);
    let file = operator.get("/admin/audit.csv").await.text().await.expect("a file");
    assert_eq!(file.lines().count(), 1504);
}
