//! What requests hold in the service's memory.

use serde_json::json;

use crate::support::attack::{Plan, ROOM, Stage};

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
