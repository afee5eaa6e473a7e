//! Repeated requests.

use std::time::Instant;

use futures::future::join_all;
use reqwest::{Method, Response, header::HeaderMap};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{
    origin::Origin,
    process::PATIENCE,
    studio::{Studio, asked, body, header, problems},
};

impl Studio {
    /// Sends a body with an idempotency key.
    async fn send_as(&self, key: &str, body: &Value) -> Response {
        let request = self.service.client.post(self.service.url("/api/v1/renderers/pdf"));
        let request = request.bearer_auth(&self.account.key).header("idempotency-key", key);
        request.json(body).send().await.expect("an answer")
    }

    async fn number(&self, query: &'static str) -> i64 {
        self.service.number(query).await
    }

    async fn renders(&self) -> i64 {
        self.number("select count(*) from renders").await
    }

    async fn charged(&self) -> i64 {
        self.number("select coalesce(sum(used), 0)::bigint from credit_periods")
            .await
    }
}

/// Counts the stored outcomes.
const STORED: &str = "select count(*) from idempotency_keys where answer is not null";

fn is_replayed(answer: &Response) -> bool {
    answer.headers().contains_key("idempotent-replayed")
}

/// Returns the headers without those that differ in each response.
fn lasting_headers(answer: &Response) -> HeaderMap {
    let mut headers = answer.headers().clone();
    for passing in [
        "date",
        "x-request-id",
        "server-timing",
        "idempotent-replayed",
        "ratelimit",
    ] {
        headers.remove(passing);
    }
    headers
}

fn page(text: &str) -> Value {
    body(format!("<title>Order</title><h1>{text}"), json!({}))
}

#[tokio::test]
async fn the_first_outcome_comes_again_byte_for_byte_and_costs_nothing() {
    let studio = Studio::start().await;
    for encoding in ["binary", "base64"] {
        let mut body = page("Confidential");
        body["output_encoding"] = encoding.into();
        let first = studio.send_as(encoding, &body).await;
        assert_eq!(first.status(), 200);
        assert!(!is_replayed(&first));
        let second = studio.send_as(encoding, &body).await;
        assert_eq!(second.status(), 200);
        assert_eq!(header(&second, "idempotent-replayed"), "true");
        assert_eq!(lasting_headers(&first), lasting_headers(&second));
        assert_eq!(first.bytes().await.unwrap(), second.bytes().await.unwrap());
    }
    assert_eq!((studio.renders().await, studio.charged().await), (2, 2));

    // Keys are scoped to the account, and a request without a key is never replayed.
    let bob = studio.service.account("bob@example.org");
    let request = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
    let request = request.bearer_auth(&bob.key).header("idempotency-key", "binary");
    assert!(!is_replayed(&request.json(&page("Confidential")).send().await.unwrap()));
    assert!(!is_replayed(&studio.send(&page("Confidential")).await));

    assert_eq!(studio.number(STORED).await, 3);
    for told in ["%PDF", "Order", "page_count", "obj"] {
        let readable = format!("select count(*) from idempotency_keys where position('{told}'::bytea in answer) > 0");
        assert_eq!(studio.service.number(&readable).await, 0, "{told} is readable");
    }
}

#[tokio::test]
async fn processes_that_share_nothing_but_the_database_return_the_same_outcome() {
    let studio = Studio::start().await;
    let page = page("once");
    let first = studio.send_as("order", &page).await.bytes().await.unwrap();
    let other = studio.service.apart(&[]).await;
    let request = other.client.post(other.url("/api/v1/renderers/pdf"));
    let request = request
        .bearer_auth(&studio.account.key)
        .header("idempotency-key", "order");
    let second = request.json(&page).send().await.unwrap();
    assert!(is_replayed(&second));
    assert_eq!(second.bytes().await.unwrap(), first);
    assert_eq!((studio.renders().await, studio.charged().await), (1, 1));

    let told = studio.service.command(&["doctor"], "").stdout;
    let expected = "2 processes use this database, and documents are stored in the data folder";
    assert!(told.contains(expected), "{told}");
}

#[tokio::test]
async fn a_key_stands_for_one_body_and_one_mode() {
    let mut studio = Studio::start().await;
    assert_eq!(studio.send_as("order 1", &page("one")).await.status(), 200);
    let other = problems(studio.send_as("order 1", &page("two")).await).await;
    assert_eq!(other[0].0, "");
    assert!(other[0].1.contains("another body"), "{other:?}");

    let create = ["keys", "create", "--email", "ann@example.org", "--name", "n", "--test"];
    studio.account.key = studio.service.command(&create, "").succeeded();
    assert_eq!(problems(studio.send_as("order 1", &page("one")).await).await[0].0, "");
    assert_eq!(
        header(&studio.send_as("test 1", &page("one")).await, "x-credits-used"),
        "0"
    );
    assert!(is_replayed(&studio.send_as("test 1", &page("one")).await));
    assert_eq!(studio.renders().await, 2);
}

#[tokio::test]
async fn keys_are_1_to_255_printable_ascii_characters() {
    let studio = Studio::start().await;
    for key in ["", "tab\there", &"x".repeat(256)] {
        let (pointer, detail) = problems(studio.send_as(key, &page("x")).await).await.remove(0);
        assert_eq!(pointer, "", "{key}");
        assert!(detail.contains("1 to 255 printable ASCII"), "{detail}");
    }
    let request = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
    let request = request.bearer_auth(&studio.account.key).json(&page("x"));
    let twice = request.header("idempotency-key", "a").header("idempotency-key", "b");
    assert_eq!(problems(twice.send().await.unwrap()).await[0].0, "");
    assert_eq!(studio.send_as(&"~".repeat(255), &page("x")).await.status(), 200);
}

#[tokio::test]
async fn twenty_at_once_are_one_render_and_one_charge() {
    let studio = Studio::start().await;
    let page = page("once");
    let answers = join_all((0..20).map(|_| async {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = studio.send_as("order", &page).await;
            if answer.status() != 409 {
                break answer;
            }
            assert_eq!(header(&answer, "retry-after"), "1");
            assert!(Instant::now() < deadline, "it is under way for ever");
        }
    }))
    .await;
    assert_eq!(answers.iter().filter(|answer| !is_replayed(answer)).count(), 1);
    let ids: Vec<_> = answers.iter().map(|answer| header(answer, "x-render-id")).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert!(answers.iter().all(|answer| answer.status() == 200));
    assert_eq!((studio.renders().await, studio.charged().await), (1, 1));
    assert_eq!(studio.number(STORED).await, 1);
}

#[tokio::test]
async fn a_request_under_way_is_said_to_be_under_way() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let slow = body(origin.url("/held"), json!({}));
    let first = studio.send_as("order", &slow);
    let second = async {
        asked(&origin).await;
        let other = problems(studio.send_as("order", &page("other")).await).await;
        assert!(other[0].1.contains("another body"), "{other:?}");
        let second = studio.send_as("order", &slow).await;
        origin.release();
        second
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!((first.status().as_u16(), second.status().as_u16()), (200, 409));
    assert_eq!(header(&second, "retry-after"), "1");
    assert_eq!(studio.renders().await, 1);
}

#[tokio::test]
async fn a_fault_found_while_rendering_is_an_outcome_and_one_found_before_is_none() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let missing = body(origin.url("/status/404"), json!({}));
    let first = studio.send_as("order", &missing).await;
    let second = studio.send_as("order", &missing).await;
    assert!(is_replayed(&second) && !is_replayed(&first));
    assert_eq!(lasting_headers(&first), lasting_headers(&second));
    assert_eq!(problems(first).await, problems(second).await);
    assert_eq!(origin.hits().len(), 1);

    let mut faulty = page("x");
    faulty["scale"] = 3.into();
    assert_eq!(problems(studio.send_as("new", &faulty).await).await[0].0, "/scale");
    assert_eq!(studio.send_as("new", &page("x")).await.status(), 200);
}

#[tokio::test]
async fn other_outcomes_free_the_key() {
    let origin = Origin::start().await;
    let settings = [
        ("PLATEN_CONCURRENCY", "1"),
        ("PLATEN_SYNC_DEADLINE", "2"),
        ("PLATEN_EGRESS_ALLOW", origin.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    let never = body(origin.url("/never"), json!({}));
    // The client disconnects.
    tokio::select! {
        answer = studio.send_as("a", &never) => panic!("an answer came: {}", answer.status()),
        () = asked(&origin) => {}
    }
    studio.recorded_as("cancelled").await;
    // The key is free, so that another body is accepted; meanwhile the account's only slot is taken.
    let slow = body(origin.url("/held"), json!({}));
    let first = studio.send_as("a", &slow);
    let second = async {
        while origin.hits().len() < 2 {
            tokio::task::yield_now().await;
        }
        let second = studio.send_as("b", &page("x")).await;
        origin.release();
        second
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!((first.status().as_u16(), second.status().as_u16()), (200, 429));
    let late = studio.send_as("b", &never).await;
    assert_eq!(late.status(), 504);
    let done = studio.send_as("b", &page("x")).await;
    assert!(done.status() == 200 && !is_replayed(&done));
}

#[tokio::test]
async fn outcomes_survive_a_restart_and_need_no_credits() {
    let mut studio = Studio::start().await;
    let first = studio.send_as("order", &page("x")).await;
    let first = first.bytes().await.unwrap();
    studio.service.restart(Signal::TERM).await;
    studio.number("with gone as (update credit_periods set allowance = used, granted = 0 returning 1) select count(*) from gone").await;
    assert_eq!(studio.send_as("other", &page("x")).await.status(), 403);
    let again = studio.send_as("order", &page("x")).await;
    assert!(is_replayed(&again));
    assert_eq!(again.bytes().await.unwrap(), first);
}

#[tokio::test]
async fn a_lost_outcome_is_rendered_anew() {
    let studio = Studio::start().await;
    studio.send_as("order", &page("x")).await;
    let damage = "update idempotency_keys set answer = 'damaged'";
    assert_eq!(studio.service.execute(damage).await, 1);
    let again = studio.send_as("order", &page("x")).await;
    assert!(again.status() == 200 && !is_replayed(&again));
    assert!(is_replayed(&studio.send_as("order", &page("x")).await));
}

#[tokio::test]
async fn outcomes_expire_and_are_deleted() {
    let mut studio = Studio::start().await;
    studio.send_as("order", &page("x")).await;
    let lifetime =
        "select extract(epoch from max(expires_at - now()) + interval '1 minute')::bigint / 3600 from idempotency_keys";
    assert_eq!(studio.number(lifetime).await, 24);
    let expire = "with late as (update idempotency_keys set expires_at = now() returning 1) select count(*) from late";
    studio.number(expire).await;
    let other = studio.send_as("order", &page("y")).await;
    assert!(other.status() == 200 && !is_replayed(&other));
    studio.number(expire).await;

    studio.service.restart(Signal::TERM).await;
    studio
        .service
        .number_is(0, "select count(*) from idempotency_keys")
        .await;
}

#[tokio::test]
async fn a_process_that_dies_frees_its_keys() {
    let origin = Origin::start().await;
    let mut studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let slow = body(origin.url("/held"), json!({}));
    {
        let dying = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
        let dying = dying
            .bearer_auth(&studio.account.key)
            .header("idempotency-key", "order");
        let dying = tokio::spawn(dying.json(&slow).send());
        asked(&origin).await;
        studio.service.restart(Signal::KILL).await;
        assert!(dying.await.unwrap().is_err());
    }
    origin.release();
    let deadline = Instant::now() + PATIENCE;
    let done = loop {
        let answer = studio.send_as("order", &slow).await;
        if answer.status() != 409 {
            break answer;
        }
        assert!(Instant::now() < deadline, "the key is not free");
    };
    assert!(done.status() == 200 && !is_replayed(&done));
    assert_eq!((studio.renders().await, studio.charged().await), (2, 1));
}

#[tokio::test]
async fn two_processes_share_keys_and_outcomes() {
    let studio = Studio::start().await;
    let other = Studio {
        service: studio.service.beside(&[]).await,
        account: studio.account.clone(),
    };
    let first = studio.send_as("order", &page("x")).await;
    let second = other.send_as("order", &page("x")).await;
    assert!(is_replayed(&second));
    assert_eq!(first.bytes().await.unwrap(), second.bytes().await.unwrap());
    assert_eq!(studio.charged().await, 1);
}

#[tokio::test]
async fn a_template_is_filled_once_and_need_not_be_there_any_more() {
    let studio = Studio::start().await;
    let path = studio.template("letter", "Dear {{ name }}").await;
    let faulty = studio.template("faulty", "{{ 1 / 0 }}").await;
    let part = |path: &str| {
        let id = path.rsplit('/').next().expect("an id");
        body(
            json!({"type": "template", "content": {"template_id": id, "context": {"name": "Ann"}}}),
            json!({}),
        )
    };
    let (letter, faulty) = (part(&path), part(&faulty));
    let first = studio.send_as("letter", &letter).await.bytes().await.unwrap();
    let problem = problems(studio.send_as("faulty", &faulty).await).await;
    let delete = studio.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(delete.status(), 204);
    let again = studio.send_as("letter", &letter).await;
    assert!(is_replayed(&again));
    assert_eq!(again.bytes().await.unwrap(), first);
    let again = studio.send_as("faulty", &faulty).await;
    assert!(is_replayed(&again));
    assert_eq!(problems(again).await, problem);
}
