//! Channels in the dashboard: the owner's settings, promotions, and their approval by another member.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    editor::{Editor, NAME},
    pdf,
    studio::header,
    visitor::Visitor,
};

/// Sets the channels of the account. Returns where the form leads.
async fn set_channels(ann: &Visitor, channels: &str, approval: bool) -> String {
    let approval: &[(&str, &str)] = if approval { &[("approval", "on")] } else { &[] };
    let fields = [&[("channels", channels)], approval].concat();
    let answer = ann.submit("set-channels", &fields).await;
    header(&answer, "location").to_owned()
}

/// Sets the channels, which must succeed.
async fn with_channels(ann: &Visitor, channels: &str, approval: bool) {
    let path = set_channels(ann, channels, approval).await;
    assert_eq!(path, "/dashboard/settings?done=channels");
}

/// Promotes a version. Returns where the form leads.
async fn promote(visitor: &Visitor, editor: &Editor, subject: &str, time: &str) -> String {
    let fields = [("id", editor.id()), ("subject", subject), ("due_at", time)];
    let answer = visitor.submit("promote-template", &fields).await;
    header(&answer, "location").to_owned()
}

/// Saves and publishes a text as the version after `seen`.
async fn publish(visitor: &Visitor, editor: &Editor, seen: &str, content: &str) {
    let fields = [
        ("id", editor.id()),
        ("seen", seen),
        ("template_name", NAME),
        ("content", content),
        ("data", "{}"),
        ("publish", "yes"),
    ];
    let answer = visitor.submit("save-template", &fields).await;
    let path = header(&answer, "location");
    assert!(!path.contains("__err"), "{path}");
}

/// Returns the text of a render by the account's key.
async fn rendered(editor: &Editor) -> String {
    let template = json!({"type": "template", "content": {"template_id": editor.id()}});
    let body = json!({"parts": [template], "output_encoding": "binary"});
    let client = &editor.service.client;
    let request = client.request(Method::POST, editor.service.url("/api/v1/renderers/pdf"));
    let answer = request.bearer_auth(&editor.account.key).json(&body).send().await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.status(), 200);
    pdf::text(&answer.bytes().await.expect("a document")).trim().to_owned()
}

/// Makes Bob a member of Ann's account.
async fn join(editor: &Editor, email: &str) -> Visitor {
    editor.service.account(email);
    editor.service.join(&editor.account.id, email, "member").await;
    let mut member = Visitor::log_in(&editor.service, email).await;
    member.switch_to(&editor.account.id).await;
    member
}

/// Asserts that the page of a form says with this sentence why it was refused. `location` is where the form leads.
async fn refused(visitor: &Visitor, page: &str, location: &str, sentence: &str) {
    let (_, error) = location.split_once('?').expect("an error");
    let answer = visitor.get(&format!("{page}?{error}")).await;
    let page = answer.text().await.expect("a page");
    assert!(page.contains(sentence), "{location}: {page}");
}

/// Compares the pages of two versions with the first set of sample data.
async fn compare(visitor: &Visitor, editor: &Editor, older: i32, newer: i32) {
    let query = format!("older={older}&newer={newer}&set=Default");
    let page = visitor.page(&format!("{}/pages?{query}", editor.path)).await;
    assert!(
        page.contains("data-compared") && !page.contains("notice--bad"),
        "{page}"
    );
}

/// Approves or cancels the only promotion that waits. Returns where the form leads.
async fn end_waiting(visitor: &Visitor, editor: &Editor, function: &str) -> String {
    let fields = [("id", editor.id()), ("subject", &waiting(editor).await)];
    header(&visitor.submit(function, &fields).await, "location").to_owned()
}

/// Returns the id of the only promotion that waits.
async fn waiting(editor: &Editor) -> String {
    let id = "select id::text from template_promotions where ended_at is null";
    editor.service.text(id).await
}

#[tokio::test]
async fn channels_are_set_without_changing_what_is_rendered() {
    let editor = Editor::open().await;
    let Editor { ann, path, .. } = &editor;
    let releases = format!("{path}/releases");
    publish(ann, &editor, "1", "<p>Two").await;
    let page = ann.page(&releases).await;
    assert!(page.contains("no channels before production"), "{page}");
    for (channels, approval) in [("Staging", false), ("production", false), ("a, a", false), ("", true)] {
        let path = set_channels(ann, channels, approval).await;
        refused(ann, "/dashboard/settings", &path, "Enter up to four different names").await;
    }
    let page = ann.page("/dashboard/settings").await;
    assert!(page.contains("Channels of templates"), "{page}");

    with_channels(ann, "development, staging", false).await;
    let page = ann.page("/dashboard/settings?done=channels").await;
    assert!(
        page.contains("Channels saved.") && page.contains("value=\"development, staging\""),
        "{page}"
    );
    publish(ann, &editor, "2", "<p>Three").await;
    assert_eq!(rendered(&editor).await, "Two");
    let page = ann.page(&format!("{path}/versions")).await;
    assert!(
        page.contains("Renders in the channel development use the published version"),
        "{page}"
    );
    assert!(page.contains("production</span>"), "{page}");
    // Production would jump to what development has.
    let path_of_error = set_channels(ann, "", false).await;
    refused(
        ann,
        "/dashboard/settings",
        &path_of_error,
        "lacks published versions of templates",
    )
    .await;
    let list = ann.page("/dashboard/templates").await;
    assert!(list.contains("Not in production"), "{list}");
    assert_eq!(rendered(&editor).await, "Two");

    // A new first channel has what is published, and a removed one is gone.
    with_channels(ann, "sandbox, development", false).await;
    let page = ann.page(&releases).await;
    assert!(page.contains("sandbox") && !page.contains("staging"), "{page}");
    assert_eq!(
        promote(ann, &editor, "production:3", "").await,
        format!("{releases}?done=released")
    );
    assert_eq!(rendered(&editor).await, "Three");
    with_channels(ann, "", false).await;
    assert_eq!(rendered(&editor).await, "Three");
    let log = ann.page("/dashboard/team/log").await;
    assert!(
        log.contains("set the channels of templates to sandbox, development, production, without approval"),
        "{log}"
    );
    assert!(
        log.contains("released version 3 of the template Letter &lt;b&gt; to production"),
        "{log}"
    );
}

#[tokio::test]
async fn a_release_is_promoted_and_rolled_back() {
    let editor = Editor::open().await;
    let Editor { ann, path, .. } = &editor;
    let releases = format!("{path}/releases");
    let done = format!("{releases}?done=released");
    with_channels(ann, "staging", false).await;
    publish(ann, &editor, "1", "<p>Two").await;
    let page = ann.page(&releases).await;
    assert!(
        page.contains("Promote 2") && page.contains("older=1&amp;newer=2"),
        "{page}"
    );
    assert_eq!(promote(ann, &editor, "production:2", "").await, done);
    let page = ann.page(&releases).await;
    assert!(
        page.contains("Current release") && !page.contains("Promote 2"),
        "{page}"
    );
    // Production had the first version before there were promotions.
    assert!(
        page.contains("Roll back to 1") && page.contains("promote-production-1"),
        "{page}"
    );
    publish(ann, &editor, "2", "<p>Three").await;
    promote(ann, &editor, "production:3", "").await;
    assert_eq!(rendered(&editor).await, "Three");
    let page = ann.page(&releases).await;
    assert!(
        page.contains("Roll back to 2") && page.contains("Release again"),
        "{page}"
    );
    promote(ann, &editor, "production:2", "").await;
    assert_eq!(rendered(&editor).await, "Two");
    for version in [2, 9] {
        let path = promote(ann, &editor, &format!("production:{version}"), "").await;
        refused(ann, &releases, &path, "don’t allow this").await;
    }
    // What channels have stays a document.
    let kind = [
        ("id", editor.id()),
        ("template_kind", "partial"),
        ("template_handle", "letter"),
    ];
    ann.submit("change-template-kind", &kind).await;
    assert_eq!(rendered(&editor).await, "Two");
}

#[tokio::test]
async fn a_release_is_scheduled_and_cancelled() {
    let editor = Editor::open().await;
    let Editor { ann, path, .. } = &editor;
    let releases = format!("{path}/releases");
    with_channels(ann, "staging", false).await;
    publish(ann, &editor, "1", "<p>Two").await;
    for time in ["tomorrow", "2020-01-01T00:00"] {
        let path = promote(ann, &editor, "production:2", time).await;
        refused(ann, &releases, &path, "Enter a future time in UTC").await;
    }
    let scheduled = promote(ann, &editor, "production:2", &tomorrow()).await;
    assert_eq!(scheduled, format!("{releases}?done=scheduled"));
    let page = ann.page(&releases).await;
    assert!(page.contains("Scheduled") && page.contains("08:30"), "{page}");
    let id = waiting(&editor).await;
    let cancelled = end_waiting(ann, &editor, "cancel-promotion").await;
    assert_eq!(cancelled, format!("{releases}?done=cancelled"));
    let page = ann.page(&releases).await;
    assert!(
        page.contains("Cancelled") && !page.contains("To be released on"),
        "{page}"
    );
    let again = [("id", editor.id()), ("subject", &id)];
    let answer = ann.submit("cancel-promotion", &again).await;
    refused(ann, &releases, header(&answer, "location"), "don’t allow this").await;

    // Promotions to channels that are removed are cancelled, and the others stay.
    with_channels(ann, "development, staging", false).await;
    promote(ann, &editor, "staging:2", &tomorrow()).await;
    let page = ann.page(&releases).await;
    assert!(page.contains("08:30"), "{page}");
    let path = set_channels(ann, "development", false).await;
    assert_eq!(path, "/dashboard/settings?done=channels");
    let page = ann.page(&releases).await;
    assert!(!page.contains("08:30"), "{page}");
}

/// Returns a time of tomorrow.
fn tomorrow() -> String {
    let tomorrow = time::OffsetDateTime::now_utc().date().next_day().expect("a day");
    format!("{tomorrow}T08:30")
}

#[tokio::test]
async fn another_member_approves_what_production_has_not_had() {
    let editor = Editor::open().await;
    let Editor { ann, path, .. } = &editor;
    let releases = format!("{path}/releases");
    let bob = join(&editor, "bob@example.org").await;
    with_channels(ann, "staging", true).await;
    publish(ann, &editor, "1", "<p>Two").await;

    let awaits = promote(ann, &editor, "production:2", "").await;
    assert_eq!(awaits, format!("{releases}?done=awaits_approval"));
    let page = ann.page(&releases).await;
    assert!(page.contains("Needs approval") && !page.contains(">Approve<"), "{page}");
    let path = end_waiting(ann, &editor, "approve-promotion").await;
    refused(ann, &releases, &path, "Ask another member to approve it").await;
    assert_ne!(rendered(&editor).await, "Two");

    let page = bob.page(&releases).await;
    assert!(page.contains("Approve<") && page.contains("ann@example.org"), "{page}");
    let early = end_waiting(&bob, &editor, "approve-promotion").await;
    refused(&bob, &releases, &early, "One set is left").await;
    // Neither those of another member nor those of other versions count.
    compare(ann, &editor, 1, 2).await;
    compare(&bob, &editor, 2, 2).await;
    let early = end_waiting(&bob, &editor, "approve-promotion").await;
    refused(&bob, &releases, &early, "One set is left").await;
    compare(&bob, &editor, 1, 2).await;
    let approved = end_waiting(&bob, &editor, "approve-promotion").await;
    assert_eq!(approved, format!("{releases}?done=approved"));
    assert_eq!(rendered(&editor).await, "Two");
    let page = bob.page(&releases).await;
    assert!(page.contains("approved by bob@example.org"), "{page}");

    // What production has had needs no approval, nor does a release by others.
    let done = format!("{releases}?done=released");
    assert_eq!(promote(ann, &editor, "production:1", "").await, done);
    assert_eq!(promote(ann, &editor, "production:2", "").await, done);
    publish(ann, &editor, "2", "<p>Three").await;
    assert_eq!(promote(&bob, &editor, "production:3", "").await, done);
    let log = ann.page("/dashboard/team/log").await;
    for line in [
        "requested approval of version 2",
        "approved version 2",
        "with approval of promotions to production",
    ] {
        assert!(log.contains(line), "{line}: {log}");
    }
}

#[tokio::test]
async fn pages_are_compared_again_once_the_sets_of_sample_data_have_changed() {
    let editor = Editor::open().await;
    let (Editor { ann, path, .. }, id) = (&editor, editor.id());
    let releases = format!("{path}/releases");
    let bob = join(&editor, "bob@example.org").await;
    with_channels(ann, "staging", true).await;
    publish(ann, &editor, "1", "<p>Two").await;
    promote(ann, &editor, "production:2", "").await;
    compare(&bob, &editor, 1, 2).await;

    let sets = json!([{"name": "Default", "data": "{}"}, {"name": "Long", "data": "{}"}]).to_string();
    let fields = [
        ("id", id),
        ("seen", "2"),
        ("template_name", NAME),
        ("content", "<p>Two"),
        ("data", "{}"),
        ("sets", &sets),
    ];
    ann.submit("save-template", &fields).await;
    let early = end_waiting(&bob, &editor, "approve-promotion").await;
    refused(&bob, &releases, &early, "2 sets are left").await;
    compare(&bob, &editor, 1, 2).await;
    bob.page(&format!("{path}/pages?older=1&newer=2&set=Long")).await;
    let approved = end_waiting(&bob, &editor, "approve-promotion").await;
    assert_eq!(approved, format!("{releases}?done=approved"));
}

#[tokio::test]
async fn who_has_taken_part_in_a_release_does_not_release_it_alone() {
    let editor = Editor::open().await;
    let Editor { ann, path, .. } = &editor;
    let releases = format!("{path}/releases");
    let awaits = format!("{releases}?done=awaits_approval");
    let bob = join(&editor, "bob@example.org").await;
    with_channels(ann, "staging", true).await;

    // Bob has saved an earlier version, Ann the last one.
    publish(&bob, &editor, "1", "<p>Two").await;
    publish(ann, &editor, "2", "<p>Three").await;
    assert_eq!(promote(&bob, &editor, "production:3", "").await, awaits);
    for member in [ann, &bob] {
        let path = end_waiting(member, &editor, "approve-promotion").await;
        refused(member, &releases, &path, "Ask another member to approve it").await;
    }
    let carol = join(&editor, "carol@example.org").await;
    compare(&carol, &editor, 1, 3).await;
    end_waiting(&carol, &editor, "approve-promotion").await;
    assert_eq!(rendered(&editor).await, "Three");

    // Bob has saved a partial.
    let partial = [
        ("template_name", "f"),
        ("template_kind", "partial"),
        ("template_handle", "f"),
        ("beginning", "blank"),
    ];
    assert_eq!(bob.submit("create-template", &partial).await.status(), 303);
    publish(ann, &editor, "3", "<p>Four {% include 'f' %}").await;
    assert_eq!(promote(&bob, &editor, "production:4", "").await, awaits);
    end_waiting(&bob, &editor, "cancel-promotion").await;
    assert_eq!(
        promote(&carol, &editor, "production:4", "").await,
        format!("{releases}?done=released")
    );

    // Others than its creator may hold a key.
    publish(&bob, &editor, "4", "<p>Five").await;
    let client = &editor.service.client;
    let url = editor
        .service
        .url(&format!("/api/v1/templates/{}/promotions", editor.id()));
    let body = json!({"promotion": {"channel": "production", "version": 5}});
    let request = client.request(Method::POST, url).bearer_auth(&editor.account.key);
    let answer: Value = request
        .json(&body)
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    assert_eq!(answer["data"]["state"], "awaiting_approval");
    end_waiting(&carol, &editor, "cancel-promotion").await;

    // A scheduled release needs the approval that is required meanwhile.
    with_channels(ann, "staging", false).await;
    promote(&bob, &editor, "production:5", &tomorrow()).await;
    with_channels(ann, "staging", true).await;
    let page = carol.page(&releases).await;
    assert!(page.contains("Needs approval") && page.contains("08:30"), "{page}");
    compare(&carol, &editor, 4, 5).await;
    let approved = end_waiting(&carol, &editor, "approve-promotion").await;
    assert_eq!(approved, format!("{releases}?done=approved_for_later"));
    assert!(rendered(&editor).await.starts_with("Four"));
}
