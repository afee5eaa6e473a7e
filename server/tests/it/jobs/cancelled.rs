//! Cancellation of renders.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    background::parsed,
    origin::Origin,
    receiver::Receiver,
    studio::{Studio, asked},
};

#[tokio::test]
async fn a_waiting_render_is_cancelled_and_told_of() {
    let receiver = Receiver::start().await;
    let settings = [
        ("PLATEN_ROLE", "web"),
        ("PLATEN_EGRESS_ALLOW", receiver.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    let body = json!({"parts": ["<p>"], "callback": {"url": receiver.url("/ok")}});
    let id = studio.queued(&body).await;
    let cancel = format!("/api/v1/renders/{id}/cancel");
    let answer = studio.post(&cancel).await;
    assert_eq!(answer.status(), 202);
    let shown: Value = answer.json().await.unwrap();
    assert_eq!(shown["data"]["state"], "cancelled");
    let again = studio.post(&cancel).await;
    assert_eq!(again.status(), 409);
    let again: Value = again.json().await.unwrap();
    assert_eq!(again["error"]["message"], "The render has ended already.");
    assert_eq!(studio.service.unfinished_renders().await, 0);
    assert_eq!(studio.service.reserved_credits().await, 0);

    let _worker = studio.service.beside(&[("PLATEN_ROLE", "worker"), settings[1]]).await;
    let told = parsed(&receiver.wait_for(1).await[0].body);
    assert_eq!(
        (&told["status"], &told["error"]),
        (&json!("failed"), &json!("The render was cancelled."))
    );
}

/// Cancels a render whose part never responds, in a process that doesn't run it.
#[tokio::test]
async fn the_work_of_a_cancelled_render_stops_wherever_it_is_done() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let settings = [
        ("PLATEN_ROLE", "worker"),
        ("PLATEN_EGRESS_ALLOW", origin.authority.as_str()),
        ("PLATEN_SLOTS", "1"),
    ];
    let mut worker = studio.service.beside(&settings).await;
    let id = studio.queued(&json!({"parts": [origin.url("/never")]})).await;
    asked(&origin).await;
    assert_eq!(studio.service.shown(&studio.account, &id).await["state"], "processing");
    assert_eq!(studio.post(&format!("/api/v1/renders/{id}/cancel")).await.status(), 202);
    worker
        .process
        .wait_for_event("job stopped: it was cancelled, or another worker holds it");
    // Its only slot is free.
    let next = studio.queued(&json!({"parts": ["<p>"]})).await;
    assert_eq!(studio.ended(&next).await["state"], "succeeded");
    let render = studio.service.shown(&studio.account, &id).await;
    assert_eq!(
        (&render["state"], &render["credits_used"]),
        (&json!("cancelled"), &Value::Null)
    );
}

#[tokio::test]
async fn a_render_whose_client_waits_is_not_cancelled_so() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let (url, list) = (origin.url("/never"), "/api/v1/renders?state=processing");
    let rendering = studio.render(url, json!({}));
    let trying = async {
        asked(&origin).await;
        let listed: Value = studio
            .request(Method::GET, list)
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        let id = listed["data"][0]["id"].as_str().unwrap().to_owned();
        studio.post(&format!("/api/v1/renders/{id}/cancel")).await.status()
    };
    tokio::select! {
        _ = rendering => panic!("it never ends"),
        status = trying => assert_eq!(status, 409),
    }
}
