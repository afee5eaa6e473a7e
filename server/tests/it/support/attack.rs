//! A service under attack: an attacker on each end of the plans, a neighbour who renders meanwhile, and the service's
//! memory.

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
/// Renders of each account before anything is measured: caches, pools and code are then in memory.
const WARM_UP: usize = 10;
/// What one hostile request may add to the service's memory, in bytes, besides twice the plan's body limit.
pub(crate) const ROOM: u64 = 64 << 20;

/// The plan of an attacker, which decides the largest body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    Free,
    Scale,
}

impl Plan {
    /// The largest body, in bytes.
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

/// What an attack did.
pub(crate) struct Report<T> {
    /// What the attack itself returned.
    pub(crate) outcome: T,
    /// How far the service's memory rose above what it had before, at its highest, in bytes.
    pub(crate) memory_rise: u64,
    /// Browsers that died.
    pub(crate) browsers_died: u64,
    /// Documents that the neighbour got.
    pub(crate) neighbour_rendered: usize,
    /// The neighbour's renders that failed: status and body.
    pub(crate) neighbour_lost: Vec<String>,
    /// How long the neighbour waited for its slowest document.
    pub(crate) neighbour_slowest: Duration,
}

/// Who attacks, and what is attacked.
pub(crate) struct Attacker<'a> {
    pub(crate) service: &'a TestService,
    pub(crate) account: &'a TestAccount,
}

/// An answer to an attacker.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// `Null` where the body is no JSON.
    pub(crate) body: Value,
    pub(crate) took: Duration,
}

impl Stage {
    /// Starts a service with default settings, but for these.
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

    /// The attacker on this plan.
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

    /// Attacks while the neighbour renders one page after the other, and measures.
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
            // Also once afterwards: what an attack breaks may show later.
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

    /// A field of `proc_pid_status(5)`, in bytes.
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

    /// See `proc_pid_clear_refs(5)`: 5 sets the high-water mark to what is resident now.
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

    /// Saves a new template, which has to succeed, and returns its id.
    pub(crate) async fn template(&self, content: &str) -> String {
        let body = json!({"template": {"name": "Hostile", "content": content}});
        let created = self.send("/api/v1/templates", body.to_string()).await;
        assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
        created.body["data"]["id"].as_str().expect("an id").to_owned()
    }

    /// Sends one body to the synchronous render so many times at once.
    pub(crate) async fn render_at_once(&self, count: usize, body: &Value) -> Vec<Answer> {
        let renders: FuturesUnordered<_> = (0..count).map(|_| self.render(body)).collect();
        renders.collect().await
    }
}

impl Answer {
    /// Fails unless it is a 422 whose first fault is at this pointer; returns what it says.
    #[track_caller]
    pub(crate) fn refused_at(&self, pointer: &str) -> &str {
        assert_eq!(self.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", self.body);
        let fault = &self.body["errors"][0];
        assert_eq!(fault["source"]["pointer"], pointer, "{}", self.body);
        fault["detail"].as_str().expect("a detail")
    }
}

impl<T> Report<T> {
    /// It cost its sender what one request on this plan may cost, and the browsers and the neighbour nothing.
    #[track_caller]
    pub(crate) fn was_harmless(&self, plan: Plan) {
        self.neighbour_lost_nothing();
        self.no_browser_died();
        self.memory_rose_at_most(ROOM + 2 * plan.body_bytes());
    }

    /// Every render of the neighbour came to a document.
    #[track_caller]
    pub(crate) fn neighbour_lost_nothing(&self) {
        assert!(
            self.neighbour_rendered > 0 && self.neighbour_lost.is_empty(),
            "{:?}",
            self.neighbour_lost
        );
    }

    /// The service's memory was never more than so many bytes above what it was before.
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

/// What the neighbour renders.
pub(crate) fn hello() -> Value {
    json!({"parts": ["<h1>Hello</h1>"], "output_encoding": "binary"})
}
