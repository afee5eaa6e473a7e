//! Every way in which scripts can send requests.

use platen_engine::job::{Part, RenderJob};
use uuid::Uuid;

use crate::{
    servers::{Canary, Origin, Reply},
    support::{TestEngine, html_job, job},
};

/// Makes all attempts that any page can make. Throws if one succeeds. Each attempt has its own path.
const EVERYWHERE: &str = r"
    const refuse = what => { throw new Error('came back: ' + what) };
    const failed = (what, promise) => promise.then(() => refuse(what), () => {});
    const event = (target, name) => new Promise(go => target.addEventListener(name, go, { once: true }));
    const worker = (what, code) => {
        const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
        return event(worker, 'message').then(message => { if (message.data !== 'failed') refuse(what) });
    };
    await Promise.all([
        failed('fetch', fetch(base + 'fetch', { mode: 'no-cors' }).then(answer => {
            if (answer.type !== 'opaque') return; throw 0 })),
        failed('fetch by cors', fetch(base + 'fetch-cors')),
        failed('fetch by post', fetch(base + 'fetch-post', { method: 'POST', body: 'x', mode: 'cors' })),
        new Promise(go => {
            const request = new XMLHttpRequest();
            request.open('GET', base + 'xhr');
            request.onerror = go;
            request.onload = () => refuse('XHR');
            request.send();
        }),
        new Promise(go => {
            const socket = new WebSocket(base.replace('http:', 'ws:') + 'socket');
            socket.onopen = () => refuse('WebSocket');
            socket.onerror = go;
        }),
        new Promise(go => {
            const socket = new WebSocket(base.replace('http:', 'wss:') + 'secure-socket');
            socket.onerror = go;
        }),
        event(new EventSource(base + 'events'), 'error'),
        failed('import()', import(base + 'module')),
        worker('a fetch by a worker', `fetch('${base}worker').then(
            () => postMessage('came back'), () => postMessage('failed'))`),
        worker('importScripts', `try { importScripts('${base}worker-script'); postMessage('came back') }
            catch { postMessage('failed') }`),
        failed('https', fetch(base.replace('http:', 'https:') + 'secure')),
    ]);
    if (!navigator.sendBeacon(base + 'beacon', 'x')) refuse('no beacon was sent');
    fetch(base + 'keepalive', { method: 'POST', keepalive: true, mode: 'no-cors' }).catch(() => {});
    // Windows are not opened, frames are.
    open(base + 'window');
    const click = element => { document.body.append(element); element.click() };
    click(Object.assign(document.createElement('a'), { href: base + 'blank-link', target: '_blank' }));
    click(Object.assign(document.createElement('a'), { href: base + 'ping-link#', ping: base + 'ping', target: 'frame' }));
    const frame = document.body.appendChild(document.createElement('iframe'));
    frame.name = 'posted';
    for (const method of ['get', 'post']) {
        const frame = document.createElement('iframe');
        frame.name = method;
        document.body.append(frame);
        const form = Object.assign(document.createElement('form'), { action: base + 'form-' + method, method, target: method });
        document.body.append(form);
        form.submit();
        await event(frame, 'load');
    }
    const connection = new RTCPeerConnection({ iceServers: [
        { urls: 'stun:' + host },
        { urls: 'turn:' + host + '?transport=udp', username: 'u', credential: 'c' },
        { urls: 'turn:' + host + '?transport=tcp', username: 'u', credential: 'c' },
        { urls: 'turns:' + host + '?transport=tcp', username: 'u', credential: 'c' },
    ] });
    connection.onicecandidate = ({ candidate }) => { if (candidate?.candidate) document.title = 'candidate ' + candidate.candidate };
    connection.createDataChannel('x');
    await connection.setLocalDescription(await connection.createOffer());
    await connection.setRemoteDescription({ type: 'answer', sdp: connection.localDescription.sdp
        .replace('a=setup:actpass', 'a=setup:active').replace(/ufrag:.*/g, 'ufrag:abcd').replace(/pwd:.*/g, 'pwd:aaaaaaaaaaaaaaaaaaaaaaaa') }).catch(() => {});
    await connection.addIceCandidate({ sdpMid: '0', candidate: `candidate:1 1 udp 2122260223 127.0.0.1 ${port} typ host` }).catch(() => {});
    await connection.addIceCandidate({ sdpMid: '0', candidate: `candidate:2 1 tcp 2122260223 127.0.0.1 ${port} typ host tcptype passive` }).catch(() => {});
    for (const end = performance.now() + 3000; connection.iceGatheringState !== 'complete' && performance.now() < end;)
        await new Promise(go => setTimeout(go, 20));
";

/// Makes attempts that only a page with a potentially trustworthy origin can make.
const WITH_ORIGIN: &str = r"
    const registration = await navigator.serviceWorker.register('/service-worker.js');
    await navigator.serviceWorker.ready;
    const answer = event(navigator.serviceWorker, 'message');
    registration.active.postMessage(base + 'service-worker');
    if ((await answer).data !== 'failed') refuse('a fetch by a service worker');
    const cache = await caches.open('x');
    await failed('a cache', cache.add(base + 'cache'));
    const transport = new WebTransport(base.replace('http:', 'https:') + 'transport');
    await failed('WebTransport', transport.ready);
    await new Promise(go => {
        const shared = new SharedWorker('/shared-worker.js');
        shared.port.onmessage = ({ data }) => { if (data === 'failed') go(); else refuse('a fetch by a shared worker') };
        shared.port.postMessage(base + 'shared-worker');
    });
    for (const action of ['prefetch', 'prerender']) {
        const rules = Object.assign(document.createElement('script'), { type: 'speculationrules' });
        rules.textContent = JSON.stringify({ [action]: [
            { source: 'list', eagerness: 'immediate', urls: [base + action, base.replace('http:', 'https:') + action,
              base.replace('127.0.0.1', 'localhost') + action] } ] });
        document.head.append(rules);
    }
    await new Promise(go => setTimeout(go, 300));
";

/// Script of both workers: fetches the URL in each message and replies with the outcome.
const WORKER: &str = "const tell = source => address => fetch(address).then(
        () => source.postMessage('came back'), () => source.postMessage('failed'));
    onmessage = event => tell(event.source)(event.data);
    onconnect = ({ ports: [port] }) => port.onmessage = event => tell(port)(event.data);";

fn attempts(canary: &Canary, code: &str) -> String {
    format!(
        "(async () => {{ const port = {0}, host = '127.0.0.1:{0}', base = 'http://127.0.0.1:{0}/'; {code} }})()",
        canary.port
    )
}

async fn assert_tried(engine: &TestEngine, mut job: RenderJob, canary: &Canary, code: &str, unnamed: usize) {
    job.evaluate = Some(attempts(canary, code));
    let document = engine.render(Uuid::now_v7(), job).await.unwrap();
    assert_eq!(document.title.as_deref(), Some("No candidate"));
    let base = canary.at("127.0.0.1", "/");
    let refused: Vec<&str> = document
        .requests
        .iter()
        .filter(|request| request.refused.is_some())
        .map(|request| request.url.as_str())
        .collect();
    for name in [
        "fetch",
        "fetch-cors",
        "fetch-post",
        "xhr",
        "events",
        "module",
        "beacon",
        "keepalive",
        "form-get",
        "form-post",
    ] {
        assert!(
            refused.contains(&format!("{base}{name}").as_str()),
            "{name} in {refused:#?}"
        );
    }
    // Requests of sockets, tunnels and workers are known by host and port only.
    let by_port = refused
        .iter()
        .filter(|url| **url == format!("127.0.0.1:{}", canary.port))
        .count();
    assert!(by_port >= unnamed, "{by_port} in {refused:#?}");
    canary.assert_untouched();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_script_reaches_the_canary() {
    let canary = Canary::start().await;
    let engine = TestEngine::start("").await;
    let page = html_job("<title>No candidate</title><body>x");
    assert_tried(&engine, page, &canary, EVERYWHERE, 4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_script_of_a_url_part_reaches_the_canary() {
    let canary = Canary::start().await;
    let origin = Origin::start(|request| {
        Some(match request.path.as_str() {
            "/" => Reply::html("<!doctype html><title>No candidate</title><body>x"),
            "/service-worker.js" | "/shared-worker.js" => Reply::script(WORKER),
            _ => return None,
        })
    })
    .await;
    let engine = TestEngine::start(&origin.entry()).await;
    let page = job(Part::Url(origin.url("/")));
    assert_tried(&engine, page, &canary, &format!("{EVERYWHERE}{WITH_ORIGIN}"), 7).await;
}
