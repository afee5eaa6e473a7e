//! The settings of templates: their kind and handle, and the templates that use a partial.

use super::templates::published;
use crate::support::{
    editor::{Editor, NAME},
    studio::header,
};

const FOOTER: &str = "<p>Footer</p>";

/// Saves and publishes the content of a template, given by id and name. Returns where the form leads.
async fn publish(editor: &Editor, (id, name): (&str, &str), seen: &str, content: &str) -> String {
    let fields = [
        ("id", id),
        ("seen", seen),
        ("template_name", name),
        ("content", content),
        ("data", "{}"),
        ("publish", "yes"),
    ];
    let answer = editor.ann.submit("save-template", &fields).await;
    header(&answer, "location").to_owned()
}

/// Like [`publish`], which must succeed.
async fn published_as(editor: &Editor, template: (&str, &str), seen: &str, content: &str) {
    let path = publish(editor, template, seen, content).await;
    assert!(!path.contains("__err"), "{path}");
}

/// Creates a template, which must succeed, and returns its id.
async fn created(editor: &Editor, fields: &[(&str, &str)]) -> String {
    let fields = [fields, &[("beginning", "blank")]].concat();
    let answer = editor.ann.submit("create-template", &fields).await;
    let path = header(&answer, "location");
    assert!(!path.contains("__err"), "{path}");
    path.rsplit('/').next().expect("an id").to_owned()
}

async fn partial(editor: &Editor, handle: &str) -> String {
    let fields = [
        ("template_name", handle),
        ("template_kind", "partial"),
        ("template_handle", handle),
    ];
    created(editor, &fields).await
}

#[tokio::test]
async fn a_new_partial_starts_with_a_fragment_instead_of_a_page() {
    let editor = Editor::open().await;
    let id = partial(&editor, "footer").await;
    let content = format!("select content from template_versions where template_id = '{id}'");
    let content = editor.service.text(&content).await;
    assert!(content.contains("<footer>") && !content.contains("<html"), "{content}");
    let page = editor.ann.page(&format!("/dashboard/templates/{id}")).await;
    assert!(page.contains("Acme GmbH"), "{page}");
}

#[tokio::test]
async fn kind_and_handle_are_chosen_and_changed() {
    let editor = Editor::open().await;
    let Editor { ann, path, .. } = &editor;
    let id = editor.id();
    let change = async |kind: &str, handle: &str| {
        let fields = [("id", id), ("template_kind", kind), ("template_handle", handle)];
        let answer = ann.submit("change-template-kind", &fields).await;
        header(&answer, "location").to_owned()
    };
    assert_eq!(change("partial", "letter").await, format!("{path}/settings?done=saved"));
    let page = ann.page(&format!("{path}/settings?done=saved")).await;
    assert!(
        page.contains("Kind and handle saved.") && page.contains("value=\"letter\""),
        "{page}"
    );
    assert!(page.contains("No published template uses this partial."), "{page}");
    let list = ann.page("/dashboard/templates").await;
    assert!(list.contains("Partial <!>") || list.contains("Partial "), "{list}");
    assert!(list.contains("<code>letter</code>"), "{list}");
    // The playground offers only what can be rendered.
    assert!(!ann.page("/dashboard/playground").await.contains(id));
    for (kind, handle) in [("partial", ""), ("partial", "Letter"), ("document", "a b")] {
        assert!(change(kind, handle).await.contains("__err"), "{kind} {handle}");
    }
    partial(&editor, "footer").await;
    assert!(change("partial", "footer").await.contains("__err"));
    let page = ann.page(&format!("{path}/settings")).await;
    assert!(page.contains("value=\"letter\""), "{page}");
    assert_eq!(change("document", "").await, format!("{path}/settings?done=saved"));
}

#[tokio::test]
async fn templates_that_use_a_partial_are_listed_and_published_together() {
    let editor = Editor::open().await;
    let Editor {
        service,
        account,
        ann,
        path,
        ..
    } = &editor;
    let footer = partial(&editor, "footer").await;
    published_as(&editor, (&footer, "footer"), "1", FOOTER).await;
    let wrapper = partial(&editor, "wrapper").await;
    published_as(&editor, (&wrapper, "wrapper"), "1", "{% include 'footer' %}").await;
    let content = "<style>@page { size: a6 }</style>{% include 'wrapper' %}";
    published_as(&editor, (editor.id(), NAME), "1", content).await;
    let other = created(&editor, &[("template_name", "Other")]).await;
    published_as(&editor, (&other, "Other"), "1", content).await;

    let settings = format!("/dashboard/templates/{footer}/settings");
    let page = ann.page(&settings).await;
    assert!(
        page.contains("Letter &lt;b&gt;") && page.contains("Other") && page.contains("wrapper"),
        "{page}"
    );
    assert!(
        page.contains("Up to date") && !page.contains("Publish the selected templates"),
        "{page}"
    );
    assert!(
        page.contains("Both can be changed once no published template uses it."),
        "{page}"
    );
    // It can't be deleted, and says why.
    let deleted = ann
        .submit("delete-template", &[("id", &footer), ("confirmation", "footer")])
        .await;
    assert_eq!(header(&deleted, "location"), format!("{settings}?done=kept"));
    assert!(
        ann.page(&format!("{settings}?done=kept"))
            .await
            .contains("can't be deleted")
    );

    published_as(&editor, (&footer, "footer"), "2", "<p>Footer two</p>").await;
    let page = ann.page(&settings).await;
    assert!(
        page.contains("Older version") && page.contains("Publish the selected templates"),
        "{page}"
    );
    let compared = ann.page(&format!("{path}/pages?older=2&newer=2&set=Default")).await;
    assert!(compared.contains("1 of 1 page differs"), "{compared}");
    let versions =
        "select string_agg(version || ': ' || partial_version, ', ' order by version) from template_version_partials
                    where handle = 'footer' and template_id = ";
    let versions = async |id: &str| service.text(&format!("{versions}'{id}'")).await;
    let chosen = [format!("{}:2", editor.id()), format!("{other}:1")];
    let fields = [
        ("id", footer.as_str()),
        ("chosen[0]", &chosen[0]),
        ("chosen[1]", &chosen[1]),
    ];
    let answer = ann.submit("publish-users-of-partial", &fields).await;
    // The page showed an older version of the second template.
    assert!(
        header(&answer, "location").contains("__err"),
        "{}",
        header(&answer, "location")
    );
    assert_eq!(versions(editor.id()).await, "2: 2, 3: 3");
    assert_eq!(versions(&other).await, "2: 2");
    let chosen = format!("{other}:2");
    let answer = ann
        .submit(
            "publish-users-of-partial",
            &[("id", footer.as_str()), ("chosen[0]", &chosen)],
        )
        .await;
    assert_eq!(header(&answer, "location"), format!("{settings}?done=published"));
    assert_eq!(versions(&other).await, "2: 2, 3: 3");
    assert_eq!(published(service, account, path).await.1, content);
    let page = ann.page(&settings).await;
    assert!(page.contains("Up to date") && !page.contains("Older version"), "{page}");
    let history = ann.page(&format!("{path}/versions")).await;
    assert!(history.contains("Version 3 of the partial footer"), "{history}");
    service.storage_is_counted().await;
}

#[tokio::test]
async fn a_template_whose_partials_are_missing_stays_a_draft() {
    let editor = Editor::open().await;
    let path = publish(&editor, (editor.id(), NAME), "1", "{% include 'nothing' %}").await;
    assert!(path.contains("__err"), "{path}");
    assert!(editor.ann.page(&editor.path).await.contains("Version 2, draft"));
    // The name of a partial must be known before the template is filled.
    publish(&editor, (editor.id(), NAME), "2", "{% include nothing %}").await;
    assert!(editor.ann.page(&editor.path).await.contains("Version 2, draft"));
}

#[tokio::test]
async fn a_template_with_a_draft_is_left_to_its_author() {
    let editor = Editor::open().await;
    let Editor { ann, path, .. } = &editor;
    let footer = partial(&editor, "footer").await;
    published_as(&editor, (&footer, "footer"), "1", FOOTER).await;
    published_as(&editor, (editor.id(), NAME), "1", "{% include 'footer' %}").await;
    let draft = [
        ("id", editor.id()),
        ("seen", "2"),
        ("template_name", NAME),
        ("content", "<p>Draft {% include 'footer' %}"),
        ("data", "{}"),
    ];
    ann.submit("save-template", &draft).await;
    published_as(&editor, (&footer, "footer"), "2", "<p>Footer two</p>").await;
    let settings = format!("/dashboard/templates/{footer}/settings");
    let page = ann.page(&settings).await;
    assert!(
        page.contains("Has a draft: publish it") && !page.contains("Publish the selected templates"),
        "{page}"
    );
    let chosen = format!("{}:2", editor.id());
    let fields = [("id", footer.as_str()), ("chosen[0]", &chosen)];
    let answer = ann.submit("publish-users-of-partial", &fields).await;
    assert!(header(&answer, "location").contains("__err"));
    assert!(ann.page(path).await.contains("Version 3, draft"));
}
