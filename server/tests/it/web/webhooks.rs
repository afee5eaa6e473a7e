//! The page of webhooks.

use serde_json::json;

use super::{service_reaching, service_with, site};
use crate::support::{receiver::Receiver, studio::header, visitor::Visitor};

#[tokio::test]
async fn the_signing_secret_is_seen_by_those_who_ask_for_it() {
    let site = site();
    let service = service_with(site.path()).await;
    service.account("ann@example.org");
    service.account("bob@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let bob = Visitor::log_in(&service, "bob@example.org").await;
    let secret = || {
        let command = ["accounts", "webhook-secret", "--email", "ann@example.org"];
        service.command(&command, "").succeeded()
    };
    let first = secret();
    let page = ann.page("/dashboard/webhooks").await;
    assert!(page.contains("Reveal") && !page.contains(&first), "{page}");
    let answer = ann.submit("reveal-webhook-secret", &[]).await;
    assert_eq!(header(&answer, "location"), "/dashboard/webhooks");
    assert!(ann.page("/dashboard/webhooks").await.contains(&first));
    bob.submit("reveal-webhook-secret", &[]).await;
    assert!(!bob.page("/dashboard/webhooks").await.contains(&first));
    // The secret was not revealed in the same user's other browser.
    let elsewhere = Visitor::log_in(&service, "ann@example.org").await;
    assert!(!elsewhere.page("/dashboard/webhooks").await.contains(&first));

    let answer = elsewhere.submit("replace-webhook-secret", &[]).await;
    assert_eq!(header(&answer, "location"), "/dashboard/webhooks");
    let second = secret();
    assert_ne!(second, first);
    let page = elsewhere.page("/dashboard/webhooks").await;
    assert!(page.contains("a signature by the previous secret until"), "{page}");
    assert!(!page.contains(&second) && !page.contains(&first), "{page}");
}

/// Returns the renders whose deliveries a page shows, in order.
async fn listed(visitor: &Visitor, query: &str) -> Vec<String> {
    let html = visitor.page(&format!("/dashboard/webhooks{query}")).await;
    let rows = html.split("data-key=\"").skip(1);
    rows.map(|row| row.split('"').next().expect("an id").to_owned())
        .collect()
}

#[tokio::test]
async fn deliveries_are_found_by_how_they_fared_and_where_they_went() {
    let receiver = Receiver::start().await;
    let site = site();
    let service = service_reaching(&receiver.authority, site.path()).await;
    let account = service.account("ann@example.org");
    let foreign = service.account("bob@example.org");
    let told = async |account, path: &str| {
        let body = json!({"parts": ["<p>"], "callback": {"url": receiver.url(path)}});
        let id = service.queued(account, &body).await;
        let tried = |render: &serde_json::Value| !render["callback"]["attempts"][0].is_null();
        service.shown_when(account, &id, tried).await;
        id
    };
    let delivered = told(&account, "/here").await;
    let trying = told(&account, "/503").await;
    let given_up = told(&account, "/500").await;
    told(&foreign, "/here").await;
    service
        .execute(&format!(
            "update callbacks set state = 'failed' where render_id = '{given_up}'"
        ))
        .await;
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let all = vec![&given_up, &trying, &delivered];
    for (query, expected) in [
        (String::new(), all.clone()),
        ("?outcome=delivered".to_owned(), vec![&delivered]),
        ("?outcome=trying".to_owned(), vec![&trying]),
        ("?outcome=given-up".to_owned(), vec![&given_up]),
        ("?since=24-hours".to_owned(), all),
        ("?q=%2Fhere".to_owned(), vec![&delivered]),
        (format!("?q={trying}"), vec![&trying]),
        (format!("?cursor={trying}"), vec![&delivered]),
        ("?q=_".to_owned(), vec![]),
    ] {
        let found = listed(&ann, &query).await;
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
    }
    let page = ann.page("/dashboard/webhooks").await;
    for expected in [
        "Delivered, 200",
        "Pending, next in ",
        "Stopped, 500",
        "msg_",
        "&quot;status&quot;: &quot;success&quot;",
    ] {
        assert!(
            page.contains(expected) || page.contains(&expected.replace("&quot;", "\"")),
            "{expected}: {page}"
        );
    }
}

#[tokio::test]
async fn a_search_among_many_deliveries_goes_on_with_older_ones() {
    let receiver = Receiver::start().await;
    let site = site();
    let service = service_reaching(&receiver.authority, site.path()).await;
    let account = service.account("ann@example.org");
    let body = json!({"parts": ["<p>"], "callback": {"url": receiver.url("/rare")}});
    let rare = service.queued(&account, &body).await;
    let tried = |render: &serde_json::Value| !render["callback"]["attempts"][0].is_null();
    service.shown_when(&account, &rare, tried).await;
    let newer = "with many as (
            insert into renders (id, account_id, api_key_id, mode, status, livemode, options, inserted_at, finished_at)
            select overlay(gen_random_uuid()::text placing 'f' from 1 for 1)::uuid, account_id, api_key_id, mode, status, livemode,
                jsonb_set(options, '{callback,url}', '\"https://hooks.invalid/usual\"'), inserted_at, finished_at
            from renders, generate_series(1, 3000)
            returning id, account_id
        )
        insert into callbacks (render_id, account_id, webhook_id, sealed_target, state, body)
        select many.id, many.account_id, gen_random_uuid(), sealed_target, 'failed', body from many, callbacks";
    assert_eq!(service.execute(newer).await, 3_000);
    service.execute("update callbacks set state = 'failed'").await;
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    for search in ["?q=rare", "?outcome=given-up&q=rare"] {
        assert!(listed(&ann, search).await.is_empty(), "{search}");
        let html = ann.page(&format!("/dashboard/webhooks{search}")).await;
        let (_, next) = html.split_once("&amp;cursor=").expect("a next page");
        let (cursor, _) = next.split_once('"').expect("its end");
        let older = format!("{search}&cursor={cursor}");
        assert_eq!(listed(&ann, &older).await, [rare.as_str()], "{older}");
    }
}
