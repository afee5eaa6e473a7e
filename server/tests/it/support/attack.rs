//! A service under attack: an attacker on the smallest and on the largest plan, a neighbour that renders at the same
//! time, and measurements of the service's memory.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use futures::{StreamExt as _, stream::FuturesUnordered};
use reqwest::{Body, StatusCode};
use serde_json::{Value, json};

use crate::support::service::{TestAccount, TestService};

const METRICS_TOKEN: &str = "a-token-for-prometheus";
/// Renders of each account before measuring, to load caches, pools and code.
const WARM_UP: usize = 10;
/// Bytes that one hostile request may add to the service's memory, in addition to twice the plan's body limit.
pub(crate) const ROOM: u64 = 64 << 20;

/// The plan of an attacker, which determines the maximum body size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    Free,
    Scale,
}

impl Plan {
    /// Returns the maximum body size in bytes.
    pub(crate) fn body_bytes(self) -> u64 {
        match self {
            Self::Free => 10 << 20,
            Self::Scale => 50 << 20,
        }
    }
}

/// A service with an attacker on each plan and a neighbour.
pub(crate) struct Stage {
    pub(crate) service: TestService,
    free: TestAccount,
    scale: TestAccount,
    neighbour: TestAccount,
}

/// The effects of an attack.
pub(crate) struct Report<T> {
    /// The return value of the attack.
    pub(crate) outcome: T,
    /// The peak rise of the service's memory, in bytes.
    pub(crate) memory_rise: u64,
    pub(crate) browsers_died: u64,
    /// Number of documents that the neighbour received.
    pub(crate) neighbour_rendered: usize,
    /// The neighbour's failed renders, as status and body.
    pub(crate) neighbour_lost: Vec<String>,
    /// The longest time that the neighbour waited for a document.
    pub(crate) neighbour_slowest: Duration,
}

/// An attacking account and its target.
pub(crate) struct Attacker<'a> {
    pub(crate) service: &'a TestService,
    pub(crate) account: &'a TestAccount,
}

/// A response to an attacker.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// `Null` if the body isn't JSON.
    pub(crate) body: Value,
    pub(crate) took: Duration,
}

impl Stage {
    /// Starts a service with default settings, except for `settings`.
    pub(crate) async fn start(settings: &[(&str, &str)]) -> Self {
        let settings = [&[("PLATEN_METRICS_TOKEN", METRICS_TOKEN)], settings].concat();
        let service = TestService::start_with(&settings).await;
        Self {
            free: service.account_with("free@example.org", &["--plan", "Free", "--credits", "100000"]),
            scale: service.account_with("scale@example.org", &["--plan", "Scale"]),
            neighbour: service.account("neighbour@example.org"),
            service,
        }
    }

    /// Returns the attacker on this plan.
    pub(crate) fn attacker(&self, plan: Plan) -> Attacker<'_> {
        let account = match plan {
            Plan::Free => &self.free,
            Plan::Scale => &self.scale,
        };
        Attacker {
            service: &self.service,
            account,
        }
    }

    /// Attacks while the neighbour renders one page after the other, and measures the effects.
    pub(crate) async fn attack<T>(&self, plan: Plan, attack: impl AsyncFnOnce(Attacker<'_>) -> T) -> Report<T> {
        for _ in 0..WARM_UP {
            self.attacker(plan).render(&hello()).await;
            self.neighbour().render(&hello()).await;
        }
        let died_before = self.browsers_died().await;
        let before = self.memory("VmRSS:");
        self.forget_high_water();
        let over = AtomicBool::new(false);
        let attacking = async {
            let outcome = attack(self.attacker(plan)).await;
            over.store(true, Ordering::Relaxed);
            outcome
        };
        let (mut neighbour_rendered, mut neighbour_lost) = (0, Vec::new());
        let mut neighbour_slowest = Duration::ZERO;
        let meanwhile = async {
            // Renders once more afterwards, because damage may show up later.
            let mut was_over = false;
            while !was_over {
                was_over = over.load(Ordering::Relaxed);
                let answer = self.neighbour().render(&hello()).await;
                neighbour_slowest = neighbour_slowest.max(answer.took);
                if answer.status == StatusCode::OK {
                    neighbour_rendered += 1;
                } else {
                    neighbour_lost.push(format!("{} {}", answer.status, answer.body));
                }
            }
        };
        let (outcome, ()) = tokio::join!(attacking, meanwhile);
        Report {
            outcome,
            memory_rise: self.memory("VmHWM:").saturating_sub(before),
            browsers_died: self.browsers_died().await - died_before,
            neighbour_rendered,
            neighbour_lost,
            neighbour_slowest,
        }
    }

    fn neighbour(&self) -> Attacker<'_> {
        Attacker {
            service: &self.service,
            account: &self.neighbour,
        }
    }

    /// Returns a field of `proc_pid_status(5)`, in bytes.
    fn memory(&self, field: &str) -> u64 {
        let path = format!("/proc/{}/status", self.service.process.id());
        let status = fs::read_to_string(path).expect("the service runs");
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let kibibytes: u64 = line
            .and_then(|line| line.trim().strip_suffix(" kB"))
            .and_then(|number| number.parse().ok())
            .expect("a field in kB");
        kibibytes * 1024
    }

    /// Resets the high-water mark to the current resident memory; see `proc_pid_clear_refs(5)`.
    fn forget_high_water(&self) {
        let path = format!("/proc/{}/clear_refs", self.service.process.id());
        fs::write(path, "5").expect("our child's");
    }

    async fn browsers_died(&self) -> u64 {
        let request = self.service.client.get(self.service.url("/metrics"));
        let answer = request.bearer_auth(METRICS_TOKEN).send().await.expect("an answer");
        let text = answer.text().await.expect("a text");
        let count = text
            .lines()
            .find_map(|line| line.strip_prefix("platen_browser_restarts_total{reason=\"died\"} "));
        count.expect("a metric").parse().expect("a count")
    }
}

impl Attacker<'_> {
    /// Sends a body to the synchronous render.
    pub(crate) async fn render(&self, body: &Value) -> Answer {
        self.send("/api/v1/renderers/pdf", body.to_string()).await
    }

    /// Posts JSON text to a path of the API.
    pub(crate) async fn send(&self, path: &str, body: impl Into<Body>) -> Answer {
        let request = self.service.client.post(self.service.url(path));
        let request = request
            .bearer_auth(&self.account.key)
            .header("content-type", "application/json")
            .body(body);
        let began = Instant::now();
        let answer = request.send().await.expect("an answer");
        let status = answer.status();
        let body = answer.bytes().await.expect("a body");
        Answer {
            status,
            body: serde_json::from_slice(&body).unwrap_or_default(),
            took: began.elapsed(),
        }
    }

    /// Creates a template, which must succeed, and returns its id.
    pub(crate) async fn template(&self, content: &str) -> String {
        let body = json!({"template": {"name": "Hostile", "content": content}});
        let created = self.send("/api/v1/templates", body.to_string()).await;
        assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
        created.body["data"]["id"].as_str().expect("an id").to_owned()
    }

    /// Sends `count` concurrent copies of a body to the synchronous render.
    pub(crate) async fn render_at_once(&self, count: usize, body: &Value) -> Vec<Answer> {
        let renders: FuturesUnordered<_> = (0..count).map(|_| self.render(body)).collect();
        renders.collect().await
    }
}

impl Answer {
    /// Asserts a 422 whose first error is at this pointer, and returns its detail.
    #[track_caller]
    pub(crate) fn refused_at(&self, pointer: &str) -> &str {
        assert_eq!(self.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", self.body);
        let problem = &self.body["errors"][0];
        assert_eq!(problem["source"]["pointer"], pointer, "{}", self.body);
        problem["detail"].as_str().expect("a detail")
    }
}

impl<T> Report<T> {
    /// Asserts that memory rose at most as allowed for one request on this plan, and that browsers and neighbour were
    /// unaffected.
    #[track_caller]
    pub(crate) fn was_harmless(&self, plan: Plan) {
        self.neighbour_lost_nothing();
        self.no_browser_died();
        self.memory_rose_at_most(ROOM + 2 * plan.body_bytes());
    }

    /// Asserts that every render of the neighbour returned a document.
    #[track_caller]
    pub(crate) fn neighbour_lost_nothing(&self) {
        assert!(
            self.neighbour_rendered > 0 && self.neighbour_lost.is_empty(),
            "{:?}",
            self.neighbour_lost
        );
    }

    /// Asserts that the service's memory never rose by more than this many bytes.
    #[track_caller]
    pub(crate) fn memory_rose_at_most(&self, bytes: u64) {
        assert!(
            self.memory_rise <= bytes,
            "the service's memory rose by {} MB; at most {} MB are allowed",
            self.memory_rise >> 20,
            bytes >> 20
        );
    }

    #[track_caller]
    pub(crate) fn no_browser_died(&self) {
        assert_eq!(self.browsers_died, 0);
    }
}

/// Returns the body of the neighbour's renders.
pub(crate) fn hello() -> Value {
    json!({"parts": ["<h1>Hello</h1>"], "output_encoding": "binary"})
}
