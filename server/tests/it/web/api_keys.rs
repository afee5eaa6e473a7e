//! Settings of API keys in the dashboard.

use serde_json::json;

use super::{service_with, site};
use crate::support::{
    service::TestService,
    studio::{body, header},
    visitor::Visitor,
};

/// The fields of the form on a key's page. The key never expires.
fn settings<'a>(id: &'a str, name: &'a str, templates: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let mut fields = vec![
        ("subject", id),
        ("key_name", name),
        ("scopes[0]", "render"),
        ("expiry", "never"),
        ("expiry_day", ""),
        ("networks", ""),
    ];
    fields.extend(templates.iter().map(|template| ("templates[0]", *template)));
    fields
}

#[tokio::test]
async fn a_key_stays_restricted_to_a_template_that_is_deleted() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let request = service.client.post(service.url("/api/v1/templates"));
    let created = request
        .bearer_auth(&account.key)
        .json(&json!({"template": {"name": "Invoice", "content": "<p>"}}))
        .send()
        .await
        .expect("an answer");
    let template = header(&created, "location")
        .rsplit('/')
        .next()
        .expect("an id")
        .to_owned();
    let created = service.create_key("ann@example.org", "Narrow", &["--allow-template", &template]);
    let key = created.stderr.trim();
    let request = service
        .client
        .delete(service.url(&format!("/api/v1/templates/{template}")));
    let deleted = request.bearer_auth(&account.key).send().await.expect("an answer");
    assert!(deleted.status().is_success(), "{deleted:?}");

    let page = ann.page(&format!("/dashboard/api-keys/{key}")).await;
    assert!(
        page.contains("A deleted template") && page.contains(&template),
        "{page}"
    );
    let fields = settings(key, "Narrower", &[&template]);
    let saved = ann.submit("edit-key", &fields).await;
    assert!(header(&saved, "location").ends_with("?done=changed"), "{saved:?}");
    let restricted =
        format!("select count(*) from api_keys where name = 'Narrower' and allowed_templates = '{{{template}}}'");
    assert_eq!(service.number(&restricted).await, 1);

    // A template that the key couldn't use before has to exist.
    let refused = ann
        .submit("edit-key", &settings(&account.key_id, "Other", &[&template]))
        .await;
    assert!(!header(&refused, "location").contains("done"), "{refused:?}");
    assert_eq!(
        service
            .number("select count(*) from api_keys where name = 'Other'")
            .await,
        0
    );
}

#[tokio::test]
async fn a_replaced_key_ends_when_it_was_to_end() {
    let site = site();
    let service = service_with(site.path()).await;
    service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let created = service.create_key("ann@example.org", "Worker", &[]);
    let key = created.stderr.trim();
    ann.submit("rotate-key", &[("subject", key), ("overlap", "1")]).await;
    let saved = ann.submit("edit-key", &settings(key, "Former worker", &[])).await;
    assert!(header(&saved, "location").ends_with("?done=changed"), "{saved:?}");
    let ends =
        "select count(*) from api_keys where name = 'Former worker' and expires_at < now() + interval '61 minutes'";
    assert_eq!(service.number(ends).await, 1);
}

async fn render_status(service: &TestService, key: &str) -> u16 {
    let request = service.client.post(service.url("/api/v1/renderers/pdf"));
    let request = request.bearer_auth(key).json(&body("<p>", json!({})));
    request.send().await.expect("an answer").status().as_u16()
}

#[tokio::test]
async fn a_new_credit_limit_includes_earlier_renders_and_is_recorded() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    for _ in 0..2 {
        assert_eq!(render_status(&service, &account.key).await, 200);
    }
    let page = format!("/dashboard/api-keys/{}", account.key_id);
    assert!(!ann.page(&page).await.contains("credits this month"));
    let set = async |limit: &str| {
        let mut fields = settings(&account.key_id, "Billing", &[]);
        fields.push(("credit_limit", limit));
        let answer = ann.submit_from(&page, "edit-key", &fields).await;
        header(&answer, "location").ends_with("?done=changed")
    };
    for refused in ["0", "-1", "1000000001", "a few"] {
        assert!(!set(refused).await, "{refused}");
    }
    assert!(set("3").await);
    for path in [&page, "/dashboard/api-keys"] {
        let page = ann.page(path).await;
        assert!(page.contains("2 of 3 credits this month"), "{page}");
    }
    assert_eq!(render_status(&service, &account.key).await, 200);
    assert_eq!(render_status(&service, &account.key).await, 403);
    assert!(set("4").await);
    assert_eq!(render_status(&service, &account.key).await, 200);
    assert_eq!(render_status(&service, &account.key).await, 403);
    assert!(set("").await);
    assert_eq!(render_status(&service, &account.key).await, 200);
    // The render without a limit counts as well.
    assert!(set("10").await);
    assert!(ann.page(&page).await.contains("5 of 10 credits this month"));

    let log = ann.page("/dashboard/team/log").await;
    for event in [
        "changed the name, scopes and credit limit of the API key Billing",
        "changed the credit limit of the API key Billing",
    ] {
        assert!(log.contains(event), "{event}: {log}");
    }
    let events = "select count(*) from account_log where kind = 'key.changed'";
    assert_eq!(service.number(events).await, 4);
    // Saving what is saved changes nothing.
    assert!(set("10").await);
    assert_eq!(service.number(events).await, 4);
}

#[tokio::test]
async fn a_test_key_has_no_credit_limit() {
    let site = site();
    let service = service_with(site.path()).await;
    service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let fields = [
        ("key_name", "Tries"),
        ("key_mode", "test"),
        ("scopes[0]", "render"),
        ("expiry", "never"),
        ("expiry_day", ""),
        ("networks", ""),
        // Typed before the mode was changed, which hides the field.
        ("credit_limit", "5"),
    ];
    let created = ann.submit("create-key", &fields).await;
    assert!(header(&created, "location").contains("done=created"), "{created:?}");
    let id = service.text("select id::text from api_keys where name = 'Tries'").await;
    let page = ann.page(&format!("/dashboard/api-keys/{id}")).await;
    assert!(!page.contains("credit_limit"), "{page}");
    let mut forged = settings(&id, "Tries", &[]);
    forged.push(("credit_limit", "5"));
    let refused = ann.submit("edit-key", &forged).await;
    assert!(!header(&refused, "location").contains("done"), "{refused:?}");
    let limits = "select count(*) from api_keys where credit_limit is not null";
    assert_eq!(service.number(limits).await, 0);
}
