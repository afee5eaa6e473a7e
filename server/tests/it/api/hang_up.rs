//! Clients that disconnect before the response.

use serde_json::json;

use crate::support::{
    origin::Origin,
    studio::{Studio, asked},
};

#[tokio::test]
async fn a_client_that_hangs_up_frees_its_place_and_leaves_a_cancelled_render() {
    let origin = Origin::start().await;
    let settings = [
        ("PLATEN_CONCURRENCY", "1"),
        ("PLATEN_EGRESS_ALLOW", origin.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    {
        let render = studio.render(origin.url("/never"), json!({}));
        tokio::select! {
            answer = render => panic!("an answer came: {}", answer.status()),
            () = asked(&origin) => {}
        }
    }
    let row = studio.recorded_as("cancelled").await;
    assert!(row["finished_at"].is_string(), "{row}");
    // The account's only slot is free again long before any deadline.
    assert_eq!(studio.render("<p>", json!({})).await.status(), 200);
}
