//! Browsers start, die, are replaced and end; callers hang up.

use std::{
    io::{BufRead, BufReader},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    pin::pin,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use platen_engine::{
    Engine,
    error::RenderError,
    job::{Caller, Lane, RenderJob},
    render_log::RenderLog,
};
use tokio::{sync::SetOnce, task::JoinHandle};
use uuid::Uuid;

use crate::{
    processes,
    support::{DEADLINE, TestEngine, config, enter_and_render, html_job, text},
};

const LOOP: &str = "<script>while (true) {}</script>";

/// Returns a job that takes about 1.5 seconds.
fn slow_job() -> RenderJob {
    RenderJob {
        evaluate: Some("new Promise(done => setTimeout(done, 1500))".to_owned()),
        ..html_job("<p>Slow")
    }
}

fn spawn(
    engine: &TestEngine,
    account: Uuid,
    concurrency: usize,
    job: RenderJob,
) -> JoinHandle<Result<String, RenderError>> {
    let engine = engine.engine.clone();
    let caller = Caller { account, concurrency };
    tokio::spawn(async move {
        Ok(text(
            &enter_and_render(&engine, caller, job, DEADLINE, &RenderLog::default())
                .await?
                .pdf,
        ))
    })
}

async fn hang_up(render: JoinHandle<Result<String, RenderError>>) {
    render.abort();
    assert!(render.await.unwrap_err().is_cancelled());
}

async fn load(engine: &TestEngine, running: usize, waiting: usize) {
    processes::eventually("the engine does not come to that load", || {
        let status = engine.engine.status();
        (status.running == running && status.waiting == waiting).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_killed_during_a_render_loses_no_document() {
    let engine = TestEngine::start_with("", |config| config.slots = 1).await;
    let account = Uuid::now_v7();
    engine
        .text_of(account, "<script>requestAnimationFrame(() => 0)</script>x")
        .await;
    let running = spawn(&engine, account, 4, slow_job());
    load(&engine, 1, 0).await;
    let waiting = [
        spawn(&engine, account, 4, html_job("<p>Next")),
        spawn(&engine, account, 4, html_job("<p>Last")),
    ];
    load(&engine, 1, 2).await;
    let killed = processes::browsers(engine.profiles());
    // One browser for pages that may wait for frames, one for all others.
    assert_eq!(killed.len(), 2);
    killed.into_iter().for_each(processes::kill_group);
    assert_eq!(running.await.unwrap().unwrap(), "Slow");
    let [next, last] = waiting;
    assert_eq!(next.await.unwrap().unwrap(), "Next");
    assert_eq!(last.await.unwrap().unwrap(), "Last");
    let replaced = || (engine.engine.status().browsers == 2).then_some(());
    processes::eventually("no new browsers", replaced).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_printed_before_a_render_is_accepted() {
    let engine = TestEngine::start("").await;
    let caller = Caller {
        account: Uuid::now_v7(),
        concurrency: 1,
    };
    let (log, accepted) = (RenderLog::default(), Arc::new(SetOnce::new()));
    let entered = engine
        .engine
        .enter(caller, Lane::Synchronous, DEADLINE, &log)
        .await
        .unwrap();
    let render = entered
        .once_accepted(Arc::clone(&accepted))
        .render(html_job("<p>Accepted"), &log);
    let mut render = pin!(render);
    let others = async {
        for _ in 0..3 {
            engine.text_of(Uuid::now_v7(), "<p>Other").await;
        }
    };
    tokio::select! {
        _ = &mut render => panic!("it was printed"),
        () = others => {}
    }
    accepted.set(()).unwrap();
    assert_eq!(text(&render.await.unwrap().pdf), "Accepted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_render_is_tried_twice() {
    let engine = TestEngine::start("").await;
    let mut render = spawn(&engine, Uuid::now_v7(), 1, html_job(LOOP));
    // This may kill more than two browsers: the renderer process of a session created in advance is briefly busy too.
    let error = loop {
        tokio::select! {
            ended = &mut render => break ended.unwrap().unwrap_err(),
            _ = processes::busy_renderer(engine.profiles()) => {}
        }
        for browser in processes::browsers(engine.profiles()) {
            processes::kill_group(browser);
        }
    };
    assert_eq!(error, RenderError::Browser("it crashed twice".to_owned()));
    assert_eq!(engine.text_of(Uuid::now_v7(), "<p>Next").await, "Next");
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_up_frees_the_place_at_once() {
    let engine = TestEngine::start_with("", |config| {
        config.slots = 1;
        config.sessions = 1;
    })
    .await;
    let account = Uuid::now_v7();
    let running = spawn(&engine, account, 1, html_job(LOOP));
    processes::busy_renderer(engine.profiles()).await;
    let refused = spawn(&engine, account, 1, html_job("<p>x")).await.unwrap();
    assert_eq!(refused.unwrap_err(), RenderError::TooManyConcurrent { limit: 1 });
    let queued = spawn(&engine, account, 2, html_job("<p>x"));
    load(&engine, 1, 1).await;
    hang_up(queued).await;
    load(&engine, 1, 0).await;
    let queued = spawn(&engine, account, 2, html_job("<p>Queued again"));
    load(&engine, 1, 1).await;
    hang_up(running).await;
    assert_eq!(queued.await.unwrap().unwrap(), "Queued again");
    let again = spawn(&engine, account, 1, html_job("<p>Again"));
    assert_eq!(again.await.unwrap().unwrap(), "Again");
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_up_leaves_nothing_in_the_browser() {
    let engine = TestEngine::start("").await;
    for round in 0..12 {
        let render = spawn(&engine, Uuid::now_v7(), 1, slow_job());
        load(&engine, 1, 0).await;
        // Cancels at every stage of creating a session.
        tokio::time::sleep(Duration::from_millis(round * 7)).await;
        render.abort();
        let _ = render.await;
    }
    processes::eventually("more renderers than sessions", || {
        (processes::renderers(engine.profiles()).len() <= 4).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_lets_renders_finish_and_leaves_nothing() {
    let engine = TestEngine::start_with("", |config| config.slots = 1).await;
    let account = Uuid::now_v7();
    let running = spawn(&engine, account, 2, slow_job());
    load(&engine, 1, 0).await;
    let waiting = spawn(&engine, account, 2, html_job("<p>x"));
    load(&engine, 1, 1).await;
    let everything = processes::all(engine.profiles());
    assert!(everything.len() > 2);
    engine.engine.shutdown(Duration::from_secs(20)).await;
    assert_eq!(running.await.unwrap().unwrap(), "Slow");
    assert_eq!(waiting.await.unwrap().unwrap_err(), RenderError::ShuttingDown);
    let late = engine.render(Uuid::now_v7(), html_job("<p>x")).await;
    assert_eq!(late.unwrap_err(), RenderError::ShuttingDown);
    assert_left_nothing(engine.profiles());
    assert!(everything.iter().all(|&pid| !processes::lives(pid)));
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_ends_what_does_not_finish_in_time() {
    let engine = TestEngine::start("").await;
    let running = spawn(&engine, Uuid::now_v7(), 1, html_job(LOOP));
    processes::busy_renderer(engine.profiles()).await;
    let start = Instant::now();
    engine.engine.shutdown(Duration::from_millis(100)).await;
    assert_eq!(running.await.unwrap().unwrap_err(), RenderError::ShuttingDown);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_left_nothing(engine.profiles());
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_while_a_browser_is_replaced_leaves_nothing() {
    let engine = TestEngine::start("").await;
    processes::kill_group(processes::browsers(engine.profiles())[0]);
    processes::eventually("the browser's end goes unnoticed", || {
        (engine.engine.status().browsers == 0).then_some(())
    })
    .await;
    engine.engine.shutdown(Duration::from_secs(1)).await;
    assert_left_nothing(engine.profiles());
}

fn assert_left_nothing(profiles: &Path) {
    assert_eq!(processes::all(profiles), []);
    let folders: Vec<_> = std::fs::read_dir(profiles).unwrap().flatten().collect();
    assert!(folders.is_empty(), "{folders:?}");
}

/// Runs itself in a second process, which starts an engine with a looping page and is killed.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_killed_leaves_no_browser() {
    const PROFILES: &str = "PLATEN_TEST_PROFILES_OF_THE_KILLED";
    const OWN_NAME: &str = "lifecycle::a_service_that_is_killed_leaves_no_browser";
    let (mut config, folder) = config("");
    if let Some(profiles) = std::env::var_os(PROFILES) {
        config.profile_dir = profiles.into();
        config.browsers = 2;
        let engine = Engine::start(config).await.unwrap();
        println!("ready");
        let caller = Caller {
            account: Uuid::now_v7(),
            concurrency: 1,
        };
        let log = RenderLog::default();
        enter_and_render(&engine, caller, html_job(LOOP), DEADLINE, &log)
            .await
            .unwrap_err();
        return;
    }
    let mut service = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", OWN_NAME, "--nocapture"])
        .env(PROFILES, folder.path())
        // Its temporary files are removed with those of this process.
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(service.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    assert!(
        lines.any(|line| line.contains("ready")),
        "no engine in the other process"
    );
    processes::busy_renderer(folder.path()).await;
    let everything = processes::all(folder.path());
    assert_eq!(processes::browsers(folder.path()).len(), 2);
    service.kill().unwrap();
    service.wait().unwrap();
    processes::gone(&everything).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_is_replaced_after_its_renders() {
    let engine = TestEngine::start_with("", |config| config.renders_per_browser = 4).await;
    let first = processes::browsers(engine.profiles());
    let everything = processes::all(engine.profiles());
    let mut rendered = 0;
    while processes::browsers(engine.profiles())
        .iter()
        .any(|pid| first.contains(pid))
    {
        assert!(rendered < 2_000, "the browser is never replaced");
        assert_eq!(engine.text_of(Uuid::from_u128(rendered % 3), "<p>On").await, "On");
        rendered += 1;
    }
    assert!(rendered >= 3, "{rendered}");
    processes::gone(&everything).await;
    assert_eq!(engine.text_of(Uuid::now_v7(), "<p>After").await, "After");
}

/// Small HTML without scripts is expected to print a small document.
#[tokio::test(flavor = "multi_thread")]
async fn small_html_may_print_a_large_document() {
    let engine = TestEngine::start("").await;
    let noise = "<svg width=700 height=1000><filter id=noise><feTurbulence baseFrequency=0.9 /></filter>\
                 <rect width=700 height=1000 filter=url(#noise) /></svg>";
    // Noise takes long to compute, and longer on a busy machine.
    let (job, log) = (html_job(&noise.repeat(4)), RenderLog::default());
    let rendered = engine.render_within(Duration::from_mins(3), Uuid::now_v7(), job, &log);
    let document = rendered.await.unwrap();
    assert!(document.pdf.len() > 4 << 20, "{} bytes", document.pdf.len());
    assert_eq!(document.page_count, 4);
    assert_eq!(engine.engine.status().replacements.died, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_document_ends_its_session() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    // Both keep their renderer process active for long enough to be identified; noise is incompressible.
    let work = "for (let turn = 0; turn < 4; turn++) for (let at = 0; at < 2e9; at++) {}";
    let small = format!("<p>Small<script>{work}</script>");
    assert_eq!(engine.text_of(account, &small).await, "Small");
    let renderer = processes::busy_renderer(engine.profiles()).await;
    let large = "<canvas id=c width=900 height=900></canvas><script>const draw = c.getContext('2d'); \
                 const image = draw.createImageData(900, 900); for (let at = 0; at < image.data.length; at++) \
                 image.data[at] = Math.random() * 256; draw.putImageData(image, 0, 0)</script>";
    // The next render uses this session once it is reset.
    processes::eventually("a session is not reset", || {
        (engine.engine.status().sessions.in_use == 0).then_some(())
    })
    .await;
    assert!(processes::lives(renderer), "a small document has ended its session");
    let document = engine.render(account, html_job(large)).await.unwrap();
    assert!(document.pdf.len() > 1 << 20, "{}", document.pdf.len());
    processes::gone(&[renderer]).await;
    assert_eq!(engine.text_of(account, "<p>Next").await, "Next");
}

#[tokio::test(flavor = "multi_thread")]
async fn renderers_are_sandboxed_and_the_browser_runs_as_an_unprivileged_user() {
    let engine = TestEngine::start("").await;
    let renderers = processes::renderers(engine.profiles());
    assert!(!renderers.is_empty());
    for &renderer in &renderers {
        processes::eventually("a renderer without a system-call filter", || {
            (processes::status(renderer, "Seccomp:") == "2").then_some(())
        })
        .await;
        let namespaces = processes::status(renderer, "NSpid:");
        assert!(namespaces.split_whitespace().count() > 1, "{namespaces}");
    }
    assert!(engine.engine.is_sandboxed().await);
    let (config, _folder) = config("");
    if let Some(user) = config.run_as {
        assert_ne!(user.uid, 0);
        for process in processes::all(engine.profiles()) {
            let owners = processes::status(process, "Uid:");
            assert!(
                owners.split_whitespace().all(|uid| uid == user.uid.to_string()),
                "{owners}"
            );
        }
    }
    let profile = std::fs::read_dir(engine.profiles()).unwrap().next().unwrap().unwrap();
    assert_eq!(profile.metadata().unwrap().mode() & 0o777, 0o700);
}

async fn start_error(chromium: &Path) -> String {
    let (mut config, folder) = config("");
    config.chromium = Some(chromium.to_owned());
    let error = Engine::start(config).await.err().unwrap().0;
    assert_left_nothing(folder.path());
    error
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_does_not_start_says_why() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let script = folder.path().join("chromium");
    std::fs::write(&script, "#!/bin/sh\necho 'libnss3.so is missing' >&2\nexit 127\n").unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let error = start_error(&script).await;
    assert!(error.contains("libnss3.so is missing"), "{error}");
    assert!(error.contains("PLATEN_CHROMIUM"), "{error}");

    let error = start_error(Path::new("/nowhere/chromium")).await;
    assert!(
        error.contains("/nowhere/chromium") && error.contains("PLATEN_CHROMIUM"),
        "{error}"
    );
}
