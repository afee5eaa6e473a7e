//! Ordinary documents.

use uuid::Uuid;

use crate::support::{TestEngine, html_job, text};

/// Draws noise, whose document is larger than a DevTools message, although the page is small.
const NOISE: &str = "<p>Noise<canvas id=noise width=1300 height=1300></canvas><script>\
    const context = noise.getContext('2d'), image = context.createImageData(1300, 1300); \
    for (let at = 0, seed = 1; at < image.data.length; at++) \
        image.data[at] = at % 4 === 3 ? 255 : (seed = seed * 48271 % 2147483647) >> 8 & 255; \
    context.putImageData(image, 0, 0)</script>";

#[tokio::test(flavor = "multi_thread")]
async fn a_small_page_may_become_a_large_document() {
    let engine = TestEngine::start("").await;
    let document = engine.render(Uuid::now_v7(), html_job(NOISE)).await.unwrap();
    assert!(document.pdf.len() > 4 << 20, "{}", document.pdf.len());
    assert_eq!(text(&document.pdf), "Noise");
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_follow_one_another_in_a_session() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    for round in 0..3 {
        let plain = engine.text_of(account, &format!("<h1>Plain {round}</h1>")).await;
        assert_eq!(plain, format!("Plain {round}"));
        let scripted = engine
            .text_of(
                account,
                &format!("<h1>x</h1><script>document.querySelector('h1').textContent = 'Set {round}'</script>"),
            )
            .await;
        assert_eq!(scripted, format!("Set {round}"));
    }
    let mut times = Vec::new();
    for _ in 0..60 {
        let start = std::time::Instant::now();
        let document = engine
            .render(account, html_job("<title>T</title><h1>Again</h1>"))
            .await
            .unwrap();
        times.push((start.elapsed(), document.phases));
        assert_eq!(document.title.as_deref(), Some("T"));
    }
    times.sort_by_key(|time| time.0);
    println!("{:?}", times[30]);
}
