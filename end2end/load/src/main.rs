//! Measures Platen against the raw limit, which is the same Chromium without a service around it, and against the usual
//! way, a fresh tab for every render. `make bench` builds both and calls it.
//!
//! Everything runs on loopback and ends with the run. A wrong answer of any side ends the run without a result.

mod bench;
mod browser;
mod crowd;
mod devtools;
mod document;
mod error;
mod goals;
mod measure;
mod mixes;
mod numbering;
mod pages;
mod plan;
mod platen;
mod processes;
mod queue;
mod raw;
mod report;
mod results;
mod sides;
mod statistics;
mod templates;

use std::{fs, path::PathBuf, process::ExitCode, time::Instant};

use clap::Parser;
use time::OffsetDateTime;

use crate::{
    error::LoadError,
    plan::Plan,
    report::{Surroundings, to_json, to_text},
};

/// Measure Platen against what the same Chromium can do at best.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Two minutes instead of twenty; shows what is broken, not what is slow.
    #[arg(long)]
    quick: bool,
    /// Write all figures to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The binary to measure, built in release mode. Without it, only Chromium is measured.
    #[arg(long, value_name = "FILE")]
    platen: Option<PathBuf>,
    /// The real binary of the browser, not a wrapper script; for all sides.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "/usr/lib/chromium/chromium-headless-shell"
    )]
    chromium: PathBuf,
    /// Small renders in a row, with the service's memory at ten points. Without it: 10,000, or 1,000 in a quick run.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10..))]
    soak: Option<u64>,
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
    let mut plan = if arguments.quick { Plan::QUICK } else { Plan::FULL };
    plan.soak_renders = arguments.soak.unwrap_or(plan.soak_renders);
    let (started, start) = (OffsetDateTime::now_utc(), Instant::now());
    let (chromium, results) = bench::run(&arguments.chromium, arguments.platen.as_deref(), plan).await?;
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
