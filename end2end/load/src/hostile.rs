//! Measures the cost of one account's hostile requests: the service's memory, and the latency of another account that
//! renders at the same time.

pub(crate) mod attacks;
pub(crate) mod mixed;
mod target;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::{Method, StatusCode};
use serde::Serialize;
use serde_json::Value;
use tokio::time::sleep;

use crate::{
    document::Wanted,
    error::LoadError,
    hostile::{
        attacks::{ATTACKS, Attack},
        target::Target,
    },
    pages,
    plan::Plan,
    platen::{
        Service,
        client::{Client, Order},
    },
    processes,
    statistics::percentile,
};

/// Renders of the other account before each attack, and the minimum during it.
const QUIET_RENDERS: usize = 60;
/// Memory counts as released within this many bytes of its previous value.
pub(crate) const BACK_WITHIN: u64 = 20_000_000;
const LOOK_EVERY: Duration = Duration::from_millis(250);
const METRICS_TOKEN: &str = "a-token-of-the-load-generator";

/// The attacker's plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum Subscription {
    Free,
    Scale,
}

impl Subscription {
    fn name(self) -> &'static str {
        match self {
            Self::Free => "Free",
            Self::Scale => "Scale",
        }
    }

    /// Returns the maximum size of a body in bytes.
    fn body_bytes(self) -> u64 {
        match self {
            Self::Free => 10 << 20,
            Self::Scale => 50 << 20,
        }
    }
}

/// The effects of one attack.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AttackResult {
    pub(crate) attack: &'static str,
    pub(crate) subscription: Subscription,
    /// Number of responses by status and the first refused member, or by the kind of failure.
    pub(crate) outcomes: BTreeMap<String, usize>,
    pub(crate) seconds: f64,
    /// The peak rise of the service's memory, in bytes.
    pub(crate) memory_rise: u64,
    /// The part of the rise that the goal allows for bodies on this plan, in bytes.
    pub(crate) body_allowance: u64,
    /// The part of the rise that remained when memory had been released or the wait had ended, in bytes.
    pub(crate) memory_left: u64,
    /// The other account's 95th percentile, alone and during the attack.
    pub(crate) quiet_p95_ms: f64,
    pub(crate) p95_ms: f64,
    /// Renders of the other account that did not return its document.
    pub(crate) neighbour_lost: usize,
    pub(crate) browsers_died: u64,
}

impl AttackResult {
    /// Returns how many times slower the other account's renders got.
    pub(crate) fn slowdown(&self) -> f64 {
        self.p95_ms / self.quiet_p95_ms
    }

    /// Returns the number of responses that are neither a document nor a clear refusal.
    pub(crate) fn unclear(&self) -> usize {
        let clear = |outcome: &str| {
            outcome.starts_with('2')
                || outcome.starts_with('4')
                || outcome.starts_with("503")
                || outcome == attacks::CLOSED
        };
        let unclear = self.outcomes.iter().filter(|(outcome, _)| !clear(outcome));
        unclear.map(|(_, count)| count).sum()
    }
}

/// Runs every attack against a service with default settings.
pub(crate) async fn measure(binary: &Path, chromium: &Path, plan: Plan) -> Result<Vec<AttackResult>, LoadError> {
    let settings = [("PLATEN_METRICS_TOKEN", METRICS_TOKEN)];
    let service = Service::start_with(binary, chromium, "all", &settings)?;
    service
        .while_it_runs(async |service| measure_service(service, plan).await)
        .await
}

async fn measure_service(service: &Service, plan: Plan) -> Result<Vec<AttackResult>, LoadError> {
    let neighbour = Neighbour::new(service.new_client("neighbour").await?);
    let mut results = Vec::new();
    for subscription in plan.attackers {
        let name = format!("attacker-{}", subscription.name());
        let attacker = service.new_client_with(&name, subscription.name()).await?;
        let target = Target::prepare(service, attacker, *subscription).await?;
        for attack in ATTACKS {
            eprintln!("… {}, {}", attack.name, subscription.name());
            results.push(measure_attack(service, &target, &neighbour, attack, plan).await?);
        }
    }
    Ok(results)
}

async fn measure_attack(
    service: &Service,
    target: &Target,
    neighbour: &Neighbour,
    attack: &Attack,
    plan: Plan,
) -> Result<AttackResult, LoadError> {
    let quiet = neighbour.render_until(&AtomicBool::new(true), QUIET_RENDERS).await;
    let died_before = browsers_died(service).await?;
    let before = processes::resident(service.pid)?;
    processes::forget_high_water(service.pid)?;
    let over = Arc::new(AtomicBool::new(false));
    let start = Instant::now();
    let attacking = async {
        let outcomes = attack.carry_out(target).await;
        over.store(true, Ordering::Relaxed);
        (outcomes, start.elapsed())
    };
    let ((outcomes, took), beside) = tokio::join!(attacking, neighbour.render_until(&over, QUIET_RENDERS));
    let memory_rise = processes::high_water(service.pid)?.saturating_sub(before);
    let memory_left = wait_for_memory(service, before, plan.memory_patience).await?;
    Ok(AttackResult {
        attack: attack.name,
        subscription: target.subscription,
        outcomes,
        seconds: took.as_secs_f64(),
        memory_rise,
        body_allowance: 2 * target.subscription.body_bytes(),
        memory_left,
        quiet_p95_ms: quiet.p95_ms(),
        p95_ms: beside.p95_ms(),
        neighbour_lost: quiet.lost + beside.lost,
        browsers_died: browsers_died(service).await? - died_before,
    })
}

/// Waits until memory is released, or until `patience` is over. Returns the remaining bytes above `before`.
async fn wait_for_memory(service: &Service, before: u64, patience: Duration) -> Result<u64, LoadError> {
    let start = Instant::now();
    loop {
        let left = processes::resident(service.pid)?.saturating_sub(before);
        if left <= BACK_WITHIN || start.elapsed() >= patience {
            return Ok(left);
        }
        sleep(LOOK_EVERY).await;
    }
}

async fn browsers_died(service: &Service) -> Result<u64, LoadError> {
    const SERIES: &str = "platen_browser_restarts_total{reason=\"died\"} ";
    let text = service.metrics(METRICS_TOKEN).await?;
    let count = text.lines().find_map(|line| line.strip_prefix(SERIES)?.parse().ok());
    count.ok_or_else(|| service.failure("does not report how many browsers died"))
}

/// The account that renders during the attacks.
struct Neighbour {
    client: Client,
    order: Order,
}

/// The results of its renders.
#[derive(Default)]
struct Received {
    latencies_ms: Vec<f64>,
    lost: usize,
}

impl Received {
    fn p95_ms(&self) -> f64 {
        percentile(&self.latencies_ms, 95.0).unwrap_or(f64::INFINITY)
    }
}

impl Neighbour {
    fn new(client: Client) -> Self {
        let order = Order::new(&Arc::new(pages::hello()), Wanted::PdfA);
        Self { client, order }
    }

    /// Renders one page after the other until `over` is set, and at least `at_least` times.
    async fn render_until(&self, over: &AtomicBool, at_least: usize) -> Received {
        let mut received = Received::default();
        while !over.load(Ordering::Relaxed) || received.latencies_ms.len() + received.lost < at_least {
            let sent = Instant::now();
            match self.client.render(&self.order).await {
                Ok(_) => received.latencies_ms.push(sent.elapsed().as_secs_f64() * 1e3),
                Err(error) => {
                    eprintln!("  the neighbour lost a render: {error}");
                    received.lost += 1;
                    sleep(LOOK_EVERY).await;
                }
            }
        }
        received
    }
}

/// The response of the synchronous render.
struct Answer {
    status: StatusCode,
    /// The render's id, if there is one.
    id: Option<String>,
    /// The JSON pointer of the first validation error.
    pointer: Option<String>,
}

/// Posts JSON to the synchronous render.
async fn post(client: &Client, body: impl Into<reqwest::Body>) -> Result<Answer, reqwest::Error> {
    let request = client
        .request(Method::POST, "renderers/pdf")
        .header("content-type", "application/json");
    let response = request.body(body).send().await?;
    let status = response.status();
    let id = response.headers().get("x-render-id").and_then(|id| id.to_str().ok());
    let id = id.map(ToOwned::to_owned);
    let body = response.bytes().await?;
    let refusal: Option<Value> = status
        .is_client_error()
        .then(|| serde_json::from_slice(&body).ok())
        .flatten();
    let pointer = refusal.and_then(|refusal| Some(refusal["errors"][0]["source"]["pointer"].as_str()?.to_owned()));
    Ok(Answer { status, id, pointer })
}
