//! `/metrics`: access and content.

use platen_core::{clock, service::people::sign_up::sign_up};
use reqwest::Response;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    fs,
    str::FromStr,
    time::{Duration, Instant},
};

use crate::support::{
    background::page_with_callback,
    origin::Origin,
    people::{Town, form},
    process::PATIENCE,
    receiver::Receiver,
    service::TestService,
    smtp::SmtpServer,
    studio::{Studio, header},
};

const TOKEN: &str = "a-token-for-prometheus";
const POLL: Duration = Duration::from_millis(10);

/// The result of a scrape: values, by name and labels as written in the text.
struct Scrape(BTreeMap<String, String>);

impl Scrape {
    async fn of(service: &TestService) -> Self {
        Self::parse(asked(service, Some(TOKEN)).await).await
    }

    async fn parse(answer: Response) -> Self {
        assert_eq!(answer.status(), 200);
        assert_eq!(
            header(&answer, "content-type"),
            "text/plain; version=0.0.4; charset=utf-8"
        );
        let text = answer.text().await.expect("a body");
        let samples = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
            let (series, value) = line.rsplit_once(' ').expect("a series and its value");
            (series.to_owned(), value.to_owned())
        });
        Self(samples.collect())
    }

    #[track_caller]
    fn value<T: FromStr<Err: Debug>>(&self, series: &str) -> T {
        let value = self.0.get(series);
        let value = value.unwrap_or_else(|| panic!("no {series} among\n{:#?}", self.0.keys()));
        value.parse().expect("a number")
    }

    /// Returns the value of a counter; zero if the series doesn't exist yet.
    #[track_caller]
    fn count(&self, series: &str) -> u64 {
        if self.0.contains_key(series) {
            self.value(series)
        } else {
            0
        }
    }

    /// Returns the value of a series in seconds.
    #[track_caller]
    fn seconds(&self, series: &str) -> f64 {
        self.value(series)
    }

    fn names(&self) -> BTreeSet<&str> {
        let names = self.0.keys().map(|series| series.split('{').next().expect("a name"));
        names.collect()
    }
}

async fn asked(service: &TestService, token: Option<&str>) -> Response {
    let mut request = service.client.get(service.url("/metrics"));
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    request.send().await.expect("an answer")
}

/// Scrapes until the value of a series satisfies the condition: some events are counted shortly after their effect is
/// visible.
async fn scrape_when(service: &TestService, series: &str, wanted: impl Fn(u64) -> bool) -> Scrape {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let scrape = Scrape::of(service).await;
        let value = scrape.count(series);
        if wanted(value) {
            return scrape;
        }
        assert!(Instant::now() < deadline, "{series} is {value}");
        tokio::time::sleep(POLL).await;
    }
}

#[tokio::test]
async fn without_a_setting_there_are_no_metrics() {
    let service = TestService::start().await;
    assert_eq!(asked(&service, None).await.status(), 404);
    assert_eq!(asked(&service, Some(TOKEN)).await.status(), 404);
}

#[tokio::test]
async fn only_requests_with_the_token_see_them() {
    let service = TestService::start_with(&[("PLATEN_METRICS_TOKEN", TOKEN)]).await;
    for token in [None, Some("another-token-for-prometheus"), Some("a-token")] {
        let answer = asked(&service, token).await;
        assert_eq!(answer.status(), 401, "{token:?}");
        assert_eq!(header(&answer, "www-authenticate"), "Bearer");
        assert_eq!(answer.text().await.expect("a body"), "");
    }
    Scrape::of(&service).await;
}

#[tokio::test]
async fn a_listener_of_its_own_serves_nothing_else() {
    let settings = [("PLATEN_METRICS_LISTEN", "127.0.0.1:0"), ("PLATEN_ROLE", "worker")];
    let mut service = TestService::start_with(&settings).await;
    assert_eq!(asked(&service, None).await.status(), 404);
    let (service, listening) = tokio::task::spawn_blocking(move || {
        let listening = service.process.wait_for_event("metrics are served");
        (service, listening)
    })
    .await
    .expect("it listens");
    let apart = format!("http://{}", listening["address"].as_str().expect("an address"));
    let get = async |path: &str| {
        let request = service.client.get(format!("{apart}{path}"));
        request.send().await.expect("an answer")
    };
    let scrape = Scrape::parse(get("/metrics").await).await;
    assert_eq!(
        scrape.count(r#"platen_http_requests_total{method="GET",route="none",status="4xx"}"#),
        1
    );
    assert_eq!(get("/livez").await.status(), 404);
}

#[tokio::test]
async fn synchronous_renders_are_counted_and_measured() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_METRICS_TOKEN", TOKEN)]).await;
    let before = Scrape::of(&studio.service).await;
    for (series, value) in [
        (r#"platen_renders_total{mode="sync",outcome="succeeded"}"#, 0),
        (r#"platen_queue_jobs{kind="render",state="due"}"#, 0),
        (r#"platen_queue_oldest_due_job_age_seconds{kind="callback"}"#, 0),
        (r#"platen_browser_restarts_total{reason="died"}"#, 0),
        ("platen_slots_running", 0),
        ("platen_browsers", 1),
    ] {
        assert_eq!(before.value::<u64>(series), value, "{series}");
    }
    let version = concat!("version=\"", env!("CARGO_PKG_VERSION"), "\"}");
    let build_info = |series: &&String| series.starts_with("platen_build_info{browser=\"");
    assert!(
        before
            .0
            .keys()
            .find(build_info)
            .is_some_and(|series| series.ends_with(version))
    );

    studio.pdf("<p>Hello", json!({})).await;
    let after = Scrape::of(&studio.service).await;
    for series in [
        r#"platen_renders_total{mode="sync",outcome="succeeded"}"#,
        r#"platen_render_phase_seconds_count{mode="sync",phase="queue"}"#,
        r#"platen_render_phase_seconds_count{mode="sync",phase="post"}"#,
        r#"platen_render_phase_seconds_bucket{mode="sync",phase="print",le="+Inf"}"#,
        r#"platen_http_requests_total{method="POST",route="/api/v1/renderers/pdf",status="2xx"}"#,
        "platen_credits_charged_total",
    ] {
        assert_eq!(after.count(series) - before.count(series), 1, "{series}");
    }
    let printing = r#"platen_render_phase_seconds_sum{mode="sync",phase="print"}"#;
    assert!(after.seconds(printing) > before.seconds(printing));

    // Failed because of the caller: the address is refused, because no setting allows it.
    let refused = studio.render(origin.url("/"), json!({})).await;
    assert_eq!(refused.status(), 422);
    let failed = Scrape::of(&studio.service).await;
    for (series, grown) in [
        (r#"platen_renders_total{mode="sync",outcome="failed_by_caller"}"#, 1),
        (r#"platen_renders_total{mode="sync",outcome="failed_by_service"}"#, 0),
        (r#"platen_renders_total{mode="sync",outcome="succeeded"}"#, 0),
        (
            r#"platen_http_requests_total{method="POST",route="/api/v1/renderers/pdf",status="4xx"}"#,
            1,
        ),
        ("platen_egress_refusals_total", 1),
        ("platen_credits_charged_total", 0),
    ] {
        assert_eq!(failed.count(series) - after.count(series), grown, "{series}");
    }
    assert!(origin.hits().is_empty());
}

#[tokio::test]
async fn what_runs_is_seen_and_a_client_that_hangs_up_cancels_its_render() {
    let origin = Origin::start().await;
    let settings = [
        ("PLATEN_METRICS_TOKEN", TOKEN),
        ("PLATEN_EGRESS_ALLOW", origin.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    let rendering = studio.render(origin.url("/never"), json!({}));
    let seen = async {
        let scrape = scrape_when(&studio.service, "platen_slots_running", |running| running == 1).await;
        crate::support::studio::asked(&origin).await;
        scrape
    };
    tokio::select! {
        answer = rendering => panic!("it answered {answer:?}"),
        scrape = seen => assert_eq!(scrape.count("platen_slots_waiting"), 0),
    }
    let cancelled = r#"platen_renders_total{mode="sync",outcome="cancelled"}"#;
    let scrape = scrape_when(&studio.service, cancelled, |count| count == 1).await;
    assert_eq!(
        scrape.count(r#"platen_renders_total{mode="sync",outcome="failed_by_caller"}"#),
        0
    );
}

#[tokio::test]
async fn background_work_is_counted_by_the_process_that_does_it() {
    let receiver = Receiver::start().await;
    let settings = [
        ("PLATEN_METRICS_TOKEN", TOKEN),
        ("PLATEN_EGRESS_ALLOW", receiver.authority.as_str()),
    ];
    let studio = Studio::start_with(&[settings[0], settings[1], ("PLATEN_ROLE", "web")]).await;
    let ok = studio.queued(&page_with_callback("<p>", &receiver.url("/ok"))).await;
    let waiting = r#"platen_queue_jobs{kind="render",state="due"}"#;
    let scrape = scrape_when(&studio.service, waiting, |due| due == 1).await;
    assert!(scrape.seconds(r#"platen_queue_oldest_due_job_age_seconds{kind="render"}"#) > 0.0);
    let cancelled = studio.queued(&json!({"parts": ["<p>"]})).await;
    assert_eq!(
        studio
            .post(&format!("/api/v1/renders/{cancelled}/cancel"))
            .await
            .status(),
        202
    );
    let of_web = Scrape::of(&studio.service).await;
    assert_eq!(
        of_web.count(r#"platen_renders_total{mode="async",outcome="cancelled"}"#),
        1
    );

    let worker = studio
        .service
        .beside(&[settings[0], settings[1], ("PLATEN_ROLE", "worker")])
        .await;
    assert_eq!(studio.ended(&ok).await["state"], "succeeded");
    let delivered = r#"platen_callback_tries_total{outcome="delivered"}"#;
    let first = scrape_when(&worker, delivered, |count| count == 1).await;
    for (series, value) in [
        (r#"platen_renders_total{mode="async",outcome="succeeded"}"#, 1),
        (r#"platen_render_phase_seconds_count{mode="async",phase="print"}"#, 1),
        ("platen_render_start_delay_seconds_count", 1),
        ("platen_credits_charged_total", 1),
        (r#"platen_callback_tries_total{outcome="retried"}"#, 0),
    ] {
        assert_eq!(first.value::<u64>(series), value, "{series}");
    }
    assert!(first.seconds("platen_render_start_delay_seconds_sum") > 0.0);

    // The page is refused; the delivery of its webhook fails and is eventually discarded.
    let body = json!({"parts": ["http://127.0.0.1:8099/"], "callback": {"url": receiver.url("/503")}});
    let failing = studio.queued(&body).await;
    assert_eq!(studio.ended(&failing).await["state"], "failed");
    let retried = r#"platen_callback_tries_total{outcome="retried"}"#;
    let second = scrape_when(&worker, retried, |count| count == 1).await;
    let failed = r#"platen_renders_total{mode="async",outcome="failed_by_caller"}"#;
    assert_eq!(second.count(failed) - first.count(failed), 1);
    assert_eq!(
        second.count("platen_egress_refusals_total") - first.count("platen_egress_refusals_total"),
        1
    );
    studio
        .service
        .execute("update jobs set failures = 7, run_at = now()")
        .await;
    let given_up = r#"platen_callback_tries_total{outcome="given_up"}"#;
    scrape_when(&worker, given_up, |count| count == 1).await;
    // Every process reports the whole queue, but only its own work.
    let of_web = scrape_when(&studio.service, waiting, |due| due == 0).await;
    assert_eq!(
        of_web.count(r#"platen_renders_total{mode="async",outcome="succeeded"}"#),
        0
    );
}

#[tokio::test]
async fn jobs_of_suspended_accounts_are_not_waited_for() {
    let studio = Studio::start_with(&[("PLATEN_METRICS_TOKEN", TOKEN), ("PLATEN_ROLE", "web")]).await;
    let due = r#"platen_queue_jobs{kind="render",state="due"}"#;
    studio.queued(&json!({"parts": ["<p>"]})).await;
    scrape_when(&studio.service, due, |jobs| jobs == 1).await;
    studio.service.execute("update accounts set suspended_at = now()").await;
    scrape_when(&studio.service, due, |jobs| jobs == 0).await;
}

#[tokio::test]
async fn mail_is_counted_as_long_as_it_waits_and_when_it_is_sent() {
    let server = SmtpServer::start().await;
    let url = server.url();
    let settings = [("PLATEN_METRICS_TOKEN", TOKEN), ("PLATEN_LISTEN", "0.0.0.0:0")];
    let service = TestService::start_with(&settings).await;
    let town = Town::at(service.database_url()).await;
    let client = town.browser("192.0.2.1").client;
    sign_up(&town.people, &client, form("ann@example.org"), clock::now())
        .await
        .expect("signed up");
    town.execute("update mails set inserted_at = now() - interval '1 hour'")
        .await;
    // No process can send mail.
    let scrape = scrape_when(&service, "platen_mails_waiting", |waiting| waiting == 1).await;
    let age = scrape.seconds("platen_oldest_mail_age_seconds");
    assert!((3600.0..3660.0).contains(&age), "{age}");
    let sending = [
        ("PLATEN_METRICS_TOKEN", TOKEN),
        ("PLATEN_SMTP_URL", url.as_str()),
        ("PLATEN_MAIL_FROM", "no-reply@example.org"),
    ];
    let sender = service.beside(&sending).await;
    server.takes(1).await;
    let sent = r#"platen_mail_tries_total{outcome="sent"}"#;
    scrape_when(&sender, sent, |sent| sent == 1).await;
    scrape_when(&service, "platen_mails_waiting", |waiting| waiting == 0).await;
}

#[tokio::test]
async fn labels_hold_nothing_that_a_client_chooses() {
    let studio = Studio::start_with(&[("PLATEN_METRICS_TOKEN", TOKEN)]).await;
    let before = Scrape::of(&studio.service).await.0.len();
    for number in 0..20 {
        let path = format!("/made/up/{number}");
        studio
            .request(reqwest::Method::GET, &path)
            .send()
            .await
            .expect("an answer");
        let path = format!("/files/renders/{number}.pdf");
        studio
            .request(reqwest::Method::GET, &path)
            .send()
            .await
            .expect("an answer");
        let method = reqwest::Method::from_bytes(format!("MADE{number}").as_bytes()).expect("a token");
        studio.request(method, "/livez").send().await.expect("an answer");
    }
    let after = Scrape::of(&studio.service).await;
    // Three routes or methods, and the first scrape itself.
    assert_eq!(after.0.len(), before + 4, "{:#?}", after.0.keys());
    assert_eq!(
        after.count(r#"platen_http_requests_total{method="other",route="/livez",status="4xx"}"#),
        20
    );
    assert!(!after.0.keys().any(|series| series.contains(&studio.account.id)));
}

/// Returns the names of metrics in an expression.
fn names_in(expression: &str) -> impl Iterator<Item = &str> {
    let words = expression.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    words.filter(|word| word.starts_with("platen_"))
}

#[tokio::test]
async fn the_dashboard_and_the_scaler_use_metrics_that_there_are() {
    let service = TestService::start_with(&[("PLATEN_METRICS_TOKEN", TOKEN)]).await;
    // HTTP responses are reported only after the first one.
    asked(&service, None).await;
    let scrape = Scrape::of(&service).await;
    let served = scrape.names();
    let deploy = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy");
    let read = |path: &str| fs::read_to_string(format!("{deploy}/{path}")).expect("a file of ours");
    let dashboard: Value = serde_json::from_str(&read("grafana/platen.json")).expect("JSON");
    let targets = dashboard["panels"]
        .as_array()
        .expect("panels")
        .iter()
        .flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let mut expressions: Vec<_> = targets
        .map(|target| target["expr"].as_str().expect("an expression").to_owned())
        .collect();
    assert!(expressions.len() >= 10, "{expressions:#?}");
    expressions.push(read("kubernetes/worker-scaling.yaml"));
    for expression in &expressions {
        let used: Vec<_> = names_in(expression).collect();
        assert!(!used.is_empty(), "no metric in {expression}");
        for name in used {
            assert!(served.contains(name), "{name} is not served, but used in {expression}");
        }
    }
}
