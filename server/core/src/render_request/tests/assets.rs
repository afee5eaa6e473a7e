//! Assets of a request.

use super::*;

/// `p{}` in base64.
const CSS: &str = "cHt9";

#[tokio::test]
async fn assets_are_files_by_name() {
    let sound = request(&format!(
        r#""assets": {{"css/a.css": "{CSS}", "logo.gif": "R0lGODlh"}}"#
    ));
    let assets = sound.assets.clone().served();
    for (name, content_type, bytes) in [
        ("css/a.css", "text/css; charset=utf-8", &b"p{}"[..]),
        ("logo.gif", "image/gif", b"GIF8"),
    ] {
        let asset = assets.find(name).await.expect("an asset");
        assert_eq!(
            (asset.content_type, asset.bytes.starts_with(bytes)),
            (content_type, true)
        );
    }
    assert_eq!(sound.options["assets"], json!({"count": 2, "bytes": 9}));
    assert!(request(r#""scale": 1"#).assets.is_empty());
}

#[test]
fn every_fault_of_an_asset_is_listed_at_its_name() {
    for (name, content, detail) in [
        ("a.css", "cHt9=", "Must be base64"),
        ("a.css", "cH t9", "Must be base64"),
        ("a.css", "ftp://example.com/a.css", "an http:// or https:// URL"),
        ("a.css", "https://", "Must be a valid URL"),
        ("a.html", CSS, "Must be a picture"),
        ("../a.css", CSS, "relative paths"),
        ("a?.css", CSS, "letters, digits"),
        ("a.css", "", ""),
    ] {
        let found = problems(&with(&format!(
            r#""assets": {{"fine.css": "{CSS}", "{name}": "{content}"}}"#
        )));
        if detail.is_empty() {
            assert!(found.is_empty(), "{found:?}");
            continue;
        }
        let pointer = format!("/assets/{}", name.replace('/', "~1"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].pointer, pointer);
        assert!(found[0].detail.contains(detail), "{found:?}");
    }
    let many: Vec<_> = (0..101).map(|index| format!(r#""{index}.css": "{CSS}""#)).collect();
    assert_problems(&with(&format!(r#""assets": {{{}}}"#, many.join(","))), &["/assets"]);
    assert_problems(&with(r#""assets": {"a.css": 1}"#), &["/assets/a.css"]);
    assert_problems(&with(r#""assets": []"#), &["/assets"]);
}

#[test]
fn a_key_for_certain_templates_brings_no_assets() {
    let refused = request(&format!(r#""assets": {{"a.css": "{CSS}"}}"#)).check_content();
    assert!(refused.expect_err("refused").to_string().contains("/assets"));
}
