//! Accounts in the operators' area: search, pages and actions.

use serde_json::json;

use super::{ANN, Office};
use crate::support::{studio::header, visitor::Visitor};

#[tokio::test]
async fn accounts_are_found_by_name_email_id_key_prefix_or_render() {
    let office = Office::open().await;
    let (service, account) = (&office.service, &office.account);
    service.execute("update accounts set name = 'Harbour & Finch' where id <> (select account_id from members join users on users.id = user_id where email = 'op@example.org')").await;
    let render = service.queued(account, &json!({"parts": ["<p>"]})).await;
    let prefix = &account.key[..16];
    for known in ["arbour", "ANN@", account.id.as_str(), prefix, render.as_str()] {
        let page = office
            .operator
            .page(&format!("/admin/accounts?q={}", known.replace('@', "%40")))
            .await;
        assert!(
            page.contains("Harbour &amp; Finch") && !page.contains(OPERATOR_ROW),
            "{known}: {page}"
        );
        assert!(page.contains("1 account<"), "{known}: {page}");
    }
    for (query, found) in [
        ("q=nobody", false),
        ("plan=Growth", false),
        ("plan=Scale", true),
        ("state=suspended", false),
        ("state=active", true),
    ] {
        let page = office.operator.page(&format!("/admin/accounts?{query}")).await;
        assert_eq!(page.contains("Harbour &amp; Finch"), found, "{query}");
    }
}

/// The operator's own account in the list.
const OPERATOR_ROW: &str = ">op@example.org</a>";

#[tokio::test]
async fn the_list_has_pages_in_every_order() {
    let office = Office::open().await;
    office
        .service
        .execute(
            "insert into accounts (id, name, plan, period_anchor, inserted_at)
             select gen_random_uuid(), 'Account ' || number, 'Free', now(), now() - number * interval '1 hour'
             from generate_series(1, 60) number",
        )
        .await;
    for order in ["newest", "used", "failures"] {
        let mut path = format!("/admin/accounts?q=Account+&order={order}");
        let mut seen = Vec::new();
        loop {
            let page = office.operator.page(&path).await;
            let rows = page.split("table__link break").skip(1);
            seen.extend(rows.map(|row| row.split(['>', '<']).nth(1).expect("a name").to_owned()));
            let Some((_, rest)) = page.split_once("cursor=") else {
                break;
            };
            let cursor = rest.split('"').next().expect("its end");
            path = format!("/admin/accounts?q=Account+&order={order}&cursor={cursor}");
        }
        assert_eq!(seen.len(), 60, "{order}: {seen:?}");
        if order == "newest" {
            assert_eq!((seen[0].as_str(), seen[59].as_str()), ("Account 1", "Account 60"));
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 60, "{order}");
    }
}

#[tokio::test]
async fn the_page_of_an_account_shows_no_secret_and_no_content() {
    let office = Office::open().await;
    let (service, account) = (&office.service, &office.account);
    let body = json!({"parts": ["<title>Payroll of May</title><p>Salaries"]});
    service.queued(account, &body).await;
    let page = office.operator.page(&office.page_of_account()).await;
    assert!(page.contains("tests") && page.contains(&account.key[..12]), "{page}");
    assert!(
        page.contains("Queued") || page.contains("Succeeded") || page.contains("Processing"),
        "{page}"
    );
    for hidden in [account.key.as_str(), "Payroll", "Salaries"] {
        assert!(!page.contains(hidden), "{hidden}: {page}");
    }
    for wrong in [
        "/admin/accounts/x",
        "/admin/accounts/00000000-0000-0000-0000-000000000000",
    ] {
        assert_eq!(office.operator.get(wrong).await.status(), 404, "{wrong}");
    }
}

#[tokio::test]
async fn a_suspended_account_is_read_and_nothing_else_until_it_is_restored() {
    let office = Office::open().await;
    let (service, account) = (&office.service, &office.account);
    let ann = Visitor::log_in(service, ANN).await;
    let done = office.operate("suspend-account", &[("tell_owner", "on")]).await;
    assert_eq!(done, format!("{}?done=suspended", office.page_of_account()));

    let asked = service
        .client
        .get(service.url("/api/v1/templates"))
        .bearer_auth(&account.key);
    assert_eq!(asked.send().await.expect("an answer").status(), 403);
    let page = ann.page("/dashboard/templates").await;
    assert!(page.contains("This account is suspended"), "{page}");
    let refused = ann
        .submit("create-template", &[("template_name", "Mine"), ("beginning", "blank")])
        .await;
    assert!(header(&refused, "location").contains("__err="), "{refused:?}");
    assert_eq!(service.number("select count(*) from templates").await, 0);
    let mail = "select count(*) from mails where recipient = 'ann@example.org' and letter ->> 'reason' = 'Ticket 4410'";
    assert_eq!(service.number(mail).await, 1);
    let page = office.operator.page(&office.page_of_account()).await;
    assert!(
        page.contains("Suspended since") && page.contains(": Ticket 4410"),
        "{page}"
    );
    // Suspending the account again has no effect.
    office.operate("suspend-account", &[]).await;

    office.operate("restore-account", &[]).await;
    let asked = service
        .client
        .get(service.url("/api/v1/templates"))
        .bearer_auth(&account.key);
    assert_eq!(asked.send().await.expect("an answer").status(), 200);
    assert!(
        !ann.page("/dashboard/templates")
            .await
            .contains("This account is suspended")
    );
    let log = ann.page("/dashboard/team/log").await;
    assert!(
        log.contains("lifted the suspension of the account") && !log.contains("4410"),
        "{log}"
    );
    let audit = office.audit().await;
    assert_eq!(
        audit.lines().skip(1).collect::<Vec<_>>(),
        [
            "account.suspended ann@example.org Ticket 4410",
            "account.restored ann@example.org Ticket 4410"
        ]
    );
}

#[tokio::test]
async fn what_is_queued_waits_while_an_account_is_suspended() {
    let office = Office::open().await;
    let (service, account) = (&office.service, &office.account);
    // A job that has failed is due in an hour.
    let render = service.queued(account, &json!({"parts": ["<p>Later"]})).await;
    service.ended(account, &render).await;
    service
        .execute(&format!(
            "update renders set finished_at = null, status = 'queued' where id = '{render}';
             insert into jobs (id, account_id, kind, render_id, priority, run_at, due)
             select gen_random_uuid(), account_id, 'render', id, 0, now() + interval '1 hour', false from renders"
        ))
        .await;
    office.operate("suspend-account", &[]).await;
    service.execute("update jobs set run_at = now(), due = true").await;
    let page = office.operator.page(&office.page_of_account()).await;
    assert!(page.contains("until the account is restored"), "{page}");
    // A job that is enqueued later is run first.
    let other = service.account("bob@example.org");
    let others = service.queued(&other, &json!({"parts": ["<p>Now"]})).await;
    service.ended(&other, &others).await;
    assert_eq!(
        service
            .number("select count(*) from jobs where kind = 'render' and claim is null")
            .await,
        1
    );
    office.operate("restore-account", &[]).await;
    service
        .number_is(0, "select count(*) from jobs where kind = 'render'")
        .await;
}

#[tokio::test]
async fn credits_are_granted_for_the_period_or_until_they_are_used() {
    let office = Office::open().await;
    office
        .operate("grant-credits", &[("credits", "1,500"), ("lasts", "period")])
        .await;
    office
        .operate("grant-credits", &[("credits", "20"), ("lasts", "until_used")])
        .await;
    let query = |column: &str| {
        format!(
            "select {column}::bigint from credit_periods where account_id = '{}'",
            office.account.id
        )
    };
    assert_eq!(office.service.number(&query("granted")).await, 1500);
    assert_eq!(office.service.number(&query("bought")).await, 20);
    let page = office.operator.page(&office.page_of_account()).await;
    assert!(page.contains("of 201,520"), "{page}");
    for (credits, reason) in [("0", "x"), ("many", "x"), ("", "x"), ("5", " ")] {
        let fields = [
            ("subject", office.account.id.as_str()),
            ("credits", credits),
            ("lasts", "period"),
            ("reason", reason),
        ];
        let refused = office
            .operator
            .submit_from(&office.page_of_account(), "grant-credits", &fields)
            .await;
        let location = header(&refused, "location");
        assert!(location.contains("__err="), "{credits:?} {reason:?}: {location}");
    }
    assert_eq!(office.service.number(&query("granted")).await, 1500);
}

#[tokio::test]
async fn a_plan_and_limits_count_from_the_next_request() {
    let office = Office::open().await;
    let (service, account) = (&office.service, &office.account);
    office
        .operate("set-plan", &[("plan", "Growth"), ("period_credits", "500")])
        .await;
    let page = office.operator.page(&office.page_of_account()).await;
    assert!(
        page.contains("of 500") && page.contains("8 concurrent renders"),
        "{page}"
    );
    let limits = [
        ("concurrency", "3"),
        ("rate_per_minute", ""),
        ("body_mib", "1"),
        ("deadline_seconds", "30"),
        ("storage_limits", "templates 7\r\n\r\n document_bytes  1,073,741,824"),
    ];
    office.operate("set-limits", &limits).await;
    let page = office.operator.page(&office.page_of_account()).await;
    assert!(
        page.contains(
            "3 concurrent renders, 1,200 requests per minute, 1 MiB per request, 30 s per synchronous render"
        ),
        "{page}"
    );
    // The other limits are still the plan's.
    for shown in ["0 of 7", "0 KB of 1 GB", "0 of 100,000"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(
        page.contains("document_bytes 1073741824"),
        "the form shows what is set: {page}"
    );
    for faulty in ["disks 4", "templates", "templates many", "templates -1"] {
        let fields = [
            ("subject", office.account.id.as_str()),
            ("concurrency", ""),
            ("rate_per_minute", ""),
            ("body_mib", ""),
            ("deadline_seconds", ""),
            ("storage_limits", faulty),
            ("reason", "Ticket"),
        ];
        let page = office.page_of_account();
        let refused = office.operator.submit_from(&page, "set-limits", &fields).await;
        assert!(header(&refused, "location").contains("__err="), "{faulty}");
    }
    let large = json!({"parts": ["x".repeat(1_100_000)]});
    let request = service
        .client
        .post(service.url("/api/v1/renderers/pdf"))
        .bearer_auth(&account.key);
    assert_eq!(request.json(&large).send().await.expect("an answer").status(), 413);
    let none = [
        ("concurrency", ""),
        ("rate_per_minute", ""),
        ("body_mib", ""),
        ("deadline_seconds", ""),
    ];
    office.operate("set-limits", &none).await;
    let page = office.operator.page(&office.page_of_account()).await;
    assert!(
        page.contains("8 concurrent renders") && page.contains("30 MiB"),
        "{page}"
    );
    assert!(page.contains("0 of 5,000") && page.contains("0 KB of 100 GB"), "{page}");
    let audit = office.audit().await;
    assert!(audit.contains("plan.set ann@example.org Ticket 4410"), "{audit}");
    let sentence = "select count(*) from audit_log where entry -> 'deed' ->> 'limits' = '3 at a time, 1048576 bytes a request, 30 seconds a render, document_bytes 1073741824, templates 7'";
    assert_eq!(service.number(sentence).await, 1);
}

#[tokio::test]
async fn the_command_line_does_the_same_and_says_that_it_was_it() {
    let office = Office::open().await;
    let service = &office.service;
    for arguments in [
        &["accounts", "suspend", "--email", ANN, "--reason", "abuse"][..],
        &["accounts", "restore", "--email", ANN],
        &[
            "accounts",
            "grant",
            "--email",
            ANN,
            "--credits",
            "7",
            "--reason",
            "thanks",
        ],
        &["accounts", "set-plan", "--email", ANN, "--plan", "starter"],
        &["accounts", "delete", "--email", ANN, "--yes"],
    ] {
        let answer = service.command(arguments, "");
        assert_eq!(answer.code, Some(0), "{arguments:?}: {answer:?}");
    }
    let audit = office.audit().await;
    assert_eq!(
        audit.lines().skip(1).collect::<Vec<_>>(),
        [
            "account.suspended ann@example.org abuse",
            "account.restored ann@example.org ",
            "credits.granted ann@example.org thanks",
            "plan.set ann@example.org ",
            "account.deleted ann@example.org ",
        ]
    );
    let by = "select count(*) from audit_log where entry -> 'by' ->> 'is' = 'command_line'";
    assert_eq!(service.number(by).await, 6, "with the operator's appointment");
}
