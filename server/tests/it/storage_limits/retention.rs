//! Deletion of expired content, and its exceptions.

use reqwest::Method;
use rustix::process::Signal;
use serde_json::json;

use crate::support::studio::{Studio, body};

#[tokio::test]
async fn the_content_of_test_renders_is_deleted_within_a_day() {
    let mut studio = Studio::start().await;
    let page = "<title>Top secret</title><script>console.log('secret')</script>";
    let test_key = studio
        .service
        .create_key("ann@example.org", "trial", &["--test"])
        .succeeded();
    let live_key = std::mem::replace(&mut studio.account.key, test_key);
    let render = async |studio: &Studio| {
        assert_eq!(studio.render(page, json!({})).await.status(), 200);
        let queued = studio.queued(&json!({"parts": [page]})).await;
        assert_eq!(studio.ended(&queued).await["state"], "succeeded");
    };
    render(&studio).await;
    studio.account.key = live_key;
    render(&studio).await;
    studio
        .service
        .number_is(4, "select count(*) from accessibility_reports")
        .await;
    let content = |livemode: bool| {
        [
            format!("select count(*) from renders where livemode = {livemode} and title is not null"),
            format!("select count(*) from renders where livemode = {livemode} and console <> '[]'"),
            format!(
                "select count(*) from render_contents join renders on renders.id = render_id
                 where livemode = {livemode}"
            ),
            format!(
                "select count(*) from accessibility_reports join renders on renders.id = render_id
                 where livemode = {livemode}"
            ),
        ]
    };
    // Live renders are older, but the plan retains them for longer.
    let age = "update renders
               set inserted_at = now() - case when livemode then interval '30 h' else interval '23 h 50 min' end";
    studio.service.execute(age).await;
    studio.service.restart(Signal::TERM).await;
    for query in content(false) {
        studio.service.number_is(0, &query).await;
    }
    let thumbnails = "select count(*) from render_thumbnails join renders on renders.id = render_id where not livemode";
    assert_eq!(studio.service.number(thumbnails).await, 0);
    for (query, count) in content(true).iter().zip([2, 2, 2, 2]) {
        assert_eq!(studio.service.number(query).await, count, "{query}");
    }
    assert_eq!(studio.service.number("select count(*) from renders").await, 4);
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn versions_that_were_never_published_go_and_those_that_are_needed_stay() {
    let mut studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let path = studio.template("Letter", "<p>1").await;
    let id = path.rsplit_once('/').expect("a path").1.to_owned();
    for content in ["<p>2", "<p>3"] {
        studio.change_template(&path, json!({"content": content})).await;
    }
    // Two unpublished versions, as saved by the editor.
    let drafts = format!(
        "insert into template_versions (template_id, number, name, content, preview_context, inserted_at)
         select '{id}', number, 'Letter', 'draft', '{{}}', now() from generate_series(4, 5) number"
    );
    studio.service.execute(&drafts).await;
    let aged = "update template_versions set inserted_at = now() - interval '91 days'";
    studio.service.execute(aged).await;
    studio.service.restart(Signal::TERM).await;
    // The latest version is the one that the editor opens.
    let versions = "select count(*) from template_versions";
    studio.service.number_is(4, versions).await;
    let numbers = "select string_agg(number::text, ' ' order by number) from template_versions";
    assert_eq!(studio.service.text(numbers).await, "1 2 3 5");
    studio.service.storage_is_counted().await;

    // A queued render needs the version that it was accepted with, although the template was deleted long ago.
    let part = json!({"type": "template", "content": {"template_id": id}});
    let queued = studio.queued(&json!({"parts": [part]})).await;
    let deleted = studio.request(Method::DELETE, &path).send().await;
    assert_eq!(deleted.expect("an answer").status(), 204);
    let aged = "update templates set deleted_at = deleted_at - interval '91 days';
                update renders set inserted_at = inserted_at - interval '91 days'";
    studio.service.execute(aged).await;
    let worker = studio.service.beside(&[]).await;
    let render = worker
        .shown_when(&studio.account, &queued, |render| !render["finished_at"].is_null())
        .await;
    assert_eq!(render["state"], "succeeded", "{render:#}");
    assert_eq!(studio.service.number(versions).await, 4);
    drop(worker);

    // Template and versions are deleted once nothing refers to them.
    studio
        .service
        .execute("update renders set object_expires_at = null")
        .await;
    for _ in 0..2 {
        // The purge deletes renders before templates, so that it may need a second run.
        studio.service.restart(Signal::TERM).await;
        studio.service.number_is(0, "select count(*) from renders").await;
    }
    studio.service.number_is(0, "select count(*) from templates").await;
    studio.service.number_is(0, versions).await;
    studio.service.storage_is_counted().await;
    assert_eq!(studio.service.stored(&studio.account, "template_bytes").await, 0);
}

#[tokio::test]
async fn deleted_partials_go_although_each_has_used_the_other() {
    let mut studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let (first, second) = (
        studio.partial("first", "1").await,
        studio.partial("second", "{% include 'first' %}").await,
    );
    for (path, content) in [(&second, "2"), (&first, "{% include 'second' %}"), (&first, "1")] {
        studio.change_template(path, json!({"content": content})).await;
    }
    for path in [&first, &second] {
        let deleted = studio.request(Method::DELETE, path).send().await;
        assert_eq!(deleted.expect("an answer").status(), 204);
    }
    assert_eq!(
        studio
            .service
            .number("select count(*) from template_version_partials")
            .await,
        2
    );
    let aged = "update templates set deleted_at = deleted_at - interval '91 days'";
    studio.service.execute(aged).await;
    studio.service.restart(Signal::TERM).await;
    studio.service.number_is(0, "select count(*) from templates").await;
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn keys_that_have_ended_go_once_no_render_names_them() {
    let mut studio = Studio::start().await;
    let request = studio.request(Method::POST, "/api/v1/renderers/pdf");
    let answer = request.json(&body("<p>1", json!({}))).send().await;
    assert_eq!(answer.expect("an answer").status(), 200);
    let unused = studio.service.create_key("ann@example.org", "unused", &[]);
    let unused = unused.stderr.trim().to_owned();
    for id in [&unused, &studio.account.key_id] {
        studio.service.command(&["keys", "revoke", id], "").succeeded();
    }
    studio
        .service
        .execute("update api_keys set revoked_at = now() - interval '91 days'")
        .await;
    studio.service.restart(Signal::TERM).await;
    studio.service.number_is(1, "select count(*) from api_keys").await;
    assert_eq!(studio.service.text("select name from api_keys").await, "tests");
    studio.service.storage_is_counted().await;
}
