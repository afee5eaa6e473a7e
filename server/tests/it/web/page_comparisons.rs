//! What changes on the pages between two versions of a template.

use super::templates::saved;
use crate::support::editor::Editor;

/// A page with little content, so that one word changes few pixels.
const SHEET: &str = "<style>@page { size: a6 }</style><h1>{{ a }}</h1>";

/// Returns the pictures of a page with their alternative texts, in order.
fn pictures(page: &str) -> Vec<(String, String)> {
    let images = page.split("<img ").skip(1);
    let attribute = |image: &str, name: &str| {
        let (_, rest) = image.split_once(&format!("{name}=\"")).expect("the attribute");
        rest.split('"').next().expect("its end").to_owned()
    };
    images
        .filter(|image| image.contains("data:image/png"))
        .map(|image| (attribute(image, "alt"), attribute(image, "src")))
        .collect()
}

#[tokio::test]
async fn changed_pages_are_shown_before_and_after_for_each_set() {
    let editor = Editor::open().await;
    let Editor { service, ann, path, .. } = &editor;
    let id = path.rsplit('/').next().expect("an id");
    let sets = r#"[{"name": "Default", "data": "{\"a\": 1}"}, {"name": "Two & 50%20more", "data": "{\"a\": 2, \"b\": true}"}]"#;
    let save = async |seen: &str, content: &str| {
        let fields: Vec<_> = saved(id, seen, content).into_iter().chain([("sets", sets)]).collect();
        ann.submit("save-template", &fields).await;
    };
    save("1", SHEET).await;
    save("2", &format!("{SHEET}<p>New</p>")).await;
    save(
        "3",
        &format!("{SHEET}{{% if b %}}<p style='break-before: page'>Second</p>{{% endif %}}"),
    )
    .await;
    save("4", &format!("{SHEET}{{{{ 'no date'|date }}}}")).await;
    let compared = async |older: u8, newer: u8, set: &str| {
        ann.page(&format!("{path}/pages?older={older}&newer={newer}&set={set}"))
            .await
    };

    // All sets are listed, and none is rendered without being asked for.
    let list = ann.page(&format!("{path}/pages?older=2&newer=3")).await;
    assert!(list.contains("Two &amp; 50%20more"), "{list}");
    assert!(list.contains("set=Two%20%26%2050%252520more"), "{list}");
    assert!(pictures(&list).is_empty());

    let changed = compared(2, 3, "Default").await;
    assert!(changed.contains("1 of 1 page differs"), "{changed}");
    let (before, _) = changed.split_once(" % of the page differs").expect("the share");
    let share = before
        .rsplit(['>', ' '])
        .next()
        .expect("a number")
        .parse()
        .unwrap_or(0.0);
    assert!((0.1..9.9).contains(&share), "{share}");
    let shown = pictures(&changed);
    let texts: Vec<_> = shown.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "Page 1 in version 2",
            "Page 1 in version 3",
            "Page 1: removed areas in red, added areas in green"
        ]
    );
    assert!(shown[0].1 != shown[1].1 && shown[1].1 != shown[2].1, "three pictures");

    for same in [compared(2, 2, "Default").await, compared(2, 4, "Default").await] {
        assert!(same.contains("No visible change"), "{same}");
        assert!(same.contains("1 unchanged page"), "{same}");
        assert!(pictures(&same).is_empty());
    }

    let more = compared(2, 4, "Two%20%26%2050%252520more").await;
    assert!(more.contains("1 page more"), "{more}");
    assert!(more.contains("Page 2, added"), "{more}");
    let shown = pictures(&more);
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0].0, "Page 2 in version 4");
    let fewer = compared(4, 2, "Two%20%26%2050%252520more").await;
    assert!(fewer.contains("1 page fewer"), "{fewer}");
    assert_eq!(pictures(&fewer)[0].0, "Page 2 in version 4");

    let failed = compared(2, 5, "Default").await;
    assert!(failed.contains("Failed to render"), "{failed}");
    assert!(failed.contains("Version 5 failed to render: Line 1"), "{failed}");
    let gone = compared(2, 3, "Nothing").await;
    assert!(gone.contains("This set of sample data no longer exists"), "{gone}");
    for missing in ["older=2&newer=9", "older=0&newer=2"] {
        assert_eq!(
            ann.get(&format!("{path}/pages?{missing}")).await.status(),
            404,
            "{missing}"
        );
    }
    // Nothing is charged or recorded.
    assert_eq!(service.number("select count(*) from renders").await, 0);
}

#[tokio::test]
async fn a_read_only_account_renders_nothing() {
    let editor = Editor::open().await;
    let Editor {
        service,
        account,
        ann,
        path,
        ..
    } = &editor;
    let suspended = format!("update accounts set suspended_at = now() where id = '{}'", account.id);
    assert_eq!(service.execute(&suspended).await, 1);
    assert_eq!(ann.get(&format!("{path}/pages")).await.status(), 200);
    assert_eq!(ann.get(&format!("{path}/pages?set=Default")).await.status(), 403);
}
