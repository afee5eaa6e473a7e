//! Storage limits in the dashboard.

use serde_json::json;

use super::{service_with, site};
use crate::support::{studio::header, visitor::Visitor};

#[tokio::test]
async fn limits_show_beside_what_is_stored_and_forms_say_why_they_are_refused() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let page = ann.page("/dashboard/billing").await;
    for shown in [
        "Queued renders: 0 of 500,000",
        "Documents in default storage: 0 KB of 1 TB",
        "API keys: 1 of 2,000",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }

    service.limit_storage(&account, "templates", 1).await;
    let fields = [("template_name", "Letter"), ("beginning", "blank")];
    let made = ann.submit("create-template", &fields).await;
    let editor = header(&made, "location").to_owned();
    assert!(editor.starts_with("/dashboard/templates/"), "{editor}");
    let typed = fields.map(|(name, value)| (name, value.to_owned()));
    let refused = ann.call("create-template", &typed).await;
    let full = json!({"resource": "templates", "used": 1, "limit": 1});
    assert_eq!(refused["Rejected"]["reason"]["storage_full"], full, "{refused}");

    service.limit_storage(&account, "template_bytes", 1).await;
    let id = editor.rsplit('/').next().expect("an id");
    let draft = [
        ("id", id),
        ("seen", "1"),
        ("template_name", "Letter"),
        ("content", "<p>new"),
        ("data", "{}"),
    ];
    let refused = ann.submit("save-template", &draft).await;
    assert!(header(&refused, "location").contains("__err="), "{refused:?}");
    service.storage_is_counted().await;
}
