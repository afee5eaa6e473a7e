//! The course of a run.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use platen_pdf::{OutputFormat, PageFacts};
use time::OffsetDateTime;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::sleep,
};

use crate::{
    document::Wanted,
    error::LoadError,
    measure::Limit,
    mixes::{ManyAccounts, NEWCOMER_INTERVAL, Newcomers},
    pages::{self, Load},
    plan::Plan,
    platen::{
        Service,
        client::{Client, Order, Renderer},
    },
    processes,
    raw::{After, RawPeer},
    results::{Completion, Results, SoakPoint, Way},
    statistics::median,
};

/// A run takes no longer than this, whatever happens.
const LONGEST_RUN: Duration = Duration::from_mins(40);

/// Most callers at once of the raw client and of the fresh tabs: more would share the cores, not use more of them.
const RAW_CALLERS: usize = 4;

const CALLERS: [usize; 4] = [1, 2, 4, 8];

/// Accounts that take turns, and how many of their renders run at once.
const ACCOUNTS: usize = 20;
const ACCOUNTS_CALLERS: usize = 4;

/// One caller has his first render while the other keeps the service busy.
const NEWCOMERS_CALLERS: usize = 2;

const SOAK_POINTS: u64 = 10;
const SOAK_CALLERS: usize = 2;

/// What is compared side by side, in this order and, in every other round, in the opposite one.
const WAYS: [Way; 5] = [Way::Raw, Way::PdfA, Way::RawReset, Way::Pdf, Way::FreshTab];

/// Starts everything, measures, and ends everything. Returns Chromium's version too. Without `platen`, only Chromium is
/// measured.
pub(crate) async fn run(chromium: &Path, platen: Option<&Path>, plan: Plan) -> Result<(String, Results), LoadError> {
    let mut raw = RawPeer::start(chromium, RAW_CALLERS).await?;
    let mut service = platen.map(|binary| Service::start(binary, chromium)).transpose()?;
    let outcome = tokio::select! {
        outcome = measure(&mut raw, service.as_mut(), plan) => outcome,
        error = wait_for_the_end() => Err(error),
    };
    let stopped = match service {
        Some(service) => service.stop().await,
        None => Ok(()),
    };
    let closed = raw.close().await;
    let outcome = outcome?;
    stopped?;
    closed?;
    Ok(outcome)
}

async fn wait_for_the_end() -> LoadError {
    let (terminate, interrupt) = match (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) {
        (Ok(terminate), Ok(interrupt)) => (terminate, interrupt),
        (Err(error), _) | (_, Err(error)) => return error.into(),
    };
    let (mut terminate, mut interrupt) = (terminate, interrupt);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        () = sleep(LONGEST_RUN) => {}
    }
    LoadError::Ended(LONGEST_RUN)
}

async fn measure(raw: &mut RawPeer, service: Option<&mut Service>, plan: Plan) -> Result<(String, Results), LoadError> {
    let version = raw.version().await?;
    let platen = match service {
        Some(service) => {
            service.wait_until_ready().await?;
            Some(Platen::prepare(service, plan).await?)
        }
        None => None,
    };
    let mut bench = Bench {
        raw,
        platen,
        plan,
        results: Results::default(),
    };
    bench.measure_all().await?;
    Ok((version, bench.results))
}

struct Platen<'a> {
    service: &'a Service,
    /// The first of them renders whatever needs one account only.
    accounts: Vec<Client>,
    newcomers: Vec<Client>,
}

impl<'a> Platen<'a> {
    async fn prepare(service: &'a Service, plan: Plan) -> Result<Self, LoadError> {
        progress("accounts and keys");
        let mut accounts = Vec::new();
        for number in 0..ACCOUNTS {
            accounts.push(service.new_client(&format!("account-{number}")).await?);
        }
        let mut newcomers = Vec::new();
        for number in 0..plan.newcomers * plan.rounds {
            newcomers.push(service.new_client(&format!("newcomer-{number}")).await?);
        }
        Ok(Self {
            service,
            accounts,
            newcomers,
        })
    }

    fn renderers(&self, order: &Order, count: usize) -> Vec<Renderer> {
        (0..count).map(|_| Renderer::new(&self.accounts[0], order)).collect()
    }
}

struct Bench<'a> {
    raw: &'a mut RawPeer,
    platen: Option<Platen<'a>>,
    plan: Plan,
    results: Results,
}

impl Bench<'_> {
    async fn measure_all(&mut self) -> Result<(), LoadError> {
        let invoice = Arc::new(pages::invoice());
        for load in [
            Arc::new(pages::hello()),
            invoice.clone(),
            Arc::new(pages::scripted_invoice()),
        ] {
            for round in 0..self.plan.rounds {
                self.measure_ways(&load, round, RAW_CALLERS.max(CALLERS[3]), self.limit())
                    .await?;
                if load.name == invoice.name {
                    self.measure_mixes(&invoice).await?;
                }
            }
        }
        self.soak().await?;
        // The large documents come last: what they leave in memory is a measurement of its own.
        let table = Arc::new(pages::table());
        let limit = Limit {
            warm_up: false,
            ..self.limit()
        };
        for round in 0..self.plan.table_rounds {
            self.measure_ways(&table, round, self.plan.table_concurrency, limit)
                .await?;
        }
        self.measure_memory_after_large_documents(&invoice).await?;
        for load in [&invoice, &table] {
            self.measure_completion(load).await?;
        }
        Ok(())
    }

    fn limit(&self) -> Limit {
        Limit {
            time: self.plan.window,
            renders: 10_000,
            warm_up: true,
        }
    }

    /// Every way once with every number of callers up to `most_callers`.
    async fn measure_ways(
        &mut self,
        load: &Arc<Load>,
        round: usize,
        most_callers: usize,
        limit: Limit,
    ) -> Result<(), LoadError> {
        progress(&format!("{}, round {}", load.name, round + 1));
        let mut ways = WAYS;
        if !round.is_multiple_of(2) {
            ways.reverse();
        }
        for callers in CALLERS.into_iter().filter(|callers| *callers <= most_callers) {
            for way in ways {
                self.measure_way(load, way, callers, limit).await?;
            }
        }
        Ok(())
    }

    async fn measure_way(&mut self, load: &Arc<Load>, way: Way, callers: usize, limit: Limit) -> Result<(), LoadError> {
        let round = match way {
            Way::Raw | Way::RawReset | Way::FreshTab if callers > RAW_CALLERS => return Ok(()),
            Way::Raw => self.raw.measure_warm(load, After::Nothing, callers, limit).await?.0,
            Way::RawReset => self.raw.measure_warm(load, After::Reset, callers, limit).await?.0,
            Way::FreshTab => self.raw.measure_fresh_tabs(load, callers, limit).await?,
            Way::Pdf | Way::PdfA | Way::ManyAccounts | Way::Newcomers => {
                let Some(platen) = &self.platen else {
                    return Ok(());
                };
                let wanted = if way == Way::Pdf { Wanted::Pdf } else { Wanted::PdfA };
                let order = Order::new(load, wanted);
                let outcome = platen.service.measure(platen.renderers(&order, callers), limit).await?;
                check_all(&order, &outcome.documents)?;
                outcome.round
            }
        };
        self.results.record(load.name, way, callers, round);
        Ok(())
    }

    /// Many accounts in turn, and new accounts among the renders of an old one.
    async fn measure_mixes(&mut self, load: &Arc<Load>) -> Result<(), LoadError> {
        let Some(platen) = &mut self.platen else {
            return Ok(());
        };
        let order = Order::new(load, Wanted::PdfA);
        let limit = Limit {
            time: self.plan.window * 2,
            renders: 10_000,
            warm_up: true,
        };
        let callers = vec![ManyAccounts::new(platen.accounts.clone(), &order); ACCOUNTS_CALLERS];
        let outcome = platen.service.measure(callers, limit).await?;
        check_all(&order, &outcome.documents)?;
        self.results
            .record(load.name, Way::ManyAccounts, ACCOUNTS_CALLERS, outcome.round);

        let newcomers = platen.newcomers.split_off(platen.newcomers.len() - self.plan.newcomers);
        let limit = Limit {
            // By count alone: the share of newcomers must be right. The window bounds it on a machine that is far too slow.
            time: self.plan.window * 20,
            renders: (self.plan.newcomers * NEWCOMER_INTERVAL) as u64,
            warm_up: false,
        };
        let callers = vec![Newcomers::new(&platen.accounts[0], newcomers, &order); NEWCOMERS_CALLERS];
        let outcome = platen.service.measure(callers, limit).await?;
        check_all(&order, &outcome.documents)?;
        self.results
            .record(load.name, Way::Newcomers, NEWCOMERS_CALLERS, outcome.round);
        if let Some(caller) = outcome.callers.first() {
            self.results.first_renders_ms.extend(caller.first_renders_ms());
        }
        Ok(())
    }

    /// Many renders of a small page, with the service's memory at ten points.
    async fn soak(&mut self) -> Result<(), LoadError> {
        let Some(platen) = &self.platen else {
            return Ok(());
        };
        progress(&format!("soak of {} renders", self.plan.soak_renders));
        let order = Order::new(&Arc::new(pages::hello()), Wanted::PdfA);
        let limit = Limit {
            time: Duration::from_mins(1),
            renders: self.plan.soak_renders / SOAK_POINTS,
            warm_up: false,
        };
        let mut renders = 0;
        for _ in 0..SOAK_POINTS {
            let outcome = platen
                .service
                .measure(platen.renderers(&order, SOAK_CALLERS), limit)
                .await?;
            check_all(&order, &outcome.documents)?;
            renders += outcome.round.renders;
            self.results.soak.push(SoakPoint {
                renders,
                service_memory: processes::memory(platen.service.pid)?.service,
            });
        }
        Ok(())
    }

    /// What Chromium still holds when some hundred small documents have followed the large ones.
    async fn measure_memory_after_large_documents(&mut self, invoice: &Arc<Load>) -> Result<(), LoadError> {
        let Some(platen) = &self.platen else {
            return Ok(());
        };
        progress("memory after large documents");
        let order = Order::new(invoice, Wanted::PdfA);
        let limit = Limit {
            time: Duration::from_secs(20),
            renders: 300,
            warm_up: false,
        };
        platen
            .service
            .measure(platen.renderers(&order, ACCOUNTS_CALLERS), limit)
            .await?;
        self.results.chromium_after_large_documents = Some(processes::memory(platen.service.pid)?.chromium);
        Ok(())
    }

    /// PDF/A completion alone, on what the raw client prints.
    async fn measure_completion(&mut self, load: &Arc<Load>) -> Result<(), LoadError> {
        progress(&format!("PDF/A completion, {}", load.name));
        let limit = Limit {
            time: Duration::ZERO,
            renders: 1,
            warm_up: false,
        };
        let (_, printed) = self.raw.measure_warm(load, After::Nothing, 1, limit).await?;
        let completions = self.plan.completions;
        let p50_ms = tokio::task::spawn_blocking(move || complete_often(&printed, completions)).await??;
        self.results.completions.push(Completion {
            load: load.name,
            p50_ms,
        });
        Ok(())
    }
}

/// Milliseconds, the median.
fn complete_often(printed: &Bytes, times: usize) -> Result<f64, LoadError> {
    let facts = PageFacts {
        title: Some("A document".into()),
        language: Some("en".into()),
        ..PageFacts::default()
    };
    let mut took_ms = Vec::new();
    for _ in 0..times {
        let start = Instant::now();
        platen_pdf::complete(printed, &facts, OutputFormat::PdfA2b, OffsetDateTime::UNIX_EPOCH)?;
        took_ms.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(&took_ms).unwrap_or_default())
}

fn check_all(order: &Order, documents: &[Bytes]) -> Result<(), LoadError> {
    documents.iter().try_for_each(|document| order.check(document))
}

fn progress(what: &str) {
    eprintln!("… {what}");
}
