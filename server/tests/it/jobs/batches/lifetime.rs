//! How long batches wait for their rows, may take, can be retried, and are found by their idempotency keys.

use std::collections::BTreeSet;

use futures::future::join_all;
use reqwest::{Method, Response};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{NDJSON, counts, data, numbers, with_rows};
use crate::support::{
    object_stores::{Access, access_key, s3},
    receiver::Receiver,
    storage_limits::ROOM_FOR_RENDERS,
    studio::{Studio, header},
};

const BATCHES: &str = "select count(*) from batches";

/// Creates a batch, and returns its path once it has ended.
async fn ended(studio: &Studio, body: &Value) -> String {
    let path = studio.created(body).await;
    studio.batch_ended(&path).await;
    path
}

/// Sets a time of a batch to `age` ago.
async fn set_age(studio: &Studio, path: &str, column: &str, age: &str) {
    let (_, id) = path.rsplit_once('/').expect("an id");
    let update = format!("update batches set {column} = now() - interval '{age}' where id = '{id}'");
    assert_eq!(studio.service.execute(&update).await, 1);
}

/// Restarts the service, which deletes old batches when it starts, and waits until `count` are left.
async fn purged(studio: &mut Studio, count: i64) {
    studio.service.restart(Signal::TERM).await;
    studio.service.number_is(count, BATCHES).await;
}

#[tokio::test]
async fn failed_rows_are_retried_until_two_weeks_after_the_end() {
    let mut studio = Studio::start().await;
    let body = with_rows(studio.batch("{{ number + 1 }}").await, [json!({"number": "none"})]);
    let (recent, old) = (ended(&studio, &body).await, ended(&studio, &body).await);
    set_age(&studio, &recent, "ended_at", "13 days 23 hours").await;
    set_age(&studio, &old, "ended_at", "14 days 1 minute").await;
    purged(&mut studio, 1).await;
    assert_eq!(studio.act(&old, "retry").await.status(), 404);
    assert_eq!(data(studio.act(&recent, "retry").await).await["state"], "running");
    assert_eq!(counts(&studio.batch_ended(&recent).await), [1, 1, 0, 1]);
}

/// Returns as many rows of 200 kB, as NDJSON.
fn large_rows(numbers: impl IntoIterator<Item = Value>) -> String {
    let row = |number| format!("{}\n", json!({"number": number, "text": "x".repeat(200_000)}));
    numbers.into_iter().map(row).collect()
}

#[tokio::test]
async fn only_failed_rows_stay_stored_until_others_need_their_room() {
    let studio = Studio::start().await;
    let (service, account) = (&studio.service, &studio.account);
    let limit = ROOM_FOR_RENDERS + 1_500_000;
    service.limit_storage(account, "queued_bytes", limit).await;
    let body = studio.batch("{{ number + 1 }}").await;
    let path = studio.created(&body).await;
    // A piece has six of them.
    let rows = large_rows((1..=6).map(Value::from).chain([json!("none")]));
    assert_eq!(studio.upload(&path, NDJSON, rows).await.status(), 200);
    assert_eq!(counts(&studio.batch_ended(&path).await), [7, 7, 6, 1]);
    service.number_is(1, "select count(*) from batch_pieces").await;
    assert_eq!(data(studio.act(&path, "retry").await).await["state"], "running");
    assert_eq!(counts(&studio.batch_ended(&path).await), [7, 7, 6, 1]);

    let other = studio.created(&body).await;
    let rows = large_rows((1..=7).map(Value::from));
    assert_eq!(studio.upload(&other, NDJSON, rows).await.status(), 200);
    assert_eq!(counts(&studio.batch_ended(&other).await), [7, 7, 7, 0]);
    let answer = studio.act(&path, "retry").await;
    assert_eq!(answer.status(), 409);
    let message = answer.text().await.expect("a text");
    assert!(message.contains("other queued renders needed the storage"), "{message}");
}

#[tokio::test]
async fn rows_of_ended_batches_are_deleted_once_no_content_is_stored() {
    let mut studio = Studio::start().await;
    let body = with_rows(studio.batch("{{ number + 1 }}").await, [json!({"number": "none"})]);
    let path = ended(&studio, &body).await;
    let pieces = "select count(*) from batch_pieces";
    assert_eq!(studio.service.number(pieces).await, 1);
    studio
        .service
        .execute("update accounts set keep_content = false, forget_content_before = now()")
        .await;
    studio.service.restart(Signal::TERM).await;
    studio.service.number_is(0, pieces).await;
    assert_eq!(studio.act(&path, "retry").await.status(), 409);
}

#[tokio::test]
async fn equal_requests_at_once_create_the_last_batch_that_an_account_may_have() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let body = studio.batch("{{ number }}").await;
    for _ in 0..19 {
        studio.created(&body).await;
    }
    let answers = join_all((0..4).map(|_| created_with_key(&studio, "november", &body))).await;
    let locations: BTreeSet<_> = answers.iter().map(|answer| header(answer, "location")).collect();
    assert_eq!(locations.len(), 1);
    assert_eq!(studio.service.number(BATCHES).await, 20);
}

#[tokio::test]
async fn failed_rows_of_test_batches_are_retried_for_less_than_a_day() {
    let mut studio = Studio::start().await;
    let body = with_rows(studio.batch("{{ number + 1 }}").await, [json!({"number": "none"})]);
    let live = ended(&studio, &body).await;
    let key = studio.service.create_key("ann@example.org", "test", &["--test"]);
    let live_key = std::mem::replace(&mut studio.account.key, key.succeeded());
    let (recent, old) = (ended(&studio, &body).await, ended(&studio, &body).await);
    set_age(&studio, &recent, "inserted_at", "23 hours 30 minutes").await;
    for path in [&live, &old] {
        set_age(&studio, path, "inserted_at", "24 hours").await;
    }
    purged(&mut studio, 2).await;
    assert_eq!(studio.act(&old, "retry").await.status(), 404);
    assert_eq!(data(studio.act(&recent, "retry").await).await["state"], "running");
    assert_eq!(counts(&studio.batch_ended(&recent).await), [1, 1, 0, 1]);
    studio.account.key = live_key;
    assert_eq!(data(studio.act(&live, "retry").await).await["state"], "running");
    assert_eq!(counts(&studio.batch_ended(&live).await), [1, 1, 0, 1]);
}

#[tokio::test]
async fn batches_wait_a_day_for_their_rows_and_take_28_days_at_most() {
    let receiver = Receiver::start().await;
    let guard = ("PLATEN_EGRESS_ALLOW", receiver.authority.as_str());
    let worker = [("PLATEN_ROLE", "worker"), guard];
    // Without a worker, no row is begun.
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web"), guard]).await;
    let body = studio.batch("{{ number + 1 }}").await;
    let with_row = with_rows(body.clone(), numbers(1));
    let mut with_endless_row = with_row.clone();
    with_endless_row["batch"]["render"]["evaluate_js"] = json!({"expression": "new Promise(() => {})"});
    with_endless_row["batch"]["callback"] = json!({"url": receiver.url("/ended")});
    let failing = with_rows(body.clone(), [json!({"number": "none"})]);
    let (endless, retried) = (studio.created(&with_endless_row).await, studio.created(&failing).await);
    let first_worker = studio.service.beside(&worker).await;
    studio.batch_when(&endless, |batch| batch["opened"] == 1).await;
    studio.batch_ended(&retried).await;
    drop(first_worker);
    let (open, abandoned) = (studio.created(&body).await, studio.created(&body).await);
    // Its rows may still be arriving.
    let uploaded = studio.created(&body).await;
    assert_eq!(
        studio.upload(&uploaded, NDJSON, "{\"number\": 1}\n{").await.status(),
        422
    );
    let paused = studio.created(&with_row).await;
    set_age(&studio, &retried, "inserted_at", "28 days 1 minute").await;
    assert_eq!(data(studio.act(&retried, "retry").await).await["state"], "running");
    for path in [&paused, &endless, &retried] {
        assert_eq!(data(studio.act(path, "pause").await).await["state"], "paused");
    }
    for (path, age) in [
        (&open, "23 hours 59 minutes"),
        (&abandoned, "24 hours 1 minute"),
        (&uploaded, "24 hours 1 minute"),
        (&paused, "27 days 23 hours"),
        (&endless, "28 days 1 minute"),
    ] {
        set_age(&studio, path, "inserted_at", age).await;
    }
    let second_worker = studio.service.beside(&worker).await;
    studio.service.number_is(5, BATCHES).await;
    let row = "{\"number\": 1}";
    data(studio.upload(&uploaded, NDJSON, row).await).await;
    assert_eq!(counts(&studio.batch_ended(&uploaded).await), [1, 1, 1, 0]);
    assert_eq!(studio.upload(&abandoned, NDJSON, row).await.status(), 404);
    // As if it had been cancelled by a client.
    let cancelled = studio.batch_when(&endless, |batch| batch["failed"] == 1).await;
    assert_eq!(cancelled["state"], "cancelled");
    assert_eq!(studio.outcomes(&endless).await[0]["error"]["code"], "cancelled");
    let sent = receiver.wait_for(1).await;
    let event: Value = serde_json::from_str(&sent[0].body).expect("JSON");
    assert_eq!(
        (&event["type"], &event["data"]["state"]),
        (&json!("batch.ended"), &json!("cancelled"))
    );
    data(studio.act(&retried, "resume").await).await;
    assert_eq!(counts(&studio.batch_ended(&retried).await), [1, 1, 0, 1]);
    data(studio.upload(&open, NDJSON, row).await).await;
    assert_eq!(counts(&studio.batch_ended(&open).await), [1, 1, 1, 0]);
    data(studio.act(&paused, "resume").await).await;
    assert_eq!(counts(&studio.batch_ended(&paused).await), [1, 1, 1, 0]);
    // From a retry on, a batch may take as long once more.
    drop(second_worker);
    data(studio.act(&retried, "retry").await).await;
    data(studio.act(&retried, "pause").await).await;
    set_age(&studio, &retried, "retried_at", "28 days 1 minute").await;
    let _worker = studio.service.beside(&worker).await;
    let cancelled = studio.batch_when(&retried, |batch| batch["state"] == "cancelled").await;
    assert_eq!(counts(&cancelled), [1, 1, 0, 1]);
}

#[tokio::test]
async fn paths_of_documents_outlive_their_renders() {
    let store = s3().await;
    let bucket = store.bucket(Access::Full);
    let mut studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", "127.0.0.1")]).await;
    let connection = json!({
        "provider": "aws_s3", "name": "all", "bucket": bucket, "path_prefix": "", "endpoint": store.endpoint(),
        "credentials": access_key(),
    });
    studio.connected(&connection).await;
    let mut body = with_rows(studio.batch("{{ number }}").await, numbers(2));
    let destination = json!({"provider": "aws_s3", "bucket": bucket, "path": "{{ number }}.pdf"});
    body["batch"]["render"]["destination"] = destination;
    let path = ended(&studio, &body).await;
    // The account's plan, Scale, retains renders for 90 days.
    let age = "update renders set inserted_at = now() - interval '91 days'";
    assert_eq!(studio.service.execute(age).await, 2);
    studio.service.restart(Signal::TERM).await;
    studio.service.number_is(0, "select count(*) from renders").await;
    for (outcome, expected) in studio.outcomes(&path).await.iter().zip(["1.pdf", "2.pdf"]) {
        assert_eq!(
            (&outcome["state"], &outcome["path"], &outcome["render_id"]),
            (&json!("succeeded"), &json!(expected), &Value::Null)
        );
    }
}

/// Creates a batch with an idempotency key.
async fn created_with_key(studio: &Studio, key: &str, body: &Value) -> Response {
    let request = studio.request(Method::POST, "/api/v1/batches");
    let request = request.header("idempotency-key", key).json(body);
    request.send().await.expect("an answer")
}

/// Creates a batch with an idempotency key that has ended already, and returns its path.
async fn cancelled_with_key(studio: &Studio, key: &str, body: &Value) -> String {
    let created = created_with_key(studio, key, body).await;
    let path = header(&created, "location").to_owned();
    assert_eq!(data(studio.act(&path, "cancel").await).await["state"], "cancelled");
    path
}

/// Adds 105 batches that have been cancelled just now, like the only one.
pub(super) async fn add_cancelled(studio: &Studio) {
    let more = "insert into batches
            (id, account_id, has_key, livemode, name, state, version, sealed, options, inserted_at, ended_at)
         select gen_random_uuid(), account_id, false, livemode, name, 'cancelled', version, '', options, now(), now()
         from batches, generate_series(1, 105)";
    assert_eq!(studio.service.execute(more).await, 105);
}

#[tokio::test]
async fn a_request_may_be_repeated_for_a_day_however_many_batches_follow() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let body = studio.batch("{{ number }}").await;
    let path = cancelled_with_key(&studio, "november", &body).await;
    set_age(&studio, &path, "ended_at", "1 hour").await;
    add_cancelled(&studio).await;
    studio.created(&body).await;
    // Without two of the 105, and with the new one.
    assert_eq!(studio.service.number(BATCHES).await, 105);
    let repeated = created_with_key(&studio, "november", &body).await;
    assert_eq!(header(&repeated, "idempotent-replayed"), "true");
    assert_eq!(header(&repeated, "location"), path);

    set_age(&studio, &path, "inserted_at", "24 hours 1 minute").await;
    studio.created(&body).await;
    let answer = studio.request(Method::GET, &path).send().await.expect("an answer");
    assert_eq!(answer.status(), 404);
}

#[tokio::test]
async fn a_cancelled_batch_is_not_deleted_before_its_renders_are_cancelled() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let body = studio.batch("{{ number }}").await;
    let path = studio.created(&with_rows(body.clone(), numbers(1))).await;
    assert_eq!(data(studio.act(&path, "cancel").await).await["state"], "cancelled");
    // As if a worker had opened its row before.
    assert_eq!(studio.service.execute("update batches set opened = 1").await, 1);
    set_age(&studio, &path, "ended_at", "1 hour").await;
    add_cancelled(&studio).await;
    studio.created(&body).await;
    assert_eq!(studio.get_data(&path).await["state"], "cancelled");
    let ended = "update batches set failed = 1 where opened = 1";
    assert_eq!(studio.service.execute(ended).await, 1);
    studio.created(&body).await;
    let answer = studio.request(Method::GET, &path).send().await.expect("an answer");
    assert_eq!(answer.status(), 404);
}

#[tokio::test]
async fn batches_whose_requests_may_be_repeated_have_ten_million_rows_at_most() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let body = studio.batch("{{ number }}").await;
    for (key, age, opened) in [
        ("october", "2 hours", 1),
        ("november", "1 hour", 9_999_999),
        ("december", "1 minute", 1),
    ] {
        let path = cancelled_with_key(&studio, key, &body).await;
        set_age(&studio, &path, "ended_at", age).await;
        let (_, id) = path.rsplit_once('/').expect("an id");
        let update =
            format!("update batches set rows = {opened}, opened = {opened}, succeeded = {opened} where id = '{id}'");
        assert_eq!(studio.service.execute(&update).await, 1);
    }
    studio.created(&body).await;
    let keys = "select string_agg(idempotency_key, ' ' order by id) from batches where ended_at is not null";
    assert_eq!(studio.service.text(keys).await, "november december");
}

#[tokio::test]
async fn a_request_that_is_repeated_after_a_day_creates_another_batch() {
    let studio = Studio::start().await;
    let body = with_rows(studio.batch("{{ number }}").await, numbers(1));
    let send = async || created_with_key(&studio, "november", &body).await;
    let first = send().await;
    let path = header(&first, "location");
    set_age(&studio, path, "inserted_at", "23 hours 59 minutes").await;
    let repeated = send().await;
    assert_eq!(header(&repeated, "idempotent-replayed"), "true");
    assert_eq!(header(&repeated, "location"), path);
    set_age(&studio, path, "inserted_at", "24 hours 1 minute").await;
    let another = send().await;
    assert_eq!(another.status(), 201);
    assert!(another.headers().get("idempotent-replayed").is_none());
    assert_ne!(header(&another, "location"), path);
    // The key now belongs to that batch.
    assert_eq!(header(&send().await, "location"), header(&another, "location"));
    for path in [path, header(&another, "location")] {
        assert_eq!(counts(&studio.batch_ended(path).await), [1, 1, 1, 0]);
    }
}
