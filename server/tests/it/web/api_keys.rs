//! Settings of API keys in the dashboard.

use serde_json::json;

use super::{service_with, site};
use crate::support::{studio::header, visitor::Visitor};

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
