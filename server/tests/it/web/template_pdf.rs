//! The PDF of the editor's content.

use crate::support::{editor::Editor, pdf, studio::header, visitor::Visitor};

/// The fields of the editor's form.
fn form<'a>(content: &'a str, data: &'a str, scale: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("template_name", "Größe 7/8"),
        ("content", content),
        ("data", data),
        ("paper-size", "A5"),
        ("paper-orientation", "landscape"),
        ("paper-scale", scale),
        ("paper-margin-0", "10"),
        ("paper-from-page", "on"),
        ("paper-backgrounds", "on"),
    ]
}

#[tokio::test]
async fn the_editors_content_is_a_pdf_without_being_saved_or_charged() {
    let opened = Editor::open().await;
    let Editor {
        service,
        ann,
        path: editor,
        ..
    } = &opened;
    let path = format!("{editor}/preview.pdf");

    let page = ann.page(editor).await;
    assert!(page.contains(&format!("formaction=\"{path}\"")), "{page}");
    let answer = ann
        .submit_to(&path, &form("<p>Dear {{ name }}", r#"{"name": "Zoë"}"#, "1"))
        .await;
    assert_eq!(answer.status(), 200);
    assert_eq!(header(&answer, "content-type"), "application/pdf");
    let name = "inline; filename=\"Gr__e 7-8.pdf\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%207-8.pdf";
    assert_eq!(header(&answer, "content-disposition"), name);
    assert_eq!(header(&answer, "cache-control"), "no-store");
    assert!(header(&answer, "content-security-policy").contains("frame-ancestors 'none'"));
    let document = answer.bytes().await.expect("a document");
    assert!(pdf::text(&document).contains("Dear Zoë"));
    let pixels = pdf::picture(&document, 1).pixels;
    let inked = pixels.iter().filter(|byte| **byte != 255).count();
    assert!(inked > 1000, "a word lies across the page");
    assert!(pdf::info(&document).contains("595"), "the longer side of A5 in points");
    assert_eq!(service.number("select count(*) from renders").await, 0);
    assert!(ann.page(editor).await.contains("Version 1, published"));

    // Opened by its address, as after a log-in, it leads to the editor.
    let answer = ann.get(&path).await;
    assert_eq!(
        (answer.status().as_u16(), header(&answer, "location")),
        (303, editor.as_str())
    );
}

#[tokio::test]
async fn content_that_cannot_be_rendered_is_explained_on_a_page() {
    let opened = Editor::open().await;
    let Editor { ann, path: editor, .. } = &opened;
    let path = format!("{editor}/preview.pdf");
    for (content, data, scale, expected) in [
        ("<p>\r\n{{ a|nope }}", "{}", "1", "Line 2 of the HTML."),
        ("<p>", "{\r\n\"a\": ,}", "1", "Line 2 of the sample data."),
        ("<p>", "{}", "9", "scale"),
        ("", "{}", "1", "content"),
    ] {
        let answer = ann.submit_to(&path, &form(content, data, scale)).await;
        assert_eq!(answer.status(), 422, "{expected}");
        assert!(header(&answer, "content-type").starts_with("text/html"));
        let page = answer.text().await.expect("a page");
        assert!(page.contains(expected), "{page}");
    }
}

#[tokio::test]
async fn only_members_of_the_account_get_the_pdf_and_only_from_our_pages() {
    let opened = Editor::open().await;
    let Editor {
        service,
        account,
        ann,
        path: editor,
        ..
    } = &opened;
    service.account("bob@example.org");
    let bob = Visitor::log_in(service, "bob@example.org").await;
    let path = format!("{editor}/preview.pdf");
    let fields = form("<p>", "{}", "1");
    assert_eq!(bob.submit_to(&path, &fields).await.status(), 404);
    let nobodys = "/dashboard/templates/none/preview.pdf";
    assert_eq!(ann.submit_to(nobodys, &fields).await.status(), 404);
    assert_eq!(ann.get(nobodys).await.status(), 404);
    assert_eq!(ann.post_to(&path, &fields).await.status(), 403, "without the token");

    let mut operator = Visitor::operator(service, "op@example.org").await;
    let page = format!("/admin/accounts/{}", account.id);
    let look = [("subject", account.id.as_str()), ("reason", "x")];
    let answer = operator.submit_from(&page, "look-into-account", &look).await;
    operator.remember(&answer);
    assert_eq!(operator.submit_to(&path, &fields).await.status(), 403, "read-only");

    service
        .command(&["accounts", "suspend", "--email", "ann@example.org"], "")
        .succeeded();
    assert_eq!(ann.submit_to(&path, &fields).await.status(), 403, "suspended");
}
