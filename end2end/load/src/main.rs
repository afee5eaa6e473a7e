//! Compares Platen with the raw limit, which is the same Chromium without a service, and with the usual approach, a new
//! tab for each render. `make bench` builds and runs it.
//!
//! All processes listen on loopback and stop at the end of the run. An invalid response from any side ends the run
//! without a result.

mod assets;
mod batch;
mod bench;
mod browser;
mod chaos;
mod crowd;
mod database_profile;
mod devtools;
mod document;
mod error;
mod goals;
mod history;
mod hostile;
mod measure;
mod mixes;
mod numbering;
mod pages;
mod plan;
mod platen;
mod processes;
mod queue;
mod rates;
mod raw;
mod receiver;
mod report;
mod results;
mod scale;
mod sides;
mod statistics;
mod store;
mod templates;
mod tool;
mod upgrade;
mod verification;

use std::{fs, io, path::PathBuf, process::ExitCode, time::Instant};

use clap::{Parser, ValueEnum};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use time::OffsetDateTime;

use crate::{
    error::LoadError,
    plan::Plan,
    report::{Surroundings, to_json, to_text},
};

/// Benchmark Platen against the limits of the same Chromium.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Take seven minutes instead of forty; detects failures, not slowdowns.
    #[arg(long)]
    quick: bool,
    /// Write all figures to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The binary to measure, built in release mode. Without it, only Chromium is measured.
    #[arg(long, value_name = "FILE")]
    platen: Option<PathBuf>,
    /// The browser's binary, not a wrapper script; used by all sides.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "/usr/lib/chromium/chromium-headless-shell"
    )]
    chromium: PathBuf,
    /// Number of small renders in the soak, which samples the service's memory at ten points. Default: 10,000, or 1,000
    /// in a quick run.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10..))]
    soak: Option<u64>,
    /// Measure only this section.
    #[arg(long, value_enum, requires = "platen")]
    only: Option<Section>,
    /// Number of renders in the section mixed-soak.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(10..))]
    mixed: u64,
    /// Number of rows in the section batch, chaos or upgrade. Default: 10,000, 20,000 or 6,000, and 500, 1,000 or 2,000 in a
    /// quick run.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    rows: Option<u64>,
    /// `platen-simulated` of the previous version, for the section upgrade; `deploy/previous.sh COMMIT` builds it.
    #[arg(long, value_name = "FILE")]
    previous_platen: Option<PathBuf>,
}

/// A section that can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Section {
    /// Ordinary renders, compared with Chromium alone.
    Speed,
    /// The PDF/A step alone, of an invoice and of a table of 100 pages.
    Completion,
    /// The cost of one account's hostile requests for the service and another account.
    Hostile,
    /// Mixed pages of several accounts, one in a hundred hostile; measured only on request.
    MixedSoak,
    /// Queue, store and callbacks of several processes of `platen-simulated`, which need no browsers; measured only on request.
    Scale,
    /// The rate limit of an account in twelve processes, which need no browsers; measured only on request.
    Rates,
    /// A batch delivered to a bucket, and its effect on another account; measured only on request.
    Batch,
    /// A batch under fault injection, with Toxiproxy and without browsers; measured only on request.
    Chaos,
    /// Lists, filters and pages with millions of renders, which need no browsers; measured only on request.
    History,
    /// A rolling upgrade from the previous version during a batch, without browsers; measured only on request.
    Upgrade,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("platen-load: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), LoadError> {
    raise_open_files()?;
    let mut plan = if arguments.quick { Plan::QUICK } else { Plan::FULL };
    plan.soak_renders = arguments.soak.unwrap_or(plan.soak_renders);
    plan.batch_rows = arguments.rows.unwrap_or(plan.batch_rows);
    plan.chaos_rows = arguments.rows.unwrap_or(plan.chaos_rows);
    plan.upgrade_rows = arguments.rows.unwrap_or(plan.upgrade_rows);
    let (started, start) = (OffsetDateTime::now_utc(), Instant::now());
    let chromium = &arguments.chromium;
    let (chromium, results) = match (arguments.only, arguments.platen.as_deref()) {
        (Some(section), Some(platen)) => {
            let previous = arguments.previous_platen.as_deref();
            bench::run_section(section, chromium, platen, previous, plan, arguments.mixed).await?
        }
        (_, platen) => bench::run(chromium, platen, plan).await?,
    };
    let surroundings = Surroundings {
        started,
        seconds: start.elapsed().as_secs_f64(),
        chromium,
        quick: arguments.quick,
    };
    if let Some(path) = arguments.json {
        let json = format!("{:#}\n", to_json(&surroundings, &results));
        fs::write(&path, json).map_err(|error| LoadError::File { path, error })?;
    }
    print!("{}", to_text(&surroundings, &results));
    Ok(())
}

/// Raises the limit of open files: attacks open thousands of connections.
fn raise_open_files() -> io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    Ok(setrlimit(Resource::Nofile, raised)?)
}
