//! The code examples in `docs/callbacks`, run unchanged.

use std::{
    net::{TcpListener, TcpStream},
    path::Path,
    process::Command,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_domain::webhook::{WebhookSecret, signatures};
use reqwest::Client;
use serde_json::Value;
use time::OffsetDateTime;

use crate::{
    quick_starts::can_run,
    support::{background::page_with_callback, process::Process, studio::Studio},
};

/// The interpreter of each example, and whether it must be available in every test run.
const RECEIVERS: [(&str, &[&str], bool); 6] = [
    ("receive.py", &["python3"], true),
    ("receive.mjs", &["node"], true),
    ("receive.rb", &["ruby"], true),
    ("receive.php", &["php"], true),
    ("Receive.java", &["java"], true),
    ("receive.go", &["go", "run"], false),
];

/// Starts a receiver and returns it with its port.
fn receiver(interpreter: &[&str], file: &str, secret: &str) -> (Process, u16) {
    let program = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs/callbacks")
        .join(file);
    let mut command = Command::new(interpreter[0]);
    command.args(&interpreter[1..]).env("PLATEN_WEBHOOK_SECRET", secret);
    if interpreter == ["php"] {
        return php(command, &program);
    }
    command.arg(program).env("PORT", "0");
    let mut process = Process::start(command);
    let port = process.wait_for(|process| {
        let stdout = process.stdout();
        stdout.lines().next()?.strip_prefix("listening on port ")?.parse().ok()
    });
    (process, port)
}

/// PHP's server doesn't report the port that it selects.
fn php(mut command: Command, program: &Path) -> (Process, u16) {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = free.expect("a free port");
    let mut process = Process::start({
        command.arg("-S").arg(address.to_string()).arg(program);
        command
    });
    process.wait_for(|_| TcpStream::connect(address).ok());
    (process, address.port())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_takes_what_is_genuine_and_nothing_else() {
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", "127.0.0.0/8")]).await;
    let secret = ["accounts", "webhook-secret", "--email", "ann@example.org"];
    let secret = studio.service.command(&secret, "").succeeded();
    let secret = secret.trim();
    for (file, interpreter, always) in RECEIVERS {
        if !can_run(file, interpreter[0], always) {
            continue;
        }
        let (mut process, port) = tokio::task::block_in_place(|| receiver(interpreter, file, secret));
        let url = format!("http://127.0.0.1:{port}/");
        let id = studio.queued(&page_with_callback("<p>", &url)).await;
        let delivered = |render: &Value| render["callback"]["state"] == "delivered";
        let render = studio.service.shown_when(&studio.account, &id, delivered).await;
        assert_eq!(render["callback"]["attempts"][0]["status"], 204, "{file}");
        let line = process.wait_for(|process| {
            let printed = process.stdout() + &process.log();
            printed
                .lines()
                .find(|line| line.contains("msg_"))
                .map(ToOwned::to_owned)
        });
        assert!(line.contains("success"), "{file}: {line}");
        refuses_forgeries(file, &url, secret).await;
    }
}

/// Sends deliveries of which only the first is genuine.
async fn refuses_forgeries(file: &str, url: &str, secret: &str) {
    let bytes = BASE64_STANDARD.decode(secret.trim_start_matches("whsec_"));
    let secret = WebhookSecret::from_bytes(&bytes.expect("base64")).expect("a secret");
    let (now, body) = (OffsetDateTime::now_utc().unix_timestamp(), r#"{"status":"success"}"#);
    let signed = |timestamp| signatures(std::slice::from_ref(&secret), "msg_1", timestamp, body);
    let two = format!("v1,AAAA {}", signed(now));
    for (name, timestamp, signature, body, status) in [
        ("genuine", Some(now), Some(signed(now)), body, 204),
        ("signed twice", Some(now), Some(two), body, 204),
        (
            "another body",
            Some(now),
            Some(signed(now)),
            r#"{"status":"failed"}"#,
            400,
        ),
        ("another time", Some(now + 1), Some(signed(now)), body, 400),
        ("old", Some(now - 3600), Some(signed(now - 3600)), body, 400),
        ("early", Some(now + 3600), Some(signed(now + 3600)), body, 400),
        ("wrongly signed", Some(now), Some("v1,AAAA".to_owned()), body, 400),
        ("unsigned", Some(now), None, body, 400),
        ("without a time", None, Some(signed(now)), body, 400),
    ] {
        let mut request = Client::new().post(url).header("webhook-id", "msg_1").body(body);
        if let Some(timestamp) = timestamp {
            request = request.header("webhook-timestamp", timestamp);
        }
        if let Some(signature) = signature {
            request = request.header("webhook-signature", signature);
        }
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), status, "{file}: {name}");
    }
}
