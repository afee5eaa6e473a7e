//! Batches during whose turns several processes have crashed, and renders that end while no turn follows.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{counts, data, numbers, with_rows};
use crate::support::{origin::Origin, receiver::Receiver, service::TestService, studio::Studio};

/// Makes the next turn of the only batch one after three crashes.
const CRASH: &str = "update jobs
    set crashes = 3, claim = null, instance = null, lease_until = null, due = true, run_at = now()
    where kind = 'batch';";
const JOBS: &str = "select count(*) from jobs where kind in ('render', 'batch')";

/// Waits until the turn after the crashes is delayed, and gives the batch its next one.
async fn end_delay(service: &TestService) {
    let delayed = "select count(*) from jobs
        where kind = 'batch' and crashes = 0 and claim is null and run_at > now() + interval '15 seconds'";
    service.number_is(1, delayed).await;
    service
        .execute("update jobs set run_at = now() where kind = 'batch'")
        .await;
}

#[tokio::test]
async fn a_batch_that_crashes_have_paused_records_how_its_renders_end() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let mut body = studio.batch("Invoice {{ number }}").await;
    let parts = body["batch"]["render"]["parts"].as_array_mut().expect("parts");
    parts.push(json!(origin.url("/held")));
    let path = studio.created(&with_rows(body, numbers(1))).await;
    studio.batch_when(&path, |batch| batch["opened"] == 1).await;
    studio.service.execute(CRASH).await;
    studio.batch_when(&path, |batch| batch["state"] == "paused").await;
    origin.release();
    end_delay(&studio.service).await;
    let batch = studio.batch_when(&path, |batch| batch["succeeded"] == 1).await;
    assert_eq!(batch["state"], "paused");
    studio.service.number_is(0, JOBS).await;
    assert!(studio.act(&path, "resume").await.status().is_success());
    assert_eq!(counts(&studio.batch_ended(&path).await), [1, 1, 1, 0]);
}

#[tokio::test]
async fn crashes_do_not_count_once_all_rows_are_open() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let mut body = studio.batch("Invoice {{ number }}").await;
    let parts = body["batch"]["render"]["parts"].as_array_mut().expect("parts");
    parts.push(json!(origin.url("/held")));
    let path = studio.created(&with_rows(body, numbers(1))).await;
    studio.batch_when(&path, |batch| batch["opened"] == 1).await;
    let crash = "update jobs set crashes = 2 where kind = 'batch'";
    assert_eq!(studio.service.execute(crash).await, 1);
    let forgotten = "select count(*) from jobs where kind = 'batch' and crashes = 0";
    studio.service.number_is(1, forgotten).await;
    origin.release();
    assert_eq!(counts(&studio.batch_ended(&path).await), [1, 1, 1, 0]);
}

#[tokio::test]
async fn a_cancelled_batch_ends_after_crashes() {
    let receiver = Receiver::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &receiver.authority)]).await;
    let mut body = with_rows(studio.batch("{{ number }}").await, numbers(2));
    body["batch"]["render"]["evaluate_js"] = json!({"expression": "new Promise(() => {})"});
    body["batch"]["callback"] = json!({"url": receiver.url("/ended")});
    let path = studio.created(&body).await;
    studio.batch_when(&path, |batch| batch["opened"] == 2).await;
    // As `cancel` does, before any worker has a turn.
    let cancel = "update batches set state = 'cancelled', ended_at = now(), hold = null;";
    studio.service.execute(&format!("{cancel} {CRASH}")).await;
    end_delay(&studio.service).await;
    let batch = studio.batch_when(&path, |batch| batch["failed"] == 2).await;
    assert_eq!(batch["state"], "cancelled");
    let sent = receiver.wait_for(1).await;
    let event: Value = serde_json::from_str(&sent[0].body).expect("JSON");
    assert_eq!(
        (&event["type"], &event["data"]["state"], &event["data"]["failed"]),
        (&json!("batch.ended"), &json!("cancelled"), &json!(2))
    );
    studio
        .service
        .number_is(2, "select count(*) from renders where status = 'cancelled'")
        .await;
    studio.service.number_is(0, JOBS).await;
}

#[tokio::test]
async fn renders_stay_beyond_their_retention_until_their_outcomes_are_recorded() {
    let mut studio = Studio::start().await;
    let body = with_rows(studio.batch("{{ number }}").await, numbers(1));
    let path = studio.created(&body).await;
    studio.batch_ended(&path).await;
    assert_eq!(studio.render("<p>", json!({})).await.status(), 200);
    // As if no turn had followed the end of the render. The account's plan, Scale, retains renders for 90 days.
    let age = "update batch_rows set state = 'opened';
        update batches set state = 'paused', ended_at = null, succeeded = 0;
        update renders set inserted_at = now() - interval '91 days', object_expires_at = null";
    studio.service.execute(age).await;
    studio.service.restart(Signal::TERM).await;
    studio.service.number_is(1, "select count(*) from renders").await;
    data(studio.act(&path, "resume").await).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [1, 1, 1, 0]);
}

#[tokio::test]
async fn rows_whose_renders_are_deleted_fail_with_a_reason_and_are_not_rendered_again() {
    let studio = Studio::start().await;
    let rows = [json!({"number": 1}), json!({"number": "none"})];
    let body = with_rows(studio.batch("{{ number + 1 }}").await, rows);
    let path = studio.created(&body).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [2, 2, 1, 1]);
    // As a process of the previous release could, before a turn has recorded the success.
    let delete = "update batch_rows set state = 'opened' where state = 'succeeded';
        update batches set state = 'paused', ended_at = null, succeeded = 0;
        delete from renders";
    studio.service.execute(delete).await;
    data(studio.act(&path, "resume").await).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [2, 2, 0, 2]);
    assert_eq!(studio.outcomes(&path).await[0]["error"]["code"], "render_deleted");
    // Only the other one is.
    assert_eq!(data(studio.act(&path, "retry").await).await["state"], "running");
    assert_eq!(counts(&studio.batch_ended(&path).await), [2, 2, 0, 2]);
    assert_eq!(studio.service.number("select count(*) from renders").await, 1);
}
