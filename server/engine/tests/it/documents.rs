//! Ordinary documents.

use uuid::Uuid;

use crate::support::{TestEngine, html_job};

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
