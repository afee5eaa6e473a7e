//! Fairness between accounts when jobs are waiting.

use std::time::Duration;

use platen_core::store::{
    instances,
    jobs::{self, ClaimRequest, ClaimedJob, Share},
};
use platen_domain::{
    ids::{AccountId, InstanceId},
    job::JobKind,
};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use crate::support::{
    origin::Origin,
    queue::claim,
    service::{TestAccount, TestService},
    studio::Studio,
};

/// Returns the accounts in the order in which their renders were started.
async fn order(service: &TestService, accounts: &[&str]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut listed = Vec::new();
    for (index, key) in accounts.iter().enumerate() {
        let request = service.client.get(service.url("/api/v1/renders?page_size=1000"));
        let answer: Value = request
            .bearer_auth(key)
            .send()
            .await
            .expect("an answer")
            .json()
            .await
            .expect("JSON");
        for render in answer["data"].as_array().expect("a list") {
            listed.push((render["started_at"].as_str().expect("a time").to_owned(), index));
        }
    }
    listed.sort();
    order.extend(listed.into_iter().map(|(_, index)| index));
    order
}

#[tokio::test]
async fn accounts_take_turns() {
    let service = TestService::start_with(&[("PLATEN_ROLE", "web")]).await;
    let many = service.account("many@example.org");
    let few = service.account("few@example.org");
    for _ in 0..30 {
        service.queued(&many, &json!({"parts": ["<p>many"]})).await;
    }
    for _ in 0..3 {
        service.queued(&few, &json!({"parts": ["<p>few"]})).await;
    }
    let _worker = service
        .beside(&[("PLATEN_ROLE", "worker"), ("PLATEN_SLOTS", "1")])
        .await;
    service.number_is(0, "select count(*) from jobs").await;
    let order = order(&service, &[&many.key, &few.key]).await;
    assert_eq!(order.len(), 33);
    // The account with few renders came last, but is done after hardly more renders of the other one.
    let last_of_few = order.iter().rposition(|&account| account == 1).unwrap();
    assert!(last_of_few < 10, "{order:?}");
}

#[tokio::test]
async fn an_account_has_no_more_in_hand_than_its_plan_allows_over_all_processes() {
    let origin = Origin::start().await;
    let service = TestService::start_with(&[("PLATEN_ROLE", "web")]).await;
    // The Free plan allows two at once.
    let account = service.account_with("free@example.org", &["--plan", "Free"]);
    let settings = [
        ("PLATEN_ROLE", "worker"),
        ("PLATEN_EGRESS_ALLOW", origin.authority.as_str()),
        ("PLATEN_CONCURRENCY", ""),
    ];
    let _workers = (service.beside(&settings).await, service.beside(&settings).await);
    for _ in 0..6 {
        service
            .queued(&account, &json!({"parts": [origin.url("/slow/500")]}))
            .await;
    }
    let other = service.account("other@example.org");
    let unaffected = service.queued(&other, &json!({"parts": ["<p>"]})).await;
    let mut most = 0;
    while service.number("select count(*) from jobs").await > 0 {
        let in_hand = format!(
            "select count(*) from jobs where claim is not null and account_id = '{}'",
            account.id
        );
        most = most.max(service.number(&in_hand).await);
    }
    assert_eq!(most, 2);
    assert_eq!(service.ended(&other, &unaffected).await["state"], "succeeded");
    let succeeded = "select count(*) from renders where status = 'succeeded'";
    assert_eq!(service.number(succeeded).await, 7);
}

#[tokio::test]
async fn workers_share_the_concurrent_renders_of_an_account() {
    let service = TestService::start_with(&[("PLATEN_ROLE", "web")]).await;
    let account = service.account("ann@example.org");
    for _ in 0..10 {
        service.queued(&account, &json!({"parts": ["<p>"]})).await;
    }
    let db = PgPool::connect(service.database_url()).await.unwrap();
    let (first, second) = (InstanceId::generate(), InstanceId::generate());
    let claimed = async |instance, workers, at_least| {
        let request = ClaimRequest {
            kind: JobKind::Render,
            jobs: 10,
            after: AccountId(Uuid::nil()),
            cap: Some(8),
            share: Some(Share { workers, at_least }),
        };
        claim(&db, instance, request).await.len()
    };
    // A third of eight, rounded up.
    assert_eq!(claimed(first, 3, 1).await, 3);
    assert_eq!(claimed(first, 3, 1).await, 0);
    // Slots that would otherwise be idle.
    assert_eq!(claimed(first, 3, 4).await, 1);
    // The other process was alone when it last looked.
    assert_eq!(claimed(second, 1, 1).await, 4);
    assert_eq!(claimed(second, 1, 8).await, 0);
}

#[tokio::test]
async fn batches_of_an_account_take_turns() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let template = studio.template("Row", "{{ number }}").await;
    let (_, template) = template.rsplit_once('/').unwrap();
    let part = json!({"type": "template", "content": {"template_id": template}});
    let request = json!({"batch": {"render": {"parts": [part]}, "rows": [{"number": 1}]}});
    for _ in 0..2 {
        let created = studio
            .request(Method::POST, "/api/v1/batches")
            .json(&request)
            .send()
            .await;
        assert_eq!(created.unwrap().status(), 201);
    }
    let db = PgPool::connect(studio.service.database_url()).await.unwrap();
    let mut turns = Vec::new();
    for _ in 0..3 {
        let request = ClaimRequest {
            kind: JobKind::Batch,
            jobs: 1,
            after: AccountId(Uuid::nil()),
            cap: Some(1),
            share: None,
        };
        let [ClaimedJob::Batch(job)] = claim(&db, InstanceId::generate(), request).await[..] else {
            panic!("no turn")
        };
        // As after a shift.
        jobs::release(&db, &job.claim, Some(Duration::ZERO), None)
            .await
            .unwrap();
        jobs::put_batch_last(&db, job.account, job.batch).await.unwrap();
        jobs::mark_due(&db, JobKind::Batch).await.unwrap();
        turns.push(job.batch);
    }
    assert!(turns[0] == turns[2] && turns[0] != turns[1], "{turns:?}");
}

#[tokio::test]
async fn live_workers_are_counted() {
    let service = TestService::start_with(&[("PLATEN_ROLE", "web")]).await;
    let db = PgPool::connect(service.database_url()).await.unwrap();
    assert_eq!(instances::count_workers(&db).await.unwrap(), 0);
    let _worker = service.beside(&[("PLATEN_ROLE", "worker")]).await;
    let _both = service.beside(&[("PLATEN_ROLE", "all")]).await;
    assert_eq!(instances::count_workers(&db).await.unwrap(), 2);
}

#[tokio::test]
async fn what_runs_in_the_background_takes_no_place_from_those_who_wait() {
    let origin = Origin::start().await;
    let service =
        TestService::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority), ("PLATEN_CONCURRENCY", "2")]).await;
    let account = service.account("ann@example.org");
    for _ in 0..2 {
        service.queued(&account, &json!({"parts": [origin.url("/held")]})).await;
    }
    service
        .number_is(2, "select count(*) from jobs where claim is not null")
        .await;
    let body = json!({"parts": ["<p>"], "output_encoding": "binary"});
    let request = service.client.post(service.url("/api/v1/renderers/pdf"));
    let answer = request.bearer_auth(&account.key).json(&body).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    origin.release();
}

#[tokio::test]
async fn trials_do_not_delay_what_is_meant() {
    let service = TestService::start_with(&[("PLATEN_ROLE", "web")]).await;
    let live = service.account("ann@example.org");
    let key = service.create_key("ann@example.org", "test", &["--test"]).succeeded();
    let trial = TestAccount { key, ..live.clone() };
    for account in [&trial, &trial, &trial, &live, &live] {
        service.queued(account, &json!({"parts": ["<p>"]})).await;
    }
    let _worker = service
        .beside(&[("PLATEN_ROLE", "worker"), ("PLATEN_SLOTS", "1")])
        .await;
    service.number_is(0, "select count(*) from jobs").await;
    let later = "select count(*) from renders trial, renders meant
        where not trial.livemode and meant.livemode and trial.started_at < meant.started_at";
    assert_eq!(service.number(later).await, 0);
}
