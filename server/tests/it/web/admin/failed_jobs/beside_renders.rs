//! Failed jobs other than renders: webhook deliveries, mails, exports, Stripe customers and usage.

use serde_json::{Value, json};

use super::{PAGE, Stage, told};
use crate::support::{background::page_with_callback, receiver::Receiver};

/// An event for Stripe's meter.
const EVENT: &str = "0198f1d2-0000-7000-8000-000000000001";

#[tokio::test]
async fn a_callback_that_was_given_up_is_sent_again() {
    let receiver = Receiver::start().await;
    let stage = Stage::set(&[("PLATEN_EGRESS_ALLOW", &receiver.authority)]).await;
    let body = page_with_callback("<p>", &receiver.url("/503"));
    let id = stage.service.queued(&stage.account, &body).await;
    let [first] = receiver.wait_for(1).await.try_into().ok().expect("one");
    stage
        .service
        .number_is(1, "select count(*) from jobs where failed_at is not null")
        .await;
    let page = stage.operator.page("/admin/jobs?kind=callback").await;
    assert!(
        page.contains("The endpoint responded with 503.") && !page.contains("as you wish"),
        "{page}"
    );
    // The last attempt.
    stage
        .service
        .execute("update jobs set failures = 7, run_at = now()")
        .await;
    let given_up = |render: &Value| render["callback"]["state"] == "failed";
    stage.service.shown_when(&stage.account, &id, given_up).await;
    let page = stage.operator.page(PAGE).await;
    assert!(page.contains(&id) && page.contains("dead letter<"), "{page}");

    let name = format!("callback.{id}");
    assert_eq!(stage.retry(&[&name]).await, told(1, 1, "retried"));
    let again = receiver.wait_for(3).await.remove(2);
    assert_eq!(again.headers["webhook-id"], first.headers["webhook-id"]);
    assert_eq!(again.body, first.body);
    stage
        .service
        .number_is(1, "select count(*) from jobs where failures = 1")
        .await;
    assert_eq!(stage.discard(&[&name]).await, told(1, 1, "discarded"));
    let render = stage.service.shown(&stage.account, &id).await;
    assert_eq!(
        (&render["state"], &render["callback"]["state"]),
        (&json!("succeeded"), &json!("failed"))
    );
    assert!(!stage.operator.page(PAGE).await.contains(&id));
}

#[tokio::test]
async fn mails_and_exports_are_tried_again_or_end() {
    let receiver = Receiver::start().await;
    let stage = Stage::without_workers(&receiver).await;
    let mail = stage.failed_mail().await;
    let page = stage.operator.page("/admin/jobs?kind=mail").await;
    assert!(
        page.contains("password changed, to a recipient at example.net") && !page.contains("bob@"),
        "{page}"
    );
    let name = format!("mail.{mail}");
    assert_eq!(stage.retry(&[&name]).await, told(1, 1, "retried"));
    let anew =
        "select count(*) from jobs where kind = 'mail' and failed_at is not null and failures = 0 and run_at <= now()";
    assert_eq!(stage.service.number(anew).await, 1);
    assert_eq!(stage.discard(&[&name]).await, told(1, 1, "discarded"));
    assert_eq!(
        stage
            .service
            .number("select count(*) from mails where failed_at is not null")
            .await,
        0
    );

    let export = |state: &str, finished: &str| {
        format!(
            "insert into exports (id, account_id, asked_by, state, run_at, tries, inserted_at, finished_at, failed_at, last_error)
             select gen_random_uuid(), account_id, user_id, '{state}', now() + interval '1 h', 3, now(), {finished}, now(), 'x'
             from members where account_id = '{}'",
            stage.account.id
        )
    };
    stage.service.execute(&export("failed", "now()")).await;
    stage.service.execute(&export("failed", "now()")).await;
    // An account can have only one export in progress.
    assert_eq!(
        stage.treat("retry-failed-work", &["all"], ["export", ""], "").await,
        "/admin/jobs?kind=export&done=retried&meant=2&made=1"
    );
    let waiting = "select count(*) from exports join jobs on export_id = exports.id
                   where state = 'waiting' and failures = 0 and jobs.run_at <= now()";
    assert_eq!(stage.service.number(waiting).await, 1);
    // The owner is notified about the export that was still pending.
    let location = stage
        .treat("discard-failed-work", &["all"], ["export", ""], "no room")
        .await;
    assert_eq!(location, "/admin/jobs?kind=export&done=discarded&meant=2&made=2");
    assert_eq!(
        stage
            .service
            .number(
                "select count(*) from exports left join jobs on export_id = exports.id
                 where state = 'failed' and jobs.id is null"
            )
            .await,
        2
    );
    let letters =
        "select count(*) from mails where letter ->> 'kind' = 'export_failed' and recipient = 'ann@example.org'";
    assert_eq!(stage.service.number(letters).await, 1);
}

#[tokio::test]
async fn a_customer_is_asked_about_again_or_left_until_stripe_tells_of_something() {
    let receiver = Receiver::start().await;
    let stage = Stage::without_workers(&receiver).await;
    let insert = format!(
        "insert into stripe_customers (id, account_id, look_at, failures, inserted_at, failed_at, last_error)
         values ('cus_1', '{}', now() + interval '1 h', 4, now(), now(), 'Stripe does not answer')",
        stage.account.id
    );
    stage.service.execute(&insert).await;
    assert!(stage.operator.page(PAGE).await.contains("Stripe customer"));
    assert_eq!(stage.retry(&["customer.cus_1"]).await, told(1, 1, "retried"));
    assert_eq!(
        stage
            .service
            .number("select count(*) from jobs where customer_id = 'cus_1' and run_at <= now()")
            .await,
        1
    );
    assert_eq!(stage.discard(&["customer.cus_1"]).await, told(1, 1, "discarded"));
    assert_eq!(
        stage
            .service
            .number("select count(*) from stripe_customers customers left join jobs on customer_id = customers.id where jobs.id is null")
            .await,
        1
    );
    assert!(stage.operator.page(PAGE).await.contains("No failed jobs"));
}

#[tokio::test]
async fn what_was_used_is_told_after_all_or_not_paid_for() {
    let receiver = Receiver::start().await;
    let stage = Stage::without_workers(&receiver).await;
    let insert = format!(
        "insert into stripe_customers (id, account_id, inserted_at) values ('cus_1', '{}', now());
         insert into stripe_meter_events
             (id, customer_id, credits, used_at, send_at, failures, failed_at, last_error, in_doubt_since, given_up_at)
         values ('{EVENT}', 'cus_1', 12, now(), now(), 9, now(), 'Stripe did not say', now(), now())",
        stage.account.id
    );
    stage.service.execute(&insert).await;
    assert!(stage.operator.page(PAGE).await.contains("Stripe usage report"));
    let name = format!("usage.{EVENT}");
    assert_eq!(stage.retry(&[&name]).await, told(1, 1, "retried"));
    let due = "select count(*) from stripe_meter_events events join jobs on meter_event_id = events.id
               where run_at <= now() and given_up_at is null and in_doubt_since is null";
    assert_eq!(stage.service.number(due).await, 1);
    assert_eq!(stage.discard(&[&name]).await, told(1, 1, "discarded"));
    let left = "select count(*) from stripe_meter_events where given_up_at is not null";
    assert_eq!(stage.service.number(left).await, 1);
    assert!(stage.operator.page(PAGE).await.contains("No failed jobs"));
}
