//! Translations in the dashboard's editor.

use serde_json::json;

use super::templates::saved;
use crate::support::{editor::Editor, pdf, studio::header};

const CONTENT: &str = "<p>{{ t('total') }}";
const TRANSLATIONS: &str = r#"{"fr": {"total": "Somme"}, "de": {"total": "Gesamt"}}"#;

/// Saves the template with translations. Returns where the answer leads.
async fn save(editor: &Editor, seen: &str, translations: &str) -> String {
    let mut fields = saved(editor.id(), seen, CONTENT);
    fields.push(("translations", translations));
    let answer = editor.ann.submit("save-template", &fields).await;
    header(&answer, "location").to_owned()
}

/// Returns the translations of the newest version as they are stored.
async fn stored(editor: &Editor) -> String {
    let newest = "select translations::text from template_versions order by number desc limit 1";
    editor.service.text(newest).await
}

#[tokio::test]
async fn translations_are_part_of_the_version_that_the_editor_saves() {
    let editor = Editor::open().await;
    let (ann, id, path) = (&editor.ann, editor.id(), &editor.path);
    let first = save(&editor, "1", TRANSLATIONS).await;
    assert!(!first.contains("__err="), "{first}");
    // The order of the languages counts.
    assert_eq!(stored(&editor).await, TRANSLATIONS.replace(' ', ""));
    let page = ann.page(path).await;
    assert!(
        page.contains("{\n  \"fr\": {\n    \"total\": \"Somme\"\n  },"),
        "{page}"
    );
    assert!(page.contains("<option value=\"de\">"), "{page}");

    // Forms of older pages don't have them.
    ann.submit("save-template", &saved(id, "2", "<h1>{{ t('total') }}"))
        .await;
    assert_eq!(stored(&editor).await, TRANSLATIONS.replace(' ', ""));
    for faulty in [
        r#"{"de": {"total": 1}}"#,
        "{\"de\"",
        "[]",
        "7",
        r#"{"de": {}, "de": {}}"#,
    ] {
        let refused = save(&editor, "3", faulty).await;
        assert!(refused.contains("__err="), "{faulty}");
        let (_, error) = refused.split_once('?').expect("an error");
        let page = ann.page(&format!("{path}?{error}")).await;
        assert!(
            page.contains("The translations have an error, or are larger than 512 KiB"),
            "{page}"
        );
    }
    assert!(ann.page(path).await.contains("Version 3, draft"));
    save(&editor, "3", "\r\n").await;
    assert_eq!(stored(&editor).await, "{}");
}

#[tokio::test]
async fn changes_of_translations_are_shown_like_those_of_the_html() {
    let editor = Editor::open().await;
    save(&editor, "1", TRANSLATIONS).await;
    save(&editor, "2", &TRANSLATIONS.replace("Gesamt", "Summe")).await;
    let page = editor.ann.page(&format!("{}/versions?from=2&to=3", editor.path)).await;
    assert!(
        page.contains("Changes of Translations") && page.contains("HTML is the same."),
        "{page}"
    );
    assert!(page.contains(">Summe</"), "{page}");
}

#[tokio::test]
async fn the_preview_has_the_typed_translations_in_the_language_of_its_choice() {
    let editor = Editor::open().await;
    let path = format!("{}/preview.pdf", editor.path);
    let preview = async |translations: &str, language: &str| {
        let fields = [
            ("template_name", "n"),
            ("content", CONTENT),
            ("data", "{}"),
            ("translations", translations),
            ("paper-language", language),
        ];
        let answer = editor.ann.submit_to(&path, &fields).await;
        (answer.status().as_u16(), answer.bytes().await.expect("a document"))
    };
    for (language, expected) in [("", "Somme"), ("de-AT", "Gesamt"), ("it", "Somme"), ("de-", "Somme")] {
        let (status, document) = preview(TRANSLATIONS, language).await;
        assert_eq!(status, 200);
        assert!(pdf::text(&document).contains(expected), "{language}");
    }
    for (translations, language, expected) in [
        ("{\r\n \"de\": {\r\n  \"total\": 1}}", "", "Line 3 of the translations."),
        ("{\r\n \"de\": x}", "", "Line 2 of the translations."),
        ("{\"de\": {},\r\n \"de\": {}}", "", "Must be given only once"),
    ] {
        let (status, page) = preview(translations, language).await;
        let page = String::from_utf8_lossy(&page);
        assert_eq!(status, 422, "{page}");
        assert!(page.contains(expected), "{page}");
    }
}

#[tokio::test]
async fn mistakes_in_translations_are_marked_where_they_are() {
    let editor = Editor::open().await;
    let wanted = json!({
        "wanted": {
            "id": editor.id(), "content": CONTENT, "data": "{}", "translations": "{\"de\": {\n  \"a\": {\"b\": []}}}",
            "paper": {"size": "A4", "landscape": false, "scale": "1", "margins": ["", "", "", ""], "prefer_css": true,
                      "backgrounds": true},
            "dots_per_inch": 96, "page": 1,
        }
    });
    let remark = editor.ann.call_with_json("preview-template", &wanted).await;
    assert_eq!(remark.pointer("/Faulty/subject"), Some(&json!("de.a.b")), "{remark}");
    let place = json!({"pane": "Translations", "line": 2, "column": 9, "length": 3});
    assert_eq!(remark.pointer("/Faulty/place"), Some(&place), "{remark}");
}
