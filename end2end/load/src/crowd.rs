//! Concurrency test with one account that has very many renders: the effect on another account, and the time that the
//! service itself spends outside the engine (authentication, reserving and charging credits).

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use serde::Serialize;
use tokio::time::sleep;

use crate::{
    document::Wanted,
    error::LoadError,
    pages::Load,
    platen::client::{Client, Order},
    statistics::median,
};

/// Renders that the busy account has in progress.
pub(crate) const CROWD: usize = 200;
/// Concurrent renders of one account while the cost of credits is measured.
const CHARGED_AT_ONCE: usize = 100;
/// Renders per caller.
const CHARGED_EACH: usize = 3;
const SINGLE_RENDERS: usize = 20;
/// Time to wait until the busy account's queue is full.
const GATHERING: Duration = Duration::from_secs(2);

/// Medians, in milliseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct CrowdCost {
    /// A one-line page on an idle service, as a multiple of Chromium's share of the time.
    pub(crate) hello_against_chromium: f64,
    /// A single invoice on an idle service.
    pub(crate) alone: f64,
    /// The same while another account has [`CROWD`] renders in progress.
    pub(crate) beside_crowd: f64,
    /// Time that the service adds to the engine's phases, one render at a time.
    pub(crate) around_engine: f64,
    /// The same with 100 concurrent renders of one account.
    pub(crate) around_engine_crowded: f64,
}

impl CrowdCost {
    /// Returns how many times slower the invoice of the other account gets.
    pub(crate) fn slowdown(&self) -> f64 {
        self.beside_crowd / self.alone
    }
}

/// Measures both accounts with the same document.
pub(crate) async fn measure(
    neighbour: &Client,
    crowded: &Client,
    hello: &Arc<Load>,
    load: &Arc<Load>,
) -> Result<CrowdCost, LoadError> {
    let hello = in_turn(neighbour, &Order::new(hello, Wanted::PdfA)).await?;
    let order = Order::new(load, Wanted::PdfA);
    let alone = in_turn(neighbour, &order).await?;
    let charged = try_join_all((0..CHARGED_AT_ONCE).map(|_| charged(crowded, &order))).await?;

    let ended = Arc::new(AtomicBool::new(false));
    let crowd: Vec<_> = (0..CROWD)
        .map(|_| tokio::spawn(render_until(ended.clone(), crowded.clone(), order.clone())))
        .collect();
    sleep(GATHERING).await;
    let beside = in_turn(neighbour, &order).await;
    ended.store(true, Ordering::Relaxed);
    for member in crowd {
        member.await??;
    }
    Ok(CrowdCost {
        hello_against_chromium: middle(&hello.took) / middle(&hello.chromium),
        alone: middle(&alone.took),
        beside_crowd: middle(&beside?.took),
        around_engine: middle(&alone.around),
        around_engine_crowded: middle(&charged.concat()),
    })
}

/// Milliseconds of each render of a series.
#[derive(Default)]
struct Timed {
    took: Vec<f64>,
    /// The part not spent in the engine.
    around: Vec<f64>,
    chromium: Vec<f64>,
}

/// Renders sequentially.
async fn in_turn(client: &Client, order: &Order) -> Result<Timed, LoadError> {
    let mut timed = Timed::default();
    // The first render warms up the session.
    for turn in 0..=SINGLE_RENDERS {
        let sent = Instant::now();
        let rendered = client.render_timed(order).await?;
        let took = sent.elapsed().as_secs_f64() * 1e3;
        if turn > 0 {
            timed.took.push(took);
            timed.around.push(took - rendered.engine_ms);
            timed.chromium.push(rendered.chromium_ms);
        }
    }
    Ok(timed)
}

async fn charged(client: &Client, order: &Order) -> Result<Vec<f64>, LoadError> {
    let mut around_ms = Vec::new();
    for _ in 0..CHARGED_EACH {
        let sent = Instant::now();
        let rendered = client.render_timed(order).await?;
        around_ms.push(sent.elapsed().as_secs_f64() * 1e3 - rendered.engine_ms);
    }
    Ok(around_ms)
}

async fn render_until(ended: Arc<AtomicBool>, client: Client, order: Order) -> Result<(), LoadError> {
    while !ended.load(Ordering::Relaxed) {
        client.render(&order).await?;
    }
    Ok(())
}

fn middle(values: &[f64]) -> f64 {
    median(values).unwrap_or_default()
}
