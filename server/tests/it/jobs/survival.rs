//! Recovery from the end of processes.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{
    background::{page_with_callback, parsed},
    origin::Origin,
    receiver::Receiver,
    service::TestService,
    studio::{Studio, asked},
};

const WORKER: (&str, &str) = ("PLATEN_ROLE", "worker");

/// A render that a worker has begun, and that ends once the origin is released.
struct BegunRender {
    worker: TestService,
    studio: Studio,
    origin: Origin,
    id: String,
}

impl BegunRender {
    /// Starts it in a worker with further settings.
    async fn start(settings: &[(&str, &str)]) -> Self {
        let origin = Origin::start().await;
        let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
        let allow = ("PLATEN_EGRESS_ALLOW", origin.authority.as_str());
        let settings = [&[WORKER, allow][..], settings].concat();
        let worker = studio.service.beside(&settings).await;
        let id = studio.queued(&json!({"parts": [origin.url("/held")]})).await;
        asked(&origin).await;
        Self {
            worker,
            studio,
            origin,
            id,
        }
    }

    /// Releases the origin, and starts another worker.
    async fn continue_elsewhere(&self) -> TestService {
        self.origin.release();
        let allow = ("PLATEN_EGRESS_ALLOW", self.origin.authority.as_str());
        self.studio.service.beside(&[WORKER, allow]).await
    }

    /// Waits for the end of the render, which must succeed and cost a credit.
    async fn succeeded(&self) {
        let render = self.studio.ended(&self.id).await;
        assert_eq!(
            (&render["state"], &render["credits_used"]),
            (&json!("succeeded"), &json!(1))
        );
    }
}

#[tokio::test]
async fn what_a_killed_worker_had_in_hand_is_done_by_another() {
    let begun = BegunRender::start(&[]).await;
    begun.worker.process.signal(Signal::KILL);
    let _other = begun.continue_elsewhere().await;
    begun.succeeded().await;
    let used = "select sum(used)::bigint from credit_periods";
    assert_eq!(begun.studio.service.number(used).await, 1);
    assert_eq!(begun.origin.hits().len(), 2);
}

#[tokio::test]
async fn a_worker_that_stops_finishes_what_it_can_within_the_grace_time() {
    let mut begun = BegunRender::start(&[("PLATEN_SHUTDOWN_GRACE", "60")]).await;
    begun.worker.process.signal(Signal::TERM);
    begun
        .worker
        .process
        .wait_for_event("stopping; running renders may finish");
    begun.origin.release();
    assert_eq!(begun.studio.ended(&begun.id).await["state"], "succeeded");
    let process = &mut begun.worker.process;
    assert!(process.ended().success(), "{}", process.log());
}

#[tokio::test]
async fn a_worker_that_stops_hands_over_what_it_has_not_finished() {
    let mut begun = BegunRender::start(&[("PLATEN_SHUTDOWN_GRACE", "1")]).await;
    begun.worker.process.signal(Signal::TERM);
    begun.worker.process.ended();
    let waiting = "select count(*) from jobs where claim is null and failures = 0 and crashes = 0";
    let studio = &begun.studio;
    assert_eq!(studio.service.number(waiting).await, 1);
    assert_eq!(
        studio.service.shown(&studio.account, &begun.id).await["state"],
        "queued"
    );

    let _other = begun.continue_elsewhere().await;
    begun.succeeded().await;
}

#[tokio::test]
async fn a_render_that_ends_its_workers_is_given_up_by_name() {
    let receiver = Receiver::start().await;
    let settings = [
        ("PLATEN_ROLE", "web"),
        ("PLATEN_EGRESS_ALLOW", receiver.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    let id = studio.queued(&page_with_callback("<p>", &receiver.url("/ok"))).await;
    studio.service.execute("update jobs set crashes = 3").await;
    let _worker = studio.service.beside(&[WORKER, settings[1]]).await;
    let render = studio.ended(&id).await;
    assert_eq!(render["state"], "failed");
    let message = render["error"]["message"].as_str().unwrap();
    assert!(message.contains("crashed 3 times"), "{message}");
    let told = parsed(&receiver.wait_for(1).await[0].body);
    assert_eq!(
        told["error"],
        format!("{}{}.", message[..1].to_uppercase(), &message[1..])
    );
}

#[tokio::test]
async fn a_worker_that_has_lost_its_claim_records_nothing() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let id = studio.queued(&json!({"parts": [origin.url("/held")]})).await;
    asked(&origin).await;
    // As if another process had considered it dead.
    let taken = "update jobs set claim = gen_random_uuid(), lease_until = now() + interval '5 seconds'";
    assert_eq!(studio.service.execute(taken).await, 1);
    origin.release();
    let render = studio.ended(&id).await;
    assert_eq!(render["state"], "succeeded");
    // The lease of the other process expired, and its rightful holder rendered it again.
    assert_eq!(origin.hits().len(), 2);
    assert_eq!(
        studio
            .service
            .number("select sum(used)::bigint from credit_periods")
            .await,
        1
    );
}

/// Asserts the final state: each job once, with one charge, one document and consistent webhooks.
async fn settled(service: &TestService, receiver: &Receiver, renders: usize) {
    let count = i64::try_from(renders).expect("a few");
    service.number_is(0, "select count(*) from jobs").await;
    let number = async |query: &str| service.number(query).await;
    assert_eq!(
        number("select count(*) from renders where status = 'succeeded'").await,
        count
    );
    assert_eq!(number("select sum(used)::bigint from credit_periods").await, count);
    assert_eq!(number("select sum(credits)::bigint from usage_days").await, count);
    assert_eq!(
        number("select coalesce(sum(credits), 0)::bigint from credit_reservations").await,
        0
    );
    assert_eq!(number("select count(distinct object_id) from renders").await, count);
    assert_eq!(service.stored_documents().len(), renders);
    let mut outcomes = std::collections::BTreeMap::<String, Vec<Value>>::new();
    for callback in receiver.received() {
        let id = callback.headers["webhook-id"].to_str().expect("text").to_owned();
        outcomes.entry(id).or_default().push(parsed(&callback.body));
    }
    assert_eq!(outcomes.len(), renders);
    for (id, told) in outcomes {
        assert!(
            told.iter().all(|body| *body == told[0] && body["status"] == "success"),
            "{id}: {told:?}"
        );
    }
}

#[tokio::test]
async fn a_batch_survives_the_death_of_every_worker() {
    let receiver = Receiver::start().await;
    let settings = [WORKER, ("PLATEN_EGRESS_ALLOW", receiver.authority.as_str())];
    let service = TestService::start_with(&[("PLATEN_ROLE", "web"), settings[1]]).await;
    let accounts: Vec<_> = (0..5)
        .map(|number| service.account(&format!("a{number}@example.org")))
        .collect();
    let body = page_with_callback("<h1>Invoice", &receiver.url("/ok"));
    for _ in 0..12 {
        for account in &accounts {
            service.queued(account, &body).await;
        }
    }
    // With one more death, an unlucky job would be discarded as the cause of the crashes.
    for _ in 0..2 {
        let worker = service.beside(&settings).await;
        let before = receiver.received().len();
        receiver.wait_for(before + 8).await;
        worker.process.signal(Signal::KILL);
    }
    let _last = service.beside(&settings).await;
    settled(&service, &receiver, 60).await;
}
