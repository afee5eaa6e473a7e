//! Traces that a page can leave behind.

use platen_engine::job::{Part, RenderJob};
use uuid::Uuid;

use crate::{
    servers::{Origin, Reply},
    support::{Rendered, TestEngine, html_job, job, text},
};

/// Leaves traces wherever possible. Storage throws if the page has no origin.
const WRITE: &str = r"
    const attempt = async write => { try { await write() } catch {} };
    window.left = 'Sesame';
    window.name = 'Sesame';
    document.title = 'Sesame';
    await attempt(() => { document.cookie = 'left=Sesame; max-age=9999' });
    await attempt(() => localStorage.setItem('left', 'Sesame'));
    await attempt(() => sessionStorage.setItem('left', 'Sesame'));
    await attempt(() => new Promise((go, fail) => {
        const opening = indexedDB.open('left', 1);
        opening.onsuccess = go; opening.onerror = fail;
    }));
    await attempt(async () => (await caches.open('left')).put('/left', new Response('Sesame')));
    await attempt(() => navigator.serviceWorker.register('/service-worker.js').then(() => navigator.serviceWorker.ready));
    await attempt(() => navigator.storage.getDirectory().then(root => root.getFileHandle('left', { create: true })));
    await attempt(() => Notification.requestPermission());
    await attempt(() => history.pushState({ left: 'Sesame' }, '', '#left'));
    await attempt(() => { Array.prototype.left = Object.prototype.left = 'Sesame' });
    await attempt(() => customElements.define('left-element', class extends HTMLElement {}));
    await attempt(() => CSS.registerProperty({ name: '--registered', syntax: '<color>', inherits: true, initialValue: 'red' }));
    await attempt(() => document.documentElement.style.setProperty('--left', 'Sesame'));
    await attempt(() => { const sheet = new CSSStyleSheet(); sheet.replaceSync('p { color: red }'); document.adoptedStyleSheets = [sheet] });
    await attempt(() => document.fonts.add(new FontFace('left', 'local(sans)')));
    await attempt(() => { new BroadcastChannel('left').onmessage = ({ target }) => target.postMessage('Sesame') });
    await attempt(() => { document.designMode = 'on' });
    await attempt(() => { navigator.locks.request('left', () => new Promise(() => {})) });
    setInterval(() => { document.title = 'Sesame' }, 1);
";

/// Writes everything that a page can see of earlier pages into its text.
const READ: &str = r"
    const seen = {};
    const look = async (name, read) => { try { seen[name] = await read() } catch (error) { seen[name] = error.name } };
    const properties = object => Object.getOwnPropertyNames(object).length;
    await look('window', () => properties(window) + ' ' + typeof window.left);
    await look('prototypes', () => [properties(Array.prototype), properties(Object.prototype)]);
    await look('name', () => window.name);
    await look('title', () => document.title);
    await look('history', () => [history.length, history.state, location.hash, document.referrer]);
    await look('navigation', () => navigation.entries().length);
    await look('cookie', () => document.cookie);
    await look('local', () => localStorage.length);
    await look('session', () => sessionStorage.length);
    await look('databases', async () => (await indexedDB.databases()).length);
    await look('caches', async () => (await caches.keys()).length);
    await look('workers', async () => (await navigator.serviceWorker.getRegistrations()).length);
    await look('files', async () => { let files = 0; for await (const _ of (await navigator.storage.getDirectory()).keys()) files += 1; return files });
    for (const name of ['notifications', 'geolocation', 'camera', 'persistent-storage'])
        await look(name, async () => (await navigator.permissions.query({ name })).state);
    await look('elements', () => String(customElements.get('left-element')));
    await look('mode', () => [document.compatMode, document.designMode, document.characterSet]);
    await look('sheets', () => [document.styleSheets.length, document.adoptedStyleSheets.length]);
    await look('fonts', () => document.fonts.size);
    await look('property', () => getComputedStyle(document.documentElement).getPropertyValue('--left'));
    await look('registered', () => String(CSS.registerProperty({ name: '--registered', syntax: '<color>', inherits: true, initialValue: 'red' })));
    await look('colour', () => getComputedStyle(document.body).color);
    await look('resources', () => performance.getEntriesByType('resource').length);
    await look('focus', () => [document.activeElement.tagName, String(getSelection()), scrollY]);
    await look('locks', async () => (await navigator.locks.query()).held.length);
    await look('channel', () => new Promise(go => {
        const channel = new BroadcastChannel('left');
        channel.onmessage = () => go('answered');
        channel.postMessage('who is there');
        setTimeout(go, 50, 'silent');
    }));
    document.body.style.whiteSpace = 'pre';
    document.body.textContent = Object.entries(seen).map(([name, value]) => `[${name}: ${value}]`).join('\n');
";

/// A document that leaves traces without scripts.
const MARKUP: &str = "<html lang=de class=left><title>Sesame</title><meta name=referrer content=unsafe-url>\
    <base href='http://127.0.0.1:9/'><style>@property --registered { syntax: '<color>'; inherits: true; initial-value: red } \
    :root { --left: Sesame } body { color: red } @font-face { font-family: left; src: local(sans) }</style>\
    <body bgcolor=red id=left><p id=name autofocus tabindex=0>Sesame<img src='http://127.0.0.1:9/left'>\
    <form name=left><input name=left value=Sesame></form>";

const READING_PAGE: &str = "<!doctype html><title>Fresh</title><body>x";

fn with_script(mut job: RenderJob, code: &str) -> RenderJob {
    job.evaluate = Some(format!("(async () => {{ {code} }})()"));
    job
}

async fn run(engine: &TestEngine, account: Uuid, job: RenderJob) -> String {
    text(&engine.render(account, job).await.unwrap().pdf)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_html_part_leaves_nothing_to_the_next() {
    let engine = TestEngine::start("").await;
    let reading = || with_script(html_job(READING_PAGE), READ);
    let fresh = run(&engine, Uuid::now_v7(), reading()).await;
    assert!(
        fresh.starts_with("[window: ") && fresh.ends_with("[channel: silent]"),
        "{fresh}"
    );
    let account = Uuid::now_v7();
    for writing in [
        with_script(html_job(READING_PAGE), WRITE),
        html_job(MARKUP),
        html_job(&format!("{MARKUP}<script>1</script>")),
    ] {
        for reader in [account, Uuid::now_v7()] {
            engine.render(account, writing.clone()).await.unwrap();
            assert_eq!(run(&engine, reader, reading()).await, fresh);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_part_leaves_nothing_to_the_next() {
    let origin = Origin::start(|request| {
        Some(match request.path.as_str() {
            "/write" => Reply::html(READING_PAGE)
                .header("Set-Cookie", "served=Sesame; Max-Age=9999")
                .header("Set-Cookie", "hidden=Sesame; HttpOnly; SameSite=None; Secure"),
            "/read" => Reply::html(READING_PAGE),
            "/service-worker.js" => Reply::script("onfetch = event => event.respondWith(new Response('Sesame'))"),
            _ => return None,
        })
    })
    .await;
    let engine = TestEngine::start(&origin.entry()).await;
    let at = |path: &str, code: &str| with_script(job(Part::Url(origin.url(path))), code);
    let fresh = run(&engine, Uuid::now_v7(), at("/read", READ)).await;
    // These work for a page that has an origin.
    for works in [
        "[local: 0]",
        "[session: 0]",
        "[databases: 0]",
        "[caches: 0]",
        "[workers: 0]",
        "[files: 0]",
    ] {
        assert!(fresh.contains(works), "{works} in {fresh}");
    }
    let account = Uuid::now_v7();
    engine.render(account, at("/write", WRITE)).await.unwrap();
    assert_eq!(origin.count("/service-worker.js"), 1);
    for reader in [account, account, Uuid::now_v7()] {
        assert_eq!(run(&engine, reader, at("/read", READ)).await, fresh);
    }
    for request in origin.received().iter().filter(|request| request.path == "/read") {
        assert!(!request.head.contains("Sesame"), "{}", request.head);
    }
}

/// The next document is loaded without a reset, which must not affect its appearance.
#[tokio::test(flavor = "multi_thread")]
async fn a_script_free_part_leaves_nothing_to_the_next_script_free_part() {
    let engine = TestEngine::start("").await;
    let reading = "<!doctype html><p>Fresh <a href='#left'>x</a><img src=/left>";
    let account = Uuid::now_v7();
    let fresh = engine.render(account, html_job(reading)).await.unwrap();
    // Unpacked, because the time of the render may change the compressed length by a byte.
    let length = |document: &Rendered| platen_pdf::unpack(&document.pdf).unwrap().len();
    for writing in [MARKUP, "<plaintext>Sesame", "<!-- Sesame", "<svg><title>Sesame</title>"] {
        engine.render(account, html_job(writing)).await.unwrap();
        let next = engine.render(account, html_job(reading)).await.unwrap();
        assert_eq!((&next.title, next.page_count), (&None, 1));
        let fetched = |document: &Rendered| {
            document
                .requests
                .iter()
                .map(|request| request.url.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(fetched(&next), fetched(&fresh), "{writing}");
        assert_eq!(text(&next.pdf), "Fresh x", "{writing}");
        assert_eq!(length(&next), length(&fresh), "{writing}");
    }
}

/// A cookie set by an image, and an image that may be cached for a year: neither survives the render.
#[tokio::test(flavor = "multi_thread")]
async fn sub_resources_leave_neither_cookies_nor_copies() {
    let origin = Origin::start(|request| {
        let picture = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>";
        let reply = Reply::new(200, "image/svg+xml", picture)
            .header("Set-Cookie", "left=Sesame; SameSite=None; Secure; Max-Age=9999")
            .header("Cache-Control", "public, max-age=31536000, immutable");
        Some(if request.path == "/picture" { reply } else { return None })
    })
    .await;
    let engine = TestEngine::start(&origin.entry()).await;
    let account = Uuid::now_v7();
    let plain = format!("<img src='{}'>", origin.url("/picture"));
    let scripted = format!("<script>1</script>{plain}");
    for (done, html) in [&plain, &plain, &scripted, &scripted, &plain].into_iter().enumerate() {
        engine.render(account, html_job(html)).await.unwrap();
        assert_eq!(origin.count("/picture"), done + 1, "{html}");
    }
    for request in origin.received() {
        assert!(!request.head.contains("Sesame"), "{}", request.head);
    }
}

/// A part that needs no scripts is rendered with scripts disabled, which must not be visible.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_for_browsers_without_scripts_is_not_shown() {
    let engine = TestEngine::start("").await;
    let text = engine.text_of(Uuid::now_v7(), "<p>Yes<noscript>No</noscript>").await;
    assert_eq!(text, "Yes");
}
