//! Versions of templates in the dashboard: their notes, their publication, and what they change.

use serde_json::{Value, json};

use super::templates::{published, saved};
use crate::support::{
    editor::Editor,
    service::{TestAccount, TestService},
    studio::header,
    visitor::Visitor,
};

/// Saves a version and publishes it with a note.
async fn publish(visitor: &Visitor, id: &str, seen: &str, content: &str, note: &str) {
    let fields: Vec<_> = saved(id, seen, content)
        .into_iter()
        .chain([("publish", "yes"), ("note", note)])
        .collect();
    visitor.submit("save-template", &fields).await;
}

/// Returns the number of the published version as clients of the API see it.
async fn tag(service: &TestService, account: &TestAccount, id: &str) -> String {
    let request = service.client.get(service.url(&format!("/api/v1/templates/{id}")));
    let answer = request.bearer_auth(&account.key).send().await.expect("an answer");
    header(&answer, "etag").to_owned()
}

async fn notes(service: &TestService) -> String {
    let notes = "select coalesce(json_agg(note order by number), '[]')::text from template_versions";
    service.text(notes).await
}

#[tokio::test]
async fn a_note_is_stored_with_the_version_that_is_published_and_shown_in_the_list_only() {
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

    publish(ann, id, "1", "<p>second", " New <b>logo</b>,\r\n  VAT by rate ").await;
    assert_eq!(notes(service).await, r#"[null, "New <b>logo</b>, VAT by rate"]"#);
    let page = ann.page(&format!("{path}/versions")).await;
    assert!(page.contains("New &lt;b&gt;logo&lt;/b&gt;, VAT by rate"), "{page}");
    // Publishing the same content again replaces only the note, and no note leaves it.
    publish(ann, id, "2", "<p>second", "New logo").await;
    publish(ann, id, "2", "<p>second", "\r\n").await;
    assert_eq!(notes(service).await, r#"[null, "New logo"]"#);
    // A draft has no note.
    let draft: Vec<_> = saved(id, "2", "<p>third")
        .into_iter()
        .chain([("note", "draft")])
        .collect();
    ann.submit("save-template", &draft).await;
    assert_eq!(notes(service).await, r#"[null, "New logo", null]"#);

    for note in ["ä".repeat(501), "a\u{1b}b".to_owned()] {
        let fields: Vec<_> = saved(id, "3", "<p>fourth")
            .into_iter()
            .chain([("publish", "yes"), ("note", &*note)])
            .collect();
        let answer = ann.submit("save-template", &fields).await;
        assert!(header(&answer, "location").contains("__err="), "{note}");
    }
    assert_eq!(published(service, account, path).await.1, "<p>second");
    assert_eq!(notes(service).await, r#"[null, "New logo", null]"#);
    publish(ann, id, "3", "<p>third", &"ä".repeat(500)).await;
    assert_eq!(published(service, account, path).await.1, "<p>third");

    // The API doesn't know notes.
    let url = service.url(&format!("/api/v1/templates/{id}/versions"));
    let versions = service.client.get(url).bearer_auth(&account.key).send().await;
    let versions: Value = versions.expect("an answer").json().await.expect("JSON");
    let members: Vec<_> = versions["data"][0].as_object().expect("an object").keys().collect();
    assert_eq!(members, ["number", "name", "published", "created_by", "inserted_at"]);
}

#[tokio::test]
async fn any_version_can_be_published_and_the_number_of_the_published_one_only_grows() {
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
    let (_, first) = published(service, account, path).await;
    publish(ann, id, "1", "<p>second", "").await;
    ann.submit("save-template", &saved(id, "2", "<p>draft")).await;

    let page = ann.page(&format!("{path}/versions")).await;
    assert!(
        page.contains("This replaces version 2: version 1 is saved as a new version and published."),
        "{page}"
    );
    assert!(
        page.contains("This replaces version 2, which is published now."),
        "{page}"
    );
    assert!(
        page.contains("id=\"publish-1\"") && page.contains("id=\"publish-3\""),
        "{page}"
    );
    assert!(!page.contains("id=\"publish-2\""), "the published version: {page}");

    // A draft takes the place of the published version.
    let draft = [("id", id), ("subject", "3"), ("seen", "2"), ("note", "As drafted")];
    let answer = ann.submit("publish-version", &draft).await;
    assert_eq!(header(&answer, "location"), format!("{path}/versions?done=published"));
    assert_eq!(published(service, account, path).await.1, "<p>draft");
    assert_eq!(tag(service, account, id).await, "\"3\"");

    // Who has seen another version as the published one is asked again.
    let outdated = [("id", id), ("subject", "1"), ("seen", "2"), ("note", "Back")];
    let answer = ann.submit("publish-version", &outdated).await;
    assert!(header(&answer, "location").contains("__err="));
    let answer = ann
        .call(
            "publish-version",
            &outdated.map(|(name, value)| (name, value.to_owned())),
        )
        .await;
    assert_eq!(answer["Rejected"]["reason"], "published_meanwhile", "{answer}");
    assert_eq!(published(service, account, path).await.1, "<p>draft");

    // An earlier version returns as a new one.
    let earlier = [
        ("id", id),
        ("subject", "1"),
        ("seen", "3"),
        ("note", "Back to the first"),
    ];
    let answer = ann.submit("publish-version", &earlier).await;
    assert_eq!(header(&answer, "location"), format!("{path}/versions?done=published"));
    assert_eq!(published(service, account, path).await.1, first);
    assert_eq!(tag(service, account, id).await, "\"4\"");
    assert_eq!(
        notes(service).await,
        r#"[null, null, "As drafted", "Back to the first"]"#
    );
    assert!(ann.page(path).await.contains("Version 4, published"));
    let log = ann.page("/dashboard/team/log").await;
    for number in [2, 3, 4] {
        assert!(
            log.contains(&format!("published version {number} of the template")),
            "{log}"
        );
    }

    // Nothing is published with an invalid note, or of a version that doesn't exist.
    for (number, note) in [("2", "ä".repeat(501)), ("9", String::new()), ("-1", String::new())] {
        let fields = [("id", id), ("subject", number), ("seen", "4"), ("note", &*note)];
        let answer = ann.submit("publish-version", &fields).await;
        assert!(header(&answer, "location").contains("__err="), "{number}");
    }
    assert_eq!(tag(service, account, id).await, "\"4\"");
}

#[tokio::test]
async fn the_editor_is_compared_with_the_published_version() {
    let editor = Editor::open().await;
    let (Editor { ann, .. }, id) = (&editor, editor.id());
    publish(ann, id, "1", "<h1>Invoice</h1>\n<p>{{ total }}", "").await;
    // Drafts make no difference.
    ann.submit("save-template", &saved(id, "2", "<p>draft")).await;
    let compared = async |content: &str| {
        let fields = [("id", id), ("content", content), ("translations", "{}")];
        let fields = fields.map(|(name, value)| (name, value.to_owned()));
        ann.call("compare-draft", &fields).await
    };

    let same = compared("<h1>Invoice</h1>\n<p>{{ total }}").await;
    assert_eq!((&same["published"], &same["html"]), (&json!(2), &json!("Equal")));
    assert_eq!(same["translations"], "Equal");
    let ended = compared("<h1>Invoice</h1>\r\n<p>{{ total }}\n").await;
    assert_eq!(ended["html"], "LineBreaks");
    // Content with errors is compared as well.
    let edited = compared("<h1>Credit note</h1>\n<p>{{ total").await;
    let changes = &edited["html"]["Changes"];
    assert_eq!((&changes["removed"], &changes["added"]), (&json!(2), &json!(2)));
    let block = &changes["blocks"][0]["Changed"];
    assert_eq!(
        block["added"][0]["segments"][1],
        json!({"text": "Credit note", "changed": true}),
        "{edited}"
    );

    let many: Vec<_> = (0..40_000).map(|line| format!("<p>{line}\n")).collect();
    let large = compared(&many.concat()).await;
    assert_eq!(large["html"]["Changes"]["added"], 40_000);
    assert!(large.to_string().len() < 100_000);
    assert_eq!(compared(&"x".repeat(1_000_000)).await["html"]["Changes"]["added"], 1);
}

#[tokio::test]
async fn any_two_versions_are_compared_however_large_they_are() {
    let editor = Editor::open().await;
    let (Editor { ann, path, .. }, id) = (&editor, editor.id());
    let lines = |changed: &str| {
        let line = |number| match number {
            150 => format!("<p>This is {changed} <b></p>\n"),
            number => format!("<p>{number}</p>\n"),
        };
        (0..300).map(line).collect::<String>()
    };
    ann.submit("save-template", &saved(id, "1", &lines("before"))).await;
    ann.submit("save-template", &saved(id, "2", &lines("after"))).await;

    let unified = ann.page(&format!("{path}/versions?from=2&to=3")).await;
    assert!(unified.contains("… 147 unchanged lines"), "{unified}");
    assert!(
        unified.contains("<mark class=\"diff__word\">before</mark>"),
        "{unified}"
    );
    assert!(
        unified.contains("<mark class=\"diff__word\">after</mark> &lt;b&gt;&lt;/p&gt;</ins>"),
        "{unified}"
    );
    assert!(unified.contains("1 line removed, 1 line added"), "{unified}");
    assert!(unified.contains("<table class=\"split-diff\">"), "{unified}");
    assert!(unified.contains("Sample data is the same."), "{unified}");
    // The older one is on the left, however they are chosen.
    let heading = "Version 2 compared with version 3 (newest)";
    for chosen in ["from=2&to=3", "from=3&to=2", "from=2"] {
        let page = ann.page(&format!("{path}/versions?{chosen}")).await;
        assert!(page.contains(heading), "{chosen}: {page}");
    }
    let earlier = ann.page(&format!("{path}/versions?from=1&to=2")).await;
    assert!(earlier.contains("Version 1 compared with version 2<"), "{earlier}");
    for missing in ["from=1&to=9", "from=0&to=2", "from=9"] {
        let answer = ann.get(&format!("{path}/versions?{missing}")).await;
        assert_eq!(answer.status(), 404, "{missing}");
    }

    let many = |word: &str| {
        (0..20_000)
            .map(|line| format!("{word} {line}\n"))
            .collect::<Vec<_>>()
            .concat()
    };
    ann.submit("save-template", &saved(id, "3", &many("one"))).await;
    ann.submit("save-template", &saved(id, "4", &many("two"))).await;
    ann.submit("save-template", &saved(id, "5", &"x".repeat(1_000_000)))
        .await;
    let page = ann.page(&format!("{path}/versions?from=5&to=6")).await;
    assert!(page.contains("20,000 lines removed, 1 line added"), "{page}");
    assert!(page.contains("19,001 more changed lines"), "{page}");
    assert!(page.contains("… 999,500 characters …"), "{page}");
    assert!(page.len() < 2_000_000, "{}", page.len());
}
