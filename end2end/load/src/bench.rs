//! Runs the benchmark.

use std::{
    env, hint, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use platen_pdf::{OutputFormat, PageFacts, check};
use rustix::time::{ClockId, clock_gettime};
use time::OffsetDateTime;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::sleep,
};

use crate::{
    Section, batch,
    browser::Frames,
    chaos,
    document::Wanted,
    error::LoadError,
    history,
    hostile::{self, mixed},
    measure::Limit,
    numbering::{FIFTY_PARTS, TWO_PARTS},
    pages::{self, Load},
    plan::Plan,
    platen::Service,
    processes,
    queue::{self, Acceptance},
    rates,
    raw::{After, RawPeer},
    results::{Completion, Results, SoakPoint, Way},
    scale,
    sides::{Platen, Sides, numbers_of_callers},
    statistics::median,
    upgrade,
};

/// Upper bound on the duration of a run.
const LONGEST_RUN: Duration = Duration::from_hours(2);

/// Warm pages of the raw client.
const RAW_PAGES: usize = 4;

/// Ways compared for every load, in this order in even rounds and in reverse in odd ones.
const WAYS: [Way; 6] = [
    Way::Raw,
    Way::PdfA,
    Way::RawStill,
    Way::RawReset,
    Way::Pdf,
    Way::FreshTab,
];

/// Ways compared for the invoice.
const WAYS_AND_MIXES: [Way; 8] = [
    Way::Raw,
    Way::PdfA,
    Way::RawStill,
    Way::Newcomers,
    Way::RawReset,
    Way::ManyAccounts,
    Way::FreshTab,
    Way::Pdf,
];

/// Maximum number of concurrent callers.
const MOST_CALLERS: usize = 8;

const SOAK_POINTS: u64 = 10;
const SOAK_CALLERS: usize = 2;

/// Runs all measurements and stops all processes. Returns Chromium's version and the results. Without `platen`, only
/// Chromium is measured.
pub(crate) async fn run(chromium: &Path, platen: Option<&Path>, plan: Plan) -> Result<(String, Results), LoadError> {
    let mut outcome = run_speed(chromium, platen, plan).await?;
    if let Some(binary) = platen {
        outcome.1.acceptance = Some(measure_acceptance(binary, chromium).await?);
        progress("hostile requests");
        outcome.1.hostile = hostile::measure(binary, chromium, plan).await?;
    }
    Ok(outcome)
}

/// Runs the section that compares ordinary renders.
async fn run_speed(chromium: &Path, platen: Option<&Path>, plan: Plan) -> Result<(String, Results), LoadError> {
    let ended_from_outside = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut raw = RawPeer::start(chromium, Frames::Drawn, RAW_PAGES).await?;
    let mut still = RawPeer::start(chromium, Frames::None, RAW_PAGES).await?;
    let mut service = platen
        .map(|binary| Service::start(binary, chromium, "all"))
        .transpose()?;
    let outcome = tokio::select! {
        outcome = measure([&mut raw, &mut still], service.as_mut(), plan) => outcome,
        error = wait_for_the_end(ended_from_outside) => Err(error),
    };
    let stopped = match service {
        Some(service) => service.stop().await,
        None => Ok(()),
    };
    let closed = (raw.close().await, still.close().await);
    let outcome = outcome?;
    stopped?;
    closed.0.and(closed.1)?;
    Ok(outcome)
}

/// Measures one section alone, with its own service. Returns Chromium's version and the results. `previous` is the program
/// `platen-simulated` of the previous version.
pub(crate) async fn run_section(
    section: Section,
    chromium: &Path,
    platen: &Path,
    previous: Option<&Path>,
    plan: Plan,
    mixed_renders: u64,
) -> Result<(String, Results), LoadError> {
    let ended_from_outside = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut results = Results::default();
    let measure = async {
        match section {
            Section::Speed => results = run_speed(chromium, Some(platen), plan).await?.1,
            Section::Completion => {
                let mut raw = RawPeer::start(chromium, Frames::Drawn, 1).await?;
                let loads = [pages::invoice(), pages::table()].map(Arc::new);
                let measured = measure_completions(&mut raw, loads.each_ref(), plan).await;
                raw.close().await?;
                results.completions = measured?;
            }
            Section::Hostile => results.hostile = hostile::measure(platen, chromium, plan).await?,
            Section::MixedSoak => {
                results.mixed_soak = Some(mixed::measure(platen, chromium, mixed_renders).await?);
            }
            Section::Scale => {
                let simulated = simulated()?;
                for scenario in plan.scenarios {
                    progress(&scenario.to_string());
                    let result = scale::measure(&simulated, *scenario, plan.scale_renders).await?;
                    progress(&format!("{:.0} renders/s", result.renders_per_second));
                    results.scale.push(result);
                }
            }
            Section::Rates => results.rates = Some(rates::measure(&simulated()?, plan.rates_lasting).await?),
            Section::Batch => results.batch = Some(batch::measure(platen, chromium, plan.batch_rows).await?),
            Section::Chaos => {
                results.chaos = Some(chaos::measure(&simulated()?, plan.chaos_rows as usize).await?);
            }
            Section::History => {
                let measured = history::measure(&simulated()?, plan.history_renders, plan.history_requests).await?;
                results.history = Some(measured);
            }
            Section::Upgrade => {
                let previous = previous.ok_or(LoadError::NoPreviousVersion)?;
                results.upgrade =
                    Some(Box::pin(upgrade::measure(previous, &simulated()?, plan.upgrade_rows as usize)).await?);
            }
        }
        Ok::<_, LoadError>(())
    };
    tokio::select! {
        outcome = measure => outcome?,
        error = wait_for_the_end(ended_from_outside) => return Err(error),
    }
    let raw = RawPeer::start(chromium, Frames::Drawn, 1).await?;
    let version = raw.version().await?;
    raw.close().await?;
    Ok((version, results))
}

/// Returns the path of `platen-simulated`, which is built with this program.
fn simulated() -> io::Result<PathBuf> {
    Ok(env::current_exe()?.with_file_name("platen-simulated"))
}

/// Measures acceptance with its own service, which accepts renders but doesn't run them.
async fn measure_acceptance(binary: &Path, chromium: &Path) -> Result<Acceptance, LoadError> {
    progress("acceptance and claims");
    let service = Service::start(binary, chromium, "web")?;
    service
        .while_it_runs(async |service| queue::measure_acceptance(service, &pages::invoice()).await)
        .await
}

async fn wait_for_the_end((mut terminate, mut interrupt): (Signal, Signal)) -> LoadError {
    tokio::select! {
        _ = terminate.recv() => LoadError::Ended("SIGTERM"),
        _ = interrupt.recv() => LoadError::Ended("SIGINT"),
        () = sleep(LONGEST_RUN) => LoadError::TooLong(LONGEST_RUN),
    }
}

async fn measure(
    [raw, still]: [&mut RawPeer; 2],
    service: Option<&mut Service>,
    plan: Plan,
) -> Result<(String, Results), LoadError> {
    let version = raw.version().await?;
    let platen = match service {
        Some(service) => {
            progress("start, accounts and keys");
            service.wait_until_ready().await?;
            Some(Platen::prepare(service, plan).await?)
        }
        None => None,
    };
    let mut bench = Bench {
        sides: Sides { raw, still, platen },
        plan,
        results: Results::default(),
    };
    bench.measure_all().await?;
    Ok((version, bench.results))
}

struct Bench<'a> {
    sides: Sides<'a>,
    plan: Plan,
    results: Results,
}

impl Bench<'_> {
    async fn measure_all(&mut self) -> Result<(), LoadError> {
        let [hello, invoice, scripted_invoice, table] = [
            pages::hello(),
            pages::invoice(),
            pages::scripted_invoice(),
            pages::table(),
        ]
        .map(Arc::new);
        let limit = Limit {
            time: self.plan.window,
            renders: 10_000,
            warm_up: true,
        };
        for round in 0..self.plan.rounds {
            self.measure_ways(&hello, &WAYS, round, limit, MOST_CALLERS).await?;
            self.measure_ways(&invoice, &WAYS_AND_MIXES, round, limit, MOST_CALLERS)
                .await?;
            self.measure_ways(&scripted_invoice, &WAYS, round, limit, MOST_CALLERS)
                .await?;
        }
        self.soak(&hello).await?;
        // Large documents come last, because the memory that they leave allocated is a measurement of its own.
        let before = self.chromium_after_small_documents(&invoice).await?;
        let limit = Limit {
            warm_up: false,
            ..limit
        };
        for round in 0..self.plan.table_rounds {
            self.measure_ways(&table, &WAYS, round, limit, self.plan.table_callers)
                .await?;
        }
        let after = self.chromium_after_small_documents(&invoice).await?;
        self.results.left_by_large_documents = before.zip(after).map(|(before, after)| after.saturating_sub(before));
        self.results.completions = measure_completions(self.sides.raw, [&invoice, &table], self.plan).await?;
        if let Some(platen) = &self.sides.platen {
            progress("header and footer over several parts");
            for case in [&TWO_PARTS, &FIFTY_PARTS] {
                self.results.numbering.push(platen.measure_numbering(case).await?);
            }
            progress("templates");
            self.results.templates = Some(platen.measure_templates().await?);
            progress("assets");
            self.results.assets = Some(platen.measure_assets().await?);
            progress("one account with very many renders");
            self.results.crowd = Some(platen.measure_crowd(&hello, &invoice).await?);
            progress("a full queue");
            let queue = platen.measure_queue(&invoice, self.plan.queued_renders).await?;
            self.results.queue = Some(queue);
            self.results.pages_budget = Some(platen.service.pages_budget()?);
            self.results.first_renders_ms.clone_from(&platen.first_renders_ms);
        }
        Ok(())
    }

    /// Measures every way with each of its numbers of callers, up to `most_callers`.
    async fn measure_ways(
        &mut self,
        load: &Arc<Load>,
        ways: &[Way],
        round: usize,
        limit: Limit,
        most_callers: usize,
    ) -> Result<(), LoadError> {
        progress(&format!("{}, round {}", load.name, round + 1));
        let mut ways = ways.to_vec();
        if !round.is_multiple_of(2) {
            ways.reverse();
        }
        for callers in (1..=most_callers).filter(|callers| callers.is_power_of_two()) {
            let is_wanted = |way: &&Way| numbers_of_callers(**way).contains(&callers);
            for way in ways.iter().filter(is_wanted) {
                if let Some(round) = self.sides.measure(load, *way, callers, limit).await? {
                    self.results.record(load.name, *way, callers, round);
                }
            }
        }
        Ok(())
    }

    /// Renders a small page many times and samples the service's memory at ten points.
    async fn soak(&mut self, hello: &Arc<Load>) -> Result<(), LoadError> {
        let Some(platen) = &self.sides.platen else {
            return Ok(());
        };
        progress(&format!("soak of {} renders", self.plan.soak_renders));
        let limit = Limit {
            time: Duration::from_mins(1),
            renders: self.plan.soak_renders / SOAK_POINTS,
            warm_up: false,
        };
        let mut renders = 0;
        for _ in 0..SOAK_POINTS {
            renders += platen.measure(hello, Wanted::PdfA, SOAK_CALLERS, limit).await?.renders;
            self.results.soak.push(SoakPoint {
                renders,
                service_memory: processes::memory(platen.service.pid)?.service,
            });
        }
        Ok(())
    }

    /// Returns the memory of all Chromium processes in bytes, when a few hundred small documents were printed. `None`
    /// without a service.
    async fn chromium_after_small_documents(&self, invoice: &Arc<Load>) -> Result<Option<u64>, LoadError> {
        let Some(platen) = &self.sides.platen else {
            return Ok(None);
        };
        progress("memory after small documents");
        let limit = Limit {
            time: Duration::from_secs(20),
            renders: 300,
            warm_up: false,
        };
        platen.measure(invoice, Wanted::PdfA, 4, limit).await?;
        Ok(Some(processes::memory(platen.service.pid)?.chromium))
    }
}

/// Measures only the PDF/A completion, with documents printed by the raw client.
async fn measure_completions(
    raw: &mut RawPeer,
    loads: [&Arc<Load>; 2],
    plan: Plan,
) -> Result<Vec<Completion>, LoadError> {
    let once = Limit {
        time: Duration::ZERO,
        renders: 1,
        warm_up: false,
    };
    let mut measured = Vec::new();
    for load in loads {
        progress(&format!("PDF/A completion, {}", load.name));
        // After a print, Chromium would lay out the page for the screen beside the measurement.
        let (_, printed) = raw.measure_warm(load, After::Reset, 1, once).await?;
        let name = load.name;
        let completion = move || complete_often(name, &printed, plan.completions);
        measured.push(tokio::task::spawn_blocking(completion).await??);
    }
    Ok(measured)
}

/// Measures completing a document, examining the result, and checking it against PDF/A-2b alone, in turn.
fn complete_often(load: &'static str, printed: &Bytes, times: usize) -> Result<Completion, LoadError> {
    let facts = PageFacts {
        title: Some("A document".into()),
        language: Some("en".into()),
        ..PageFacts::default()
    };
    let [mut completion, mut examination, mut basic_check] = [const { Stopwatch::new() }; 3];
    for _ in 0..times {
        let instant = OffsetDateTime::UNIX_EPOCH;
        // The service owns the printed bytes as well, which saves a copy.
        let owned = printed.to_vec();
        let complete = || platen_pdf::complete(owned, &facts, OutputFormat::PdfA2b, instant);
        let completed = completion.measure(complete)?;
        // The results are known: completion returns only documents that conform.
        let _ = hint::black_box(examination.measure(|| check::examine(&completed.bytes)));
        let _ = hint::black_box(basic_check.measure(|| check::check_basic(&completed.bytes)));
    }
    Ok(Completion {
        load,
        p50_ms: median(&completion.took_ms).unwrap_or_default(),
        examination_p50_ms: median(&examination.took_ms).unwrap_or_default(),
        cpu_ms: median(&completion.cpu_ms).unwrap_or_default(),
        examination_cpu_ms: median(&examination.cpu_ms).unwrap_or_default(),
        basic_check_cpu_ms: median(&basic_check.cpu_ms).unwrap_or_default(),
    })
}

/// Durations of one function, and the CPU times of this process meanwhile, in which nothing else runs.
struct Stopwatch {
    took_ms: Vec<f64>,
    cpu_ms: Vec<f64>,
}

impl Stopwatch {
    const fn new() -> Self {
        Self {
            took_ms: Vec::new(),
            cpu_ms: Vec::new(),
        }
    }

    fn measure<T>(&mut self, function: impl FnOnce() -> T) -> T {
        let (start, cpu_start) = (Instant::now(), own_processor_time());
        let result = function();
        self.took_ms.push(start.elapsed().as_secs_f64() * 1e3);
        self.cpu_ms.push(own_processor_time() - cpu_start);
        result
    }
}

/// Returns the CPU time of this process, in milliseconds.
fn own_processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Prints what is measured next.
pub(crate) fn progress(what: &str) {
    eprintln!("… {what}");
}
