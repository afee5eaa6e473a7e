//! Webhook deliveries: signatures, retries, recorded attempts, and the address policy.

use serde_json::{Value, json};

use crate::support::{
    background::page_with_callback,
    receiver::Receiver,
    studio::{Studio, header},
};

#[tokio::test]
async fn a_callback_carries_the_clients_headers_and_a_signature() {
    let receiver = Receiver::start().await;
    let studio = Studio::start_with_receiver(&receiver.authority).await;
    let secret = |arguments: &[&str]| {
        let command = ["accounts", "webhook-secret", "--email", "ann@example.org"];
        studio.service.command(&[&command, arguments].concat(), "").succeeded()
    };
    let first = secret(&[]);
    assert_eq!(secret(&[]), first);
    let headers = json!({"X-Order": "47/11", "Authorization": "Bearer x"});
    let body = json!({"parts": ["<p>"], "callback": {"url": receiver.url("/path?query"), "headers": headers}});
    studio.queued(&body).await;
    let [callback] = receiver.wait_for(1).await.try_into().ok().expect("one");
    assert_eq!(callback.path, "/path");
    for (name, value) in [
        ("content-type", "application/json"),
        ("x-order", "47/11"),
        ("authorization", "Bearer x"),
        ("host", receiver.authority.as_str()),
    ] {
        assert_eq!(callback.headers[name], value, "{name}");
    }
    assert!(callback.is_signed_with(&first));

    // During the replacement of a secret, both secrets sign.
    let second = secret(&["--replace"]);
    assert_ne!(second, first);
    studio.queued(&body).await;
    let both = receiver.wait_for(2).await.remove(1);
    assert!(both.is_signed_with(&first) && both.is_signed_with(&second));
    assert_ne!(both.headers["webhook-id"], callback.headers["webhook-id"]);
    let expire = "update webhook_secrets set expires_at = now() where expires_at is not null";
    assert_eq!(studio.service.execute(expire).await, 1);
    studio.queued(&body).await;
    let last = receiver.wait_for(3).await.remove(2);
    assert!(!last.is_signed_with(&first) && last.is_signed_with(&second));
}

#[tokio::test]
async fn a_callback_is_tried_until_it_is_received() {
    let receiver = Receiver::start().await;
    let studio = Studio::start_with_receiver(&receiver.authority).await;
    let id = studio.queued(&page_with_callback("<p>", &receiver.url("/503"))).await;
    let tried = |count: usize| move |render: &Value| render["callback"]["attempts"].as_array().unwrap().len() == count;
    let render = studio.service.shown_when(&studio.account, &id, tried(1)).await;
    let attempt = &render["callback"]["attempts"][0];
    assert_eq!(
        (&attempt["status"], &attempt["answer"]),
        (&json!(503), &json!("as you wish"))
    );
    assert_eq!(render["callback"]["state"], "sending");
    // The second attempt follows about a minute later.
    let wait = "select extract(epoch from run_at - now())::bigint from jobs where kind = 'callback'";
    let wait = studio.service.number(wait).await;
    assert!((40..=80).contains(&wait), "{wait} s");
    for count in 2..=8 {
        assert_eq!(
            studio.service.execute("update jobs set run_at = now()").await,
            1,
            "{count}"
        );
        studio.service.shown_when(&studio.account, &id, tried(count)).await;
    }
    let given_up = |render: &Value| render["callback"]["state"] == "failed";
    studio.service.shown_when(&studio.account, &id, given_up).await;
    assert_eq!(studio.service.number("select count(*) from jobs").await, 0);
    let came = receiver.received();
    assert_eq!(came.len(), 8);
    for again in &came[1..] {
        assert_eq!(again.headers["webhook-id"], came[0].headers["webhook-id"]);
        assert_eq!(again.body, came[0].body);
    }

    let answer = studio.post(&format!("/api/v1/renders/{id}/callback/resend")).await;
    assert_eq!(answer.status(), 202);
    let again = receiver.wait_for(9).await.remove(8);
    assert_eq!(again.headers["webhook-id"], came[0].headers["webhook-id"]);
}

#[tokio::test]
async fn receivers_that_misbehave_get_no_more_than_their_time() {
    let receiver = Receiver::start().await;
    let studio = Studio::start_with_receiver(&receiver.authority).await;
    let attempt = async |path: &str| {
        let id = studio.queued(&page_with_callback("<p>", &receiver.url(path))).await;
        let tried = |render: &Value| render["callback"]["attempts"].as_array().unwrap().len() == 1;
        let render = studio.service.shown_when(&studio.account, &id, tried).await;
        render["callback"]["attempts"][0].clone()
    };
    let (redirected, endless, never) =
        futures::future::join3(attempt("/redirect"), attempt("/endless"), attempt("/never")).await;
    assert_eq!(redirected["status"], 302);
    assert!(receiver.received().iter().all(|received| received.path != "/elsewhere"));
    assert_eq!(endless["status"], 200);
    assert!(endless["answer"].as_str().unwrap().len() <= 500);
    assert_eq!(
        (&never["status"], &never["error"]),
        (&Value::Null, &json!("no response within 10 s"))
    );
}

#[tokio::test]
async fn a_name_that_stands_for_a_private_address_is_not_reached() {
    let receiver = Receiver::start().await;
    // The name is allowed, but only on a port other than the receiver's.
    let studio = Studio::start().await;
    let port = receiver.authority.rsplit_once(':').unwrap().1;
    let url = format!("http://ip6-localhost.invalid:{port}/");
    let id = studio.queued(&page_with_callback("<p>", &url)).await;
    let tried = |render: &Value| render["callback"]["attempts"].as_array().unwrap().len() == 1;
    let render = studio.service.shown_when(&studio.account, &id, tried).await;
    let attempt = &render["callback"]["attempts"][0];
    assert_eq!(attempt["status"], Value::Null);
    assert_eq!(attempt["error"], "the name could not be resolved");
    assert!(receiver.received().is_empty());
}

#[tokio::test]
async fn what_can_not_be_sent_again() {
    let receiver = Receiver::start().await;
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web"), ("PLATEN_EGRESS_ALLOW", &receiver.authority)]).await;
    let without = studio.queued(&json!({"parts": ["<p>"]})).await;
    let waiting = studio.queued(&page_with_callback("<p>", &receiver.url("/ok"))).await;
    for (id, message) in [
        (without, "This render has no webhook."),
        (
            waiting,
            "The render hasn't ended yet; its webhook is notified when it ends.",
        ),
    ] {
        let answer = studio.post(&format!("/api/v1/renders/{id}/callback/resend")).await;
        assert_eq!(answer.status(), 409);
        assert!(header(&answer, "content-type").starts_with("application/json"));
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["error"]["message"], message);
    }
}
