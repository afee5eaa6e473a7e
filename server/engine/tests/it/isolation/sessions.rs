//! A session belongs to one account, and is destroyed after it received data from the network.

use platen_engine::job::Part;
use uuid::Uuid;

use crate::{
    processes,
    servers::{Origin, Reply},
    support::{TestEngine, html_job, job},
};

/// Keeps its renderer process active for long enough to be identified by it.
const WORK: &str = "<p>x<script>for (const end = Date.now() + 1500; Date.now() < end;);</script>";

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_kept_for_its_account_and_destroyed_for_another() {
    let engine = TestEngine::start_with("", |config| {
        config.slots = 1;
        config.sessions = 1;
    })
    .await;
    let account = Uuid::now_v7();
    engine.render(account, html_job(WORK)).await.unwrap();
    let renderers = processes::renderers(engine.profiles());
    let another = engine.render(Uuid::now_v7(), html_job("x")).await;
    another.unwrap();
    processes::gone(&renderers).await;
}

/// HSTS, authentication and the browser's own tables store data of an origin that can't be cleared reliably, so
/// renderer process and context are destroyed.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_saw_a_url_part_is_destroyed() {
    let origin = Origin::start(|_| Some(Reply::html(WORK))).await;
    let engine = TestEngine::start_with(&origin.entry(), |config| {
        config.slots = 1;
        config.sessions = 1;
    })
    .await;
    let account = Uuid::now_v7();
    let framed = format!("<iframe src='{}'></iframe>", origin.url("/"));
    let picture = format!("<img src='{}'>", origin.url("/"));
    for part in [Part::Url(origin.url("/")), Part::Html(framed), Part::Html(picture)] {
        engine
            .render(account, html_job("<script>1</script>ready"))
            .await
            .unwrap();
        let renderers = processes::renderers(engine.profiles());
        assert!(!renderers.is_empty());
        engine.render(account, job(part)).await.unwrap();
        processes::gone(&renderers).await;
    }
}
