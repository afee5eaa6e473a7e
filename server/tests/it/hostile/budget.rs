//! What requests hold in the service's memory.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::support::{
    attack::{Attacker, Plan, ROOM, Stage},
    process::PATIENCE,
};

/// Leaves 469 MB for requests, and gives clients all the time they want to read.
const LITTLE_MEMORY: [(&str, &str); 4] = [
    ("PLATEN_MEMORY_MB", "3072"),
    ("PLATEN_BROWSERS", "1"),
    ("PLATEN_SLOTS", "2"),
    ("PLATEN_WRITE_SECONDS", "600"),
];
const REQUESTS_MB: usize = 469;
/// Pixels along each side of a picture of noise; as a document it has about 7 MB.
const SIDE: u32 = 1560;

#[tokio::test]
async fn the_largest_body_fits_the_memory_of_one_request() {
    let stage = Stage::start(&[]).await;
    for plan in [Plan::Free, Plan::Scale] {
        let filler = "x".repeat(plan.body_bytes() as usize - 1000);
        let body = json!({"parts": [format!("<!doctype html><!--{filler}--><p>Hello")], "output_encoding": "base64"});
        let report = stage.attack(plan, async |attacker| attacker.render(&body).await).await;
        assert_eq!(report.outcome.status, 200, "{plan:?}: {}", report.outcome.body);
        report.neighbour_lost_nothing();
        report.memory_rose_at_most(ROOM + 2 * plan.body_bytes());
        report.no_browser_died();
    }
}

#[tokio::test]
async fn templates_yield_no_more_html_than_a_document_may_have() {
    let stage = Stage::start(&[]).await;
    let template = template(&stage.attacker(Plan::Free), "{{ ('x' * 5000000)|safe }}").await;
    let part = json!({"type": "template", "content": {"template_id": template}});
    let body = json!({"parts": vec![part; 50], "output_encoding": "binary"});
    let report = stage
        .attack(Plan::Free, async |attacker| attacker.render_at_once(10, &body).await)
        .await;
    for answer in &report.outcome {
        let detail = answer.refused_at("/parts/3");
        assert!(detail.contains("19398656 bytes"), "{detail}");
    }
    report.neighbour_lost_nothing();
    report.memory_rose_at_most(3 * (ROOM + 2 * Plan::Free.body_bytes()));
    report.no_browser_died();
}

#[tokio::test]
async fn documents_that_nobody_reads_cost_only_their_account() {
    let stage = Stage::start(&LITTLE_MEMORY).await;
    let body = json!({"parts": [noise()], "output_encoding": "binary"}).to_string();
    let report = stage
        .attack(Plan::Free, async |attacker| {
            let mut unread = Vec::new();
            // Each document holds about 7 MB, and its account may hold half of what there is.
            while unread.len() < REQUESTS_MB / 7 {
                let mut connection = connect(&attacker, body.len()).await;
                connection.write_all(body.as_bytes()).await.expect("it is read");
                let head = head(&mut connection).await;
                if !head.starts_with("HTTP/1.1 200") {
                    return head;
                }
                unread.push(connection);
            }
            panic!("{} documents are unread", unread.len());
        })
        .await;
    let refused = report.outcome.to_ascii_lowercase();
    assert!(
        refused.starts_with("http/1.1 503") && refused.contains("\r\nretry-after: "),
        "{refused}"
    );
    report.neighbour_lost_nothing();
    report.memory_rose_at_most((REQUESTS_MB as u64) << 20);
    // Whoever hangs up gives back what they held.
    let attacker = stage.attacker(Plan::Free);
    let deadline = std::time::Instant::now() + PATIENCE;
    while attacker.send("/api/v1/renderers/pdf", body.clone()).await.status != 200 {
        assert!(std::time::Instant::now() < deadline, "its memory is not given back");
    }
}

#[tokio::test]
async fn bodies_that_do_not_come_cost_only_their_account() {
    let stage = Stage::start(&LITTLE_MEMORY).await;
    let report = stage
        .attack(Plan::Scale, async |attacker| {
            let announced = Plan::Scale.body_bytes() as usize;
            // Twice as many bytes are held for each, and its account may hold half of what there is.
            let mut waiting = Vec::new();
            for _ in 0..4 {
                waiting.push(connect(&attacker, announced).await);
            }
            let heads = waiting.iter_mut().map(|connection| Box::pin(head(connection)));
            futures::future::select_all(heads).await.0
        })
        .await;
    assert!(report.outcome.starts_with("HTTP/1.1 503"), "{}", report.outcome);
    report.neighbour_lost_nothing();
    report.memory_rose_at_most(ROOM);
}

/// A new template's id.
async fn template(attacker: &Attacker<'_>, content: &str) -> Value {
    let body = json!({"template": {"name": "Hostile", "content": content}});
    let created = attacker.send("/api/v1/templates", body.to_string()).await;
    assert_eq!(created.status, 201, "{}", created.body);
    created.body["data"]["id"].clone()
}

/// A page that is one picture of noise, which can't be packed.
fn noise() -> String {
    let pixels = (SIDE * SIDE * 3) as usize;
    let mut bitmap = Vec::with_capacity(pixels + 54);
    // BITMAPFILEHEADER and BITMAPINFOHEADER: 24 bits a pixel, rows of whole words.
    bitmap.extend(b"BM");
    bitmap.extend((pixels as u32 + 54).to_le_bytes());
    bitmap.extend([0; 4]);
    bitmap.extend(54_u32.to_le_bytes());
    bitmap.extend(40_u32.to_le_bytes());
    bitmap.extend(SIDE.to_le_bytes());
    bitmap.extend(SIDE.to_le_bytes());
    bitmap.extend(1_u16.to_le_bytes());
    bitmap.extend(24_u16.to_le_bytes());
    bitmap.extend([0; 24]);
    bitmap.resize(pixels + 54, 0);
    SmallRng::seed_from_u64(7).fill(&mut bitmap[54..]);
    format!("<img src='data:image/bmp;base64,{}'>", BASE64_STANDARD.encode(bitmap))
}

/// A connection that has sent the head of a request to render, which announces a body of so many bytes.
async fn connect(attacker: &Attacker<'_>, length: usize) -> TcpStream {
    let address = attacker.service.base_url.strip_prefix("http://").expect("an address");
    let mut connection = TcpStream::connect(address).await.expect("it listens");
    let head = format!(
        "POST /api/v1/renderers/pdf HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n",
        attacker.account.key
    );
    connection.write_all(head.as_bytes()).await.expect("it is read");
    connection
}

/// The head of the answer, and nothing of its body.
async fn head(connection: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(connection.read_u8().await.expect("an answer"));
    }
    String::from_utf8(head).expect("a head in ASCII")
}
