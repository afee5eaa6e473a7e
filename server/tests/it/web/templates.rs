//! The pages of templates.

use serde_json::Value;

use crate::support::{
    editor::{Editor, NAME},
    service::{TestAccount, TestService},
    studio::header,
    visitor::Visitor,
};

/// Returns the status and the content that renders would use.
pub(super) async fn published(service: &TestService, account: &TestAccount, path: &str) -> (u16, String) {
    let path = path.replace("/dashboard/", "/api/v1/");
    let request = service.client.get(service.url(&path)).bearer_auth(&account.key);
    let answer = request.send().await.expect("an answer");
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.expect("JSON");
    (status, body["data"]["content"].as_str().unwrap_or_default().to_owned())
}

pub(super) fn saved<'a>(id: &'a str, seen: &'a str, content: &'a str) -> Vec<(&'a str, &'a str)> {
    let fields = [
        ("id", id),
        ("seen", seen),
        ("template_name", NAME),
        ("content", content),
    ];
    fields.into_iter().chain([("data", "{\"a\": 1}")]).collect()
}

#[tokio::test]
async fn a_template_without_a_name_is_named_after_its_starter() {
    let editor = Editor::open().await;
    let fields = [("template_name", "  "), ("beginning", "shipping-label")];
    let answer = editor.ann.submit("create-template", &fields).await;
    assert_eq!(answer.status(), 303);
    let newest = "select name from templates order by id desc limit 1";
    assert_eq!(editor.service.text(newest).await, "Shipping label");
}

#[tokio::test]
async fn drafts_are_what_editors_see_and_renders_do_not() {
    let editor = Editor::open().await;
    let (
        Editor {
            service,
            account,
            ann,
            path,
            ..
        },
        id,
    ) = (&editor, editor.id());
    assert!(ann.page("/dashboard/templates").await.contains("Letter &lt;b&gt;"));
    let (_, first) = published(service, account, path).await;

    // A version that isn't published.
    ann.submit("save-template", &saved(id, "1", "<p>\r\n</textarea>&amp;"))
        .await;
    assert_eq!(published(service, account, path).await.1, first);
    let page = ann.page(path).await;
    assert!(page.contains("Version 2, draft. Published: 1"), "{page}");
    assert!(page.contains("&lt;p>\n&lt;/textarea>&amp;amp;</textarea>"), "{page}");
    assert!(ann.page("/dashboard/templates").await.contains("Draft ahead"));
    // Saving the same content again creates no version.
    ann.submit("save-template", &saved(id, "2", "<p>\n</textarea>&amp;"))
        .await;
    assert!(ann.page(path).await.contains("Version 2, draft"));
    // A save that is based on an outdated version is refused.
    ann.submit("save-template", &saved(id, "1", "<p>late")).await;
    assert!(ann.page(path).await.contains("Version 2, draft"));
    // Invalid templates can't be saved.
    ann.submit("save-template", &saved(id, "2", "{{ faulty")).await;
    assert!(ann.page(path).await.contains("Version 2, draft"));

    let publish: Vec<_> = saved(id, "2", "<p>\n</textarea>&amp;")
        .into_iter()
        .chain([("publish", "yes")])
        .collect();
    ann.submit("save-template", &publish).await;
    assert_eq!(published(service, account, path).await.1, "<p>\n</textarea>&amp;");

    let answer = ann.submit("restore-template", &[("id", id), ("number", "1")]).await;
    assert_eq!(header(&answer, "location"), path);
    assert!(ann.page(path).await.contains("Version 3, draft. Published: 2"));
    assert_eq!(published(service, account, path).await.1, "<p>\n</textarea>&amp;");
    let versions = ann.page(&format!("{path}/versions?from=2")).await;
    assert!(
        versions.contains("Restore") && versions.contains("diff__line--added"),
        "{versions}"
    );
}

#[tokio::test]
async fn code_examples_contain_the_sample_data_or_read_its_file() {
    let editor = Editor::open().await;
    let (Editor { ann, path, .. }, id) = (&editor, editor.id());
    let save = async |seen, data: &str| {
        let mut fields = saved(id, seen, "<p>{{ name }}");
        fields.retain(|(name, _)| *name != "data");
        fields.push(("data", data));
        ann.submit("save-template", &fields).await;
    };
    save("1", r#"{"name": "O'Neill"}"#).await;
    let page = ann.page(path).await;
    assert!(
        page.contains("O'\\''Neill") && !page.contains("$(cat data.json)"),
        "{page}"
    );
    let file = ann.get(&format!("{path}/data.json")).await;
    assert_eq!(header(&file, "content-type"), "application/json");
    assert_eq!(
        header(&file, "content-disposition"),
        "attachment; filename=\"data.json\""
    );
    let data: Value = file.json().await.expect("JSON");
    assert_eq!(data, serde_json::json!({"name": "O'Neill"}));

    save("2", &format!(r#"{{"name": "{}"}}"#, "long ".repeat(1000))).await;
    assert!(ann.page(path).await.contains("$(cat data.json)"));
}

#[tokio::test]
async fn templates_of_others_are_not_there() {
    let editor = Editor::open().await;
    let (
        Editor {
            service,
            account,
            ann,
            path,
            ..
        },
        id,
    ) = (&editor, editor.id());
    service.account("bob@example.org");
    let bob = Visitor::log_in(service, "bob@example.org").await;
    let before = published(service, account, path).await;

    for page in [
        path.clone(),
        format!("{path}/versions"),
        format!("{path}/data.json"),
        "/dashboard/templates/none/data.json".to_owned(),
        "/dashboard/templates/none".to_owned(),
    ] {
        assert_eq!(bob.get(&page).await.status(), 404, "{page}");
    }
    assert!(!bob.page("/dashboard/templates").await.contains("Letter &lt;b"));
    let publish: Vec<_> = saved(id, "1", "<p>bob")
        .into_iter()
        .chain([("publish", "yes")])
        .collect();
    bob.submit("save-template", &publish).await;
    bob.submit("restore-template", &[("id", id), ("number", "1")]).await;
    let earlier = [("id", id), ("subject", "1"), ("seen", "1"), ("note", "bob")];
    bob.submit("publish-version", &earlier).await;
    bob.submit("duplicate-template", &[("id", id)]).await;
    bob.submit("delete-template", &[("id", id), ("confirmation", NAME)])
        .await;
    assert_eq!(published(service, account, path).await, before);
    assert!(ann.page(path).await.contains("Version 1, published"));
    assert!(bob.page("/dashboard/templates").await.contains("No templates yet"));

    // The owner must confirm the deletion with the template's name.
    ann.submit("delete-template", &[("id", id), ("confirmation", "Letter")])
        .await;
    assert_eq!(published(service, account, path).await.0, 200);
    ann.submit("delete-template", &[("id", id), ("confirmation", NAME)])
        .await;
    assert_eq!(published(service, account, path).await.0, 404);
}
