//! Operators' actions on failed jobs, and what clients see of them.

mod beside_renders;

use serde_json::json;

use super::super::site;
use crate::support::{
    background::{page_with_callback, parsed},
    object_stores::service_account_key,
    receiver::Receiver,
    service::{TestAccount, TestService},
    studio::header,
    visitor::Visitor,
};

const PAGE: &str = "/admin/jobs";

struct Stage {
    service: TestService,
    account: TestAccount,
    operator: Visitor,
    _site: tempfile::TempDir,
}

impl Stage {
    async fn set(settings: &[(&str, &str)]) -> Self {
        let site = site();
        let folder = [("PLATEN_SITE_DIR", site.path().to_str().expect("text"))];
        let service = TestService::start_with(&[&folder, settings].concat()).await;
        let account = service.account("ann@example.org");
        let operator = Visitor::operator(&service, "operator@example.org").await;
        Self {
            service,
            account,
            operator,
            _site: site,
        }
    }

    /// Starts a service without workers.
    async fn without_workers(receiver: &Receiver) -> Self {
        Self::set(&[("PLATEN_ROLE", "web"), ("PLATEN_EGRESS_ALLOW", &receiver.authority)]).await
    }

    /// Starts a worker process.
    async fn worker(&self, receiver: &Receiver) -> TestService {
        // A process doesn't start if data is encrypted with another secret key.
        let factor = "update second_factors set secret_key_id = (select secret_key_id from account_keys limit 1)";
        self.service.execute(factor).await;
        let settings = [
            ("PLATEN_ROLE", "worker"),
            ("PLATEN_EGRESS_ALLOW", receiver.authority.as_str()),
        ];
        self.service.beside(&settings).await
    }

    /// Creates a render that has failed twice and waits for a retry.
    async fn failing_render(&self, receiver: &Receiver) -> String {
        let url = receiver.url("/ok?key=sesame");
        let id = self
            .service
            .queued(&self.account, &page_with_callback("<p>", &url))
            .await;
        let statement = format!(
            "update jobs set failures = 2, failed_at = now(), last_error = 'the store is silent', due = false,
                 run_at = now() + interval '1 h'
             where render_id = '{id}'"
        );
        assert_eq!(self.service.execute(&statement).await, 1);
        id
    }

    /// Creates a mail whose sending has failed for good.
    async fn failed_mail(&self) -> String {
        let statement = "insert into mails (id, recipient, letter, run_at, inserted_at, tries, failed_at, last_error, given_up)
             values (gen_random_uuid(), 'bob@example.net', '{\"kind\": \"password_changed\"}', now(), now(), 8, now(), 'refused', true)";
        assert_eq!(self.service.execute(statement).await, 1);
        self.service
            .text("select id::text from mails where failed_at is not null")
            .await
    }

    /// Submits the form and returns the redirect target.
    async fn treat(&self, function: &str, chosen: &[&str], search: [&str; 2], reason: &str) -> String {
        let names: Vec<_> = (0..chosen.len()).map(|index| format!("chosen[{index}]")).collect();
        let chosen = names.iter().map(String::as_str).zip(chosen.iter().copied());
        let rest = [("kind", search[0]), ("account", search[1]), ("reason", reason)];
        let fields: Vec<_> = chosen.chain(rest).collect();
        let answer = self.operator.submit_from(PAGE, function, &fields).await;
        assert_eq!(answer.status(), 303);
        header(&answer, "location").to_owned()
    }

    async fn retry(&self, chosen: &[&str]) -> String {
        self.treat("retry-failed-work", chosen, ["", ""], "").await
    }

    async fn discard(&self, chosen: &[&str]) -> String {
        self.treat("discard-failed-work", chosen, ["", ""], "it will never do")
            .await
    }

    async fn due(&self) -> i64 {
        self.service
            .number("select count(*) from jobs where due and kind = 'render'")
            .await
    }
}

/// Returns a statement that inserts mails waiting for a retry; the first has failed most recently.
fn failing_mails(count: usize) -> String {
    format!(
        "insert into mails (id, recipient, letter, run_at, inserted_at, tries, failed_at, last_error)
         select gen_random_uuid(), 'a@example.net', '{{\"kind\": \"password_changed\"}}', now() + interval '1 h', now(), 1,
             now() - number * interval '1 s', 'refused ' || number
         from generate_series(1, {count}) as number"
    )
}

fn told(meant: usize, made: usize, word: &str) -> String {
    format!("{PAGE}?done={word}&meant={meant}&made={made}")
}

#[tokio::test]
async fn a_render_that_waits_for_another_try_is_tried_at_once() {
    let receiver = Receiver::start().await;
    let stage = Stage::without_workers(&receiver).await;
    let id = stage.failing_render(&receiver).await;
    let page = stage.operator.page(PAGE).await;
    for shown in [&id, "The store is silent.", &stage.account.id, "ann@example.org"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    // The page shows nothing of the client's request.
    assert!(
        !page.contains("sesame") && !page.contains(&receiver.authority),
        "{page}"
    );
    assert_eq!(stage.due().await, 0);
    let name = format!("render.{id}");
    assert_eq!(stage.retry(&[&name]).await, told(1, 1, "retried"));
    assert_eq!(stage.due().await, 1);
    // Its failures still count towards the limit of five attempts.
    assert_eq!(
        stage
            .service
            .number("select failures::bigint from jobs where kind = 'render'")
            .await,
        2
    );
    let _worker = stage.worker(&receiver).await;
    let ended = stage.service.ended(&stage.account, &id).await;
    assert_eq!(ended["state"], "succeeded");
    assert!(!stage.operator.page(PAGE).await.contains(&id));
}

#[tokio::test]
async fn a_render_that_is_discarded_fails_and_its_callback_says_who_ended_it() {
    let receiver = Receiver::start().await;
    let stage = Stage::without_workers(&receiver).await;
    let id = stage.failing_render(&receiver).await;
    let reserved = "select coalesce(sum(credits), 0)::bigint from credit_reservations";
    assert_eq!(stage.service.number(reserved).await, 1);
    let name = format!("render.{id}");
    assert_eq!(stage.discard(&[&name]).await, told(1, 1, "discarded"));
    let words = "an operator of the service ended this render after it had failed";
    let render = stage.service.shown(&stage.account, &id).await;
    assert_eq!(
        (&render["state"], &render["error"]["message"]),
        (&json!("failed"), &json!(words))
    );
    assert_eq!(stage.service.number(reserved).await, 0);
    let entry = "select entry -> 'deed' ->> 'work' || '|' || (entry ->> 'reason') || '|' || (entry ->> 'account') from audit_log
                 where kind = 'work.discarded'";
    assert_eq!(
        stage.service.text(entry).await,
        format!("1 render|it will never do|{}", stage.account.id)
    );
    // It has ended: discarding it again does nothing, and a final outcome can't be retried.
    assert_eq!(stage.discard(&[&name]).await, told(1, 0, "discarded"));
    assert_eq!(stage.retry(&[&name]).await, told(1, 0, "retried"));
    assert_eq!(
        stage
            .service
            .number("select count(*) from audit_log where kind like 'work.%'")
            .await,
        1
    );

    let _worker = stage.worker(&receiver).await;
    let [callback] = receiver.wait_for(1).await.try_into().ok().expect("one");
    let body = parsed(&callback.body);
    assert_eq!(body["status"], "failed");
    assert_eq!(
        body["error"],
        "An operator of the service ended this render after it had failed."
    );
}

#[tokio::test]
async fn what_a_worker_has_in_hand_is_left_alone() {
    let receiver = Receiver::start().await;
    let stage = Stage::without_workers(&receiver).await;
    let (held, free) = (
        stage.failing_render(&receiver).await,
        stage.failing_render(&receiver).await,
    );
    // The lease is held by a live process; those of dead processes are released.
    let alive = "select count(*) from instance_health where role = 'web'";
    stage.service.number_is(1, alive).await;
    let claim = format!(
        "update jobs set claim = gen_random_uuid(), lease_until = now() + interval '1 h',
             instance = (select instance from instance_health where role = 'web')
         where render_id = '{held}'"
    );
    stage.service.execute(&claim).await;
    assert!(stage.operator.page(PAGE).await.contains("in progress<"));
    let names = [format!("render.{held}"), format!("render.{free}")];
    let names = names.each_ref().map(String::as_str);
    assert_eq!(stage.retry(&names).await, told(2, 1, "retried"));
    let location = stage.discard(&names).await;
    assert_eq!(location, told(2, 1, "discarded"));
    assert!(
        stage
            .operator
            .page(&location)
            .await
            .contains("The rest were in progress")
    );
    let render = stage.service.shown(&stage.account, &held).await;
    assert_eq!(render["state"], "queued");
}

#[tokio::test]
async fn all_that_is_found_is_discarded_at_once_and_nothing_else() {
    let receiver = Receiver::start().await;
    let stage = Stage::without_workers(&receiver).await;
    let mail = stage.failed_mail().await;
    for _ in 0..3 {
        stage.failing_render(&receiver).await;
    }
    // Jobs that don't fail are not affected.
    let sound = stage.service.queued(&stage.account, &json!({"parts": ["<p>"]})).await;
    let page = stage
        .operator
        .page("/admin/jobs?kind=render&account=ann%40example.org")
        .await;
    assert!(page.contains("All 3 matches") && !page.contains(&mail), "{page}");
    assert!(!page.contains(&sound), "{page}");
    let nobodys = stage.operator.page("/admin/jobs?account=nobody%40example.org").await;
    assert!(nobodys.contains("No account found"), "{nobodys}");

    let search = ["render", "ann@example.org"];
    let location = stage
        .treat("discard-failed-work", &["all"], search, "incident 12")
        .await;
    assert_eq!(
        location,
        "/admin/jobs?kind=render&account=ann%40example%2Eorg&done=discarded&meant=3&made=3"
    );
    let entry = "select entry -> 'deed' ->> 'work' from audit_log where kind = 'work.discarded'";
    assert_eq!(stage.service.text(entry).await, "3 renders");
    assert_eq!(
        stage
            .service
            .number("select count(*) from renders where status = 'failed'")
            .await,
        3
    );
    assert_eq!(
        stage
            .service
            .number("select count(*) from mails where failed_at is not null")
            .await,
        1
    );
    let render = stage.service.shown(&stage.account, &sound).await;
    assert_eq!(render["state"], "queued");
    // Without a selection or a reason, nothing is discarded.
    let call = async |chosen: &str, reason: &str| {
        let fields = [("chosen[0]", chosen), ("kind", ""), ("account", ""), ("reason", reason)];
        let fields = fields.map(|(name, value)| (name, value.to_owned()));
        let mut answer = stage.operator.call("discard-failed-work", &fields).await;
        answer["Rejected"]["reason"]["invalid"].take()
    };
    assert_eq!(call("x", "why").await, json!(["chosen"]));
    assert_eq!(call("all", " ").await, json!(["operators_reason"]));
}

#[tokio::test]
async fn a_thousand_jobs_are_treated_at_once_and_no_more() {
    let receiver = Receiver::start().await;
    let stage = Stage::without_workers(&receiver).await;
    assert_eq!(stage.service.execute(&failing_mails(1001)).await, 1001);
    let page = stage.operator.page(PAGE).await;
    assert!(page.contains("All 1,001 matches"), "{page}");
    assert!(page.contains("At most 1,000 at once"), "{page}");
    assert_eq!(stage.discard(&["all"]).await, told(1000, 1000, "discarded"));
    let left = stage
        .service
        .text("select last_error from mails where failed_at is not null")
        .await;
    assert_eq!(left, "refused 1001", "those go first that failed last");
    let ids = "select entry -> 'deed' ->> 'ids' from audit_log where kind = 'work.discarded'";
    assert!(stage.service.text(ids).await.ends_with(" and 980 more"));
}

#[tokio::test]
async fn the_list_goes_on_page_by_page() {
    let receiver = Receiver::start().await;
    let stage = Stage::without_workers(&receiver).await;
    assert_eq!(stage.service.execute(&failing_mails(60)).await, 60);
    let (mut path, mut seen) = (PAGE.to_owned(), Vec::new());
    loop {
        let page = stage.operator.page(&path).await;
        let names = page.split("value=\"mail.").skip(1);
        seen.extend(names.map(|rest| rest.split('"').next().expect("an id").to_owned()));
        let Some((before, _)) = page.split_once(">Older") else {
            break;
        };
        let (_, link) = before.rsplit_once("href=\"").expect("a link");
        path = link.split('"').next().expect("a path").replace("&amp;", "&");
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((count, seen.len()), (60, 60));
}

#[tokio::test]
async fn a_render_that_can_not_be_stored_says_why() {
    let stage = Stage::set(&[]).await;
    let connection = json!({
        "name": "Nobody", "provider": "google_cloud_storage", "bucket": "nobody", "credentials": service_account_key(),
    });
    let request = stage.service.client.post(stage.service.url("/api/v1/connections"));
    let request = request.bearer_auth(&stage.account.key);
    let answer = request
        .json(&json!({"connection": connection}))
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), 201);
    let destination = json!({"provider": "google_cloud_storage", "bucket": "nobody", "path": "a.pdf"});
    let body = json!({"parts": ["<p>"], "destination": destination});
    let id = stage.service.queued(&stage.account, &body).await;
    stage
        .service
        .number_is(1, "select least(count(*), 1) from jobs where failures > 0")
        .await;
    let page = stage.operator.page("/admin/jobs?kind=render").await;
    assert!(
        page.contains(&id) && !page.contains("The cause was not recorded"),
        "{page}"
    );
}
