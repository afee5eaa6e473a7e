//! Batches on hold, and what happens to them meanwhile: retries, other batches, and changes of their key.

use std::mem;

use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{counts, data, next_turn, numbers, of_two_credits, stored_by_one_row, with_rows};
use crate::support::{receiver::Receiver, service::TestService, studio::Studio};

/// Renders that wait for storage.
const WAITING: &str = "select count(*) from jobs where hold = 'storage' and not resumed";
/// Credits under the limits of keys.
const USED: &str = "select coalesce(sum(used), 0)::bigint from key_credit_usage";
const RESERVED: &str = "select coalesce(sum(reserved), 0)::bigint from key_credit_counters";

/// Limits the documents of the account to this many halves of `size`.
async fn limit_documents(studio: &Studio, size: i64, halves: i64) {
    let limit = size * halves / 2;
    studio
        .service
        .limit_storage(&studio.account, "document_bytes", limit)
        .await;
}

/// A key of an account that has another one, too.
struct OtherKey {
    id: String,
    key: String,
}

impl OtherKey {
    fn create(service: &TestService, arguments: &[&str]) -> Self {
        let created = service.create_key("ann@example.org", "batches", arguments);
        Self {
            id: created.stderr.trim().to_owned(),
            key: created.succeeded(),
        }
    }

    fn revoke(&self, service: &TestService) {
        service.command(&["keys", "revoke", &self.id], "").succeeded();
    }

    /// Creates a batch with this key, and returns its path.
    async fn batch(&self, studio: &mut Studio, body: &Value) -> String {
        let own = mem::replace(&mut studio.account.key, self.key.clone());
        let path = studio.created(body).await;
        studio.account.key = own;
        path
    }
}

/// Returns the path of a batch on hold, whose first three rows took all credits, and its key.
async fn held_for_credits(rows: usize) -> (Studio, OtherKey, String) {
    let service = TestService::start().await;
    let account = service.account_with("ann@example.org", &["--credits", "3"]);
    let mut studio = Studio { service, account };
    let key = OtherKey::create(&studio.service, &[]);
    let body = with_rows(studio.batch("{{ number }}").await, numbers(rows));
    let path = key.batch(&mut studio, &body).await;
    studio
        .batch_when(&path, |batch| batch["hold"] == "credits" && batch["succeeded"] == 3)
        .await;
    (studio, key, path)
}

fn grant_credits(service: &TestService) {
    let grant = ["accounts", "grant", "--email", "ann@example.org", "--credits", "100"];
    service.command(&grant, "").succeeded();
}

#[tokio::test]
async fn failed_rows_are_retried_while_others_wait_for_storage() {
    let studio = Studio::start().await;
    let body = studio.batch("{{ number + 1 }}").await;
    let size = stored_by_one_row(&studio, &body).await;
    limit_documents(&studio, size, 5).await;
    let rows = [json!({"number": "none"})].into_iter().chain(numbers(3));
    let path = studio.created(&with_rows(body, rows)).await;
    let is_held = |batch: &Value| batch["hold"] == "storage" && counts(batch) == [4, 4, 1, 1];
    studio.batch_when(&path, is_held).await;
    assert_eq!(data(studio.act(&path, "retry").await).await["state"], "running");
    // The row fails once more, and the others still wait.
    let failed = "select count(*) from renders where status = 'failed'";
    studio.service.number_is(2, failed).await;
    studio.batch_when(&path, is_held).await;
    assert_eq!(studio.service.number(WAITING).await, 2);
    limit_documents(&studio, size, 100).await;
    next_turn(&studio.service).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [4, 4, 3, 1]);
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn rows_that_failed_for_lack_of_storage_wait_for_it_when_they_are_retried() {
    let studio = Studio::start().await;
    let body = studio.batch("{{ number }}").await;
    let size = stored_by_one_row(&studio, &body).await;
    studio.service.execute("delete from renders").await;
    // No document fits, so that none is waited for.
    limit_documents(&studio, size, 1).await;
    let path = studio.created(&with_rows(body, numbers(3))).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [3, 3, 0, 3]);
    limit_documents(&studio, size, 3).await;
    data(studio.act(&path, "retry").await).await;
    let is_held = |batch: &Value| batch["hold"] == "storage" && counts(batch) == [3, 3, 1, 0];
    studio.batch_when(&path, is_held).await;
    limit_documents(&studio, size, 100).await;
    next_turn(&studio.service).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [3, 3, 3, 0]);
    assert_eq!(studio.text(&format!("{path}/errors")).await, "");
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn two_batches_that_wait_for_storage_never_exceed_it_and_both_end() {
    let studio = Studio::start().await;
    let body = studio.batch("{{ number }}").await;
    let size = stored_by_one_row(&studio, &body).await;
    limit_documents(&studio, size, 5).await;
    let body = with_rows(body, numbers(3));
    let paths = [studio.created(&body).await, studio.created(&body).await];
    studio.service.number_is(5, WAITING).await;
    for path in &paths {
        studio.batch_when(path, |batch| batch["hold"] == "storage").await;
    }
    // There is room for two more documents, whichever batch has its turn first.
    limit_documents(&studio, size, 9).await;
    next_turn(&studio.service).await;
    let with_status = |status: &str| format!("select count(*) from renders where status = '{status}'");
    studio.service.number_is(4, &with_status("succeeded")).await;
    studio.service.number_is(3, WAITING).await;
    assert_eq!(studio.service.number(&with_status("failed")).await, 0);
    limit_documents(&studio, size, 100).await;
    next_turn(&studio.service).await;
    for path in &paths {
        assert_eq!(counts(&studio.batch_ended(path).await), [3, 3, 3, 0]);
    }
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn rows_beyond_the_credit_limit_of_their_key_wait_until_it_is_raised() {
    let mut studio = Studio::start().await;
    let limited = OtherKey::create(&studio.service, &["--credit-limit", "7"]);
    // Each reserves one credit when it is begun, so that none has two at first.
    let body = with_rows(studio.batch(&of_two_credits()).await, numbers(7));
    let path = limited.batch(&mut studio, &body).await;
    let held = studio
        .batch_when(&path, |batch| batch["hold"] == "credits" && batch["succeeded"] == 3)
        .await;
    assert_eq!(counts(&held), [7, 7, 3, 0]);
    // They don't keep the last credit of the limit from other renders with the key.
    assert_eq!(studio.service.number(RESERVED).await, 0);
    studio.account.key = limited.key;
    assert_eq!(studio.render("<p>", json!({})).await.status(), 200);
    assert_eq!(studio.render("<p>", json!({})).await.status(), 403);
    let raise = "update api_keys set credit_limit = 100 where name = 'batches'";
    assert_eq!(studio.service.execute(raise).await, 1);
    next_turn(&studio.service).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [7, 7, 7, 0]);
    assert_eq!(studio.service.number(USED).await, 15);
    assert_eq!(studio.service.number(RESERVED).await, 0);
}

#[tokio::test]
async fn a_row_that_costs_more_than_its_key_may_use_in_a_month_fails() {
    let mut studio = Studio::start().await;
    let limited = OtherKey::create(&studio.service, &["--credit-limit", "1"]);
    let body = with_rows(studio.batch(&of_two_credits()).await, numbers(1));
    let path = limited.batch(&mut studio, &body).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [1, 1, 0, 1]);
    let error = &studio.outcomes(&path).await[0]["error"];
    assert_eq!(error["code"], "credits");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("credit limit of 1"), "{message}");
    assert_eq!(studio.service.number(USED).await, 0);
}

#[tokio::test]
async fn a_batch_on_hold_begins_no_more_rows_once_its_key_is_revoked() {
    let (studio, key, path) = held_for_credits(12).await;
    key.revoke(&studio.service);
    grant_credits(&studio.service);
    next_turn(&studio.service).await;
    let held = studio.batch_when(&path, |batch| batch["hold"] == "key").await;
    assert_eq!(counts(&held), [12, 3, 3, 0]);
    assert_eq!(studio.service.number("select count(*) from renders").await, 3);
    // With another key it can only be cancelled.
    let cancelled = data(studio.act(&path, "cancel").await).await;
    assert_eq!(
        (&cancelled["state"], &cancelled["hold"]),
        (&json!("cancelled"), &Value::Null)
    );
    studio
        .service
        .number_is(0, "select count(*) from jobs where kind = 'batch'")
        .await;
}

#[tokio::test]
async fn a_batch_goes_on_after_its_key_was_replaced() {
    let (mut studio, _, path) = held_for_credits(5).await;
    // As long after the time for which both keys are valid, when old renders and keys are deleted.
    OtherKey::create(&studio.service, &[]);
    let replace =
        "update api_keys set replaced_at = now(), expires_at = now() - interval '60 days' where name = 'batches'";
    assert_eq!(studio.service.execute(replace).await, 2);
    studio.service.execute("update renders set api_key_id = null").await;
    studio.service.restart(Signal::TERM).await;
    let keys = "select count(*) from api_keys where name = 'batches'";
    studio.service.number_is(1, keys).await;
    grant_credits(&studio.service);
    next_turn(&studio.service).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [5, 5, 5, 0]);
}

#[tokio::test]
async fn rows_in_progress_become_documents_although_their_key_is_revoked_while_they_wait() {
    let mut studio = Studio::start().await;
    let body = studio.batch("{{ number }}").await;
    let size = stored_by_one_row(&studio, &body).await;
    limit_documents(&studio, size, 5).await;
    let key = OtherKey::create(&studio.service, &[]);
    let path = key.batch(&mut studio, &with_rows(body, numbers(4))).await;
    studio
        .batch_when(&path, |batch| batch["hold"] == "storage" && batch["succeeded"] == 1)
        .await;
    key.revoke(&studio.service);
    limit_documents(&studio, size, 100).await;
    next_turn(&studio.service).await;
    let batch = studio.batch_ended(&path).await;
    assert_eq!((counts(&batch), &batch["hold"]), ([4, 4, 4, 0], &Value::Null));
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn batches_leave_half_of_the_pending_webhooks_to_other_renders() {
    let receiver = Receiver::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &receiver.authority)]).await;
    let limit = |webhooks| {
        studio
            .service
            .limit_storage(&studio.account, "pending_callbacks", webhooks)
    };
    limit(4).await;
    let mut body = with_rows(studio.batch("{{ number }}").await, numbers(3));
    // Deliveries fail, and are pending for a day.
    body["batch"]["render"]["callback"] = json!({"url": receiver.url("/500")});
    let path = studio.created(&body).await;
    let held = studio.batch_when(&path, |batch| batch["hold"] == "storage").await;
    assert_eq!(counts(&held), [3, 2, 2, 0]);
    let single = json!({"parts": ["<p>"], "callback": {"url": receiver.url("/")}});
    let single = studio
        .request(Method::POST, "/api/v1/renderers/pdf/async")
        .json(&single)
        .send();
    assert_eq!(single.await.expect("an answer").status(), 200);
    limit(100).await;
    next_turn(&studio.service).await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [3, 3, 3, 0]);
}

#[tokio::test]
async fn a_batch_goes_on_although_held_renders_of_another_one_fill_half_of_the_queue() {
    let service = TestService::start().await;
    let account = service.account_with("ann@example.org", &["--credits", "7"]);
    let studio = Studio { service, account };
    let body = with_rows(studio.batch(&of_two_credits()).await, numbers(7));
    let held = studio.created(&body).await;
    studio
        .batch_when(&held, |batch| batch["hold"] == "credits" && batch["succeeded"] == 3)
        .await;
    let limit_queue = async |limit| {
        studio
            .service
            .limit_storage(&studio.account, "queued_renders", limit)
            .await;
    };
    // Four renders are held.
    limit_queue(4).await;
    let body = json!({"batch": {"render": {"parts": ["<p>{{ number }}"]}}});
    let cheaper = studio.created(&with_rows(body, numbers(1))).await;
    let waiting = studio.batch_when(&cheaper, |batch| batch["hold"] == "storage").await;
    assert_eq!(counts(&waiting), [1, 0, 0, 0]);
    limit_queue(8).await;
    next_turn(&studio.service).await;
    let batch = studio.batch_ended(&cheaper).await;
    assert_eq!((counts(&batch), &batch["hold"]), ([1, 1, 1, 0], &Value::Null));
    assert_eq!(counts(&studio.get_data(&held).await), [7, 7, 3, 0]);
}
