//! The code examples in `docs/callbacks`, run unchanged.

use std::{path::Path, process::Command};

use serde_json::json;

use crate::support::{background::page_with_callback, process::Process, studio::Studio};

/// Starts a receiver and returns it with its port.
fn receiver(interpreter: &str, file: &str, secret: &str) -> (Process, u16) {
    let program = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs/callbacks")
        .join(file);
    let mut command = Command::new(interpreter);
    command
        .arg(program)
        .env("PORT", "0")
        .env("PLATEN_WEBHOOK_SECRET", secret);
    let mut process = Process::start(command);
    let port = process.wait_for(|process| {
        let stdout = process.stdout();
        stdout.lines().next()?.strip_prefix("listening on port ")?.parse().ok()
    });
    (process, port)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_takes_what_is_genuine_and_nothing_else() {
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", "127.0.0.0/8")]).await;
    let secret = ["accounts", "webhook-secret", "--email", "ann@example.org"];
    let secret = studio.service.command(&secret, "").succeeded();
    for (interpreter, file) in [("python3", "receive.py"), ("node", "receive.mjs")] {
        let (mut process, port) = tokio::task::block_in_place(|| receiver(interpreter, file, &secret));
        let url = format!("http://127.0.0.1:{port}/");
        let id = studio.queued(&page_with_callback("<p>", &url)).await;
        let delivered = |render: &serde_json::Value| render["callback"]["state"] == "delivered";
        let render = studio.service.shown_when(&studio.account, &id, delivered).await;
        assert_eq!(render["callback"]["attempts"][0]["status"], 204, "{file}");
        let line = process.wait_for(|process| process.stdout().lines().nth(1).map(ToOwned::to_owned));
        assert!(line.starts_with("msg_") && line.contains("success"), "{file}: {line}");

        let now = time::OffsetDateTime::now_utc().unix_timestamp();
        for (timestamp, signature) in [
            (Some(now), Some("v1,AAAA")),
            (Some(now - 3600), Some("v1,AAAA")),
            (Some(now), None),
            (None, Some("v1,AAAA")),
        ] {
            let mut request = reqwest::Client::new().post(&url).header("webhook-id", "msg_1");
            if let Some(timestamp) = timestamp {
                request = request.header("webhook-timestamp", timestamp);
            }
            if let Some(signature) = signature {
                request = request.header("webhook-signature", signature);
            }
            let answer = request
                .json(&json!({"status": "success"}))
                .send()
                .await
                .expect("an answer");
            assert_eq!(answer.status(), 400, "{file}: {timestamp:?} {signature:?}");
        }
    }
}
