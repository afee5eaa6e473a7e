//! Requests that a page sends as it is unloaded are never attributed to the next render.

use std::time::Duration;

use uuid::Uuid;

use crate::{
    servers::{Origin, Reply},
    support::{TestEngine, html_job},
};

#[tokio::test(flavor = "multi_thread")]
async fn late_requests_are_attributed_to_no_render() {
    let origin = Origin::start(|_| Some(Reply::new(200, "text/plain", "x").after(Duration::from_millis(300)))).await;
    let engine = TestEngine::start(&origin.entry()).await;
    let account = Uuid::now_v7();
    for url in [origin.url("/late").as_str(), "http://127.0.0.1:9/late"] {
        let going = format!(
            "<p>Going<script>const send = () => {{ navigator.sendBeacon('{url}', 'x'); \
             fetch('{url}', {{ method: 'POST', keepalive: true, mode: 'no-cors' }}); fetch('{url}', {{ mode: 'no-cors' }}) }}; \
             for (const name of ['afterprint', 'pagehide', 'unload', 'visibilitychange']) addEventListener(name, send); \
             setInterval(send, 5)</script>"
        );
        for next in ["<p>Next", "<p>Next<script>1</script>"] {
            engine.render(account, html_job(&going)).await.unwrap();
            let document = engine.render(account, html_job(next)).await.unwrap();
            assert_eq!(document.requests, [], "{url}");
            assert_eq!(document.warnings, [], "{url}");
        }
    }
}
