//! The report: a text for people and JSON for comparisons.

use std::{fmt::Write as _, fs};

use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    batch::BatchDelivery,
    crowd::CROWD,
    goals::{Bound, Goal, judge},
    history::HistoryCost,
    hostile::{AttackResult, mixed::MixedSoak},
    processes::ProcessorTime,
    results::{Cell, Results, SoakPoint, Way},
    scale::ScaleResult,
    statistics::percentile,
};

const MEGABYTE: f64 = 1e6;

/// The circumstances of the run.
#[derive(Debug)]
pub(crate) struct Surroundings {
    pub(crate) started: OffsetDateTime,
    pub(crate) seconds: f64,
    pub(crate) chromium: String,
    pub(crate) quick: bool,
}

/// Returns the run as JSON.
pub(crate) fn to_json(surroundings: &Surroundings, results: &Results) -> Value {
    let cells: Vec<Value> = results.cells.iter().map(|cell| cell_json(results, cell)).collect();
    json!({
        "started": surroundings.started.format(&Rfc3339).unwrap_or_default(),
        "seconds": surroundings.seconds,
        "quick": surroundings.quick,
        "machine": { "processor": processor(), "cores": cores(), "kernel": kernel() },
        "chromium": surroundings.chromium,
        "cells": cells,
        "first_renders_ms": results.first_renders_ms,
        "soak": results.soak,
        "pdfa_completions": results.completions,
        "numbering": results.numbering,
        "templates_ms": results.templates,
        "assets_ms": results.assets,
        "crowd_ms": results.crowd,
        "queue": results.queue,
        "acceptance": results.acceptance,
        "pages_budget": results.pages_budget,
        "left_by_large_documents": results.left_by_large_documents,
        "hostile": results.hostile,
        "mixed_soak": results.mixed_soak,
        "scale": results.scale,
        "rates": results.rates,
        "batch": results.batch,
        "chaos": results.chaos,
        "history": results.history,
        "upgrade": results.upgrade,
        "goals": judge(results),
    })
}

/// Returns the run as text.
pub(crate) fn to_text(surroundings: &Surroundings, results: &Results) -> String {
    let mut text = format!(
        "{}, {} cores, {}{}\n",
        processor(),
        cores(),
        surroundings.chromium,
        if surroundings.quick { ", quick run" } else { "" },
    );
    text.push_str(
        "\np50, throughput and CPU: medians of the rounds. × raw: against the raw limit of the same round, p50 with as many \
         callers, throughput at its best.\nMemory: largest seen, MB; anonymous memory of each process, files and shared \
         memory once. CPU: ms per render, of the server's process and all \
         its descendants; own: its process alone.\n",
    );
    let mut load = "";
    for cell in &results.cells {
        if cell.load != load {
            load = cell.load;
            add_heading(&mut text, load);
        }
        add_cell(&mut text, results, cell);
    }
    add_processors(&mut text, results);
    add_details(&mut text, results);
    add_attacks(&mut text, &results.hostile);
    if let Some(soak) = &results.mixed_soak {
        add_mixed_soak(&mut text, soak);
    }
    add_scale(&mut text, &results.scale);
    if let Some(batch) = &results.batch {
        add_batch(&mut text, batch);
    }
    if let Some(chaos) = &results.chaos {
        let _ = writeln!(text, "\n{chaos}");
    }
    if let Some(history) = &results.history {
        add_history(&mut text, history);
    }
    if let Some(upgrade) = &results.upgrade {
        let _ = writeln!(text, "\n{upgrade}");
    }
    add_goals(&mut text, &judge(results));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{:.0} minutes", surroundings.seconds / 60.0);
    text
}

fn cell_json(results: &Results, cell: &Cell) -> Value {
    json!({
        "load": cell.load,
        "way": cell.way,
        "callers": cell.concurrency,
        "p50_ms": cell.median(|round| round.p50_ms),
        "p95_ms": cell.median(|round| round.p95_ms),
        "renders_per_second": cell.median(|round| round.renders_per_second),
        "cpu_ms_per_render": cell.median(|round| round.cpu_ms_per_render.sum()),
        "p50_against_raw": results.p50_ratio(cell),
        "throughput_against_best_raw": results.throughput_ratio(cell),
        "rounds": cell.rounds,
    })
}

fn add_heading(text: &mut String, load: &str) {
    let _ = writeln!(
        text,
        "\n{load:<20} {:>7} {:>8} {:>8} {:>7} {:>8} {:>7} {:>7} {:>7} {:>8} {:>9}",
        "callers", "p50 ms", "p95 ms", "× raw", "/s", "× raw", "CPU", "own", "service", "Chromium",
    );
}

fn add_cell(text: &mut String, results: &Results, cell: &Cell) {
    let service = cell.largest(|round| round.memory.service);
    let _ = writeln!(
        text,
        "{:<20} {:>7} {:>8.1} {:>8.1} {:>7} {:>8.1} {:>7} {:>7.1} {:>7.1} {:>8} {:>9.0}",
        cell.way.name(),
        cell.concurrency,
        cell.median(|round| round.p50_ms),
        cell.median(|round| round.p95_ms),
        ratio(results.p50_ratio(cell).filter(|_| cell.way != Way::Raw)),
        cell.median(|round| round.renders_per_second),
        ratio(results.throughput_ratio(cell)),
        cell.median(|round| round.cpu_ms_per_render.sum()),
        cell.median(|round| round.cpu_ms_per_render.root),
        if service == 0 {
            "–".to_owned()
        } else {
            format!("{:.0}", service as f64 / MEGABYTE)
        },
        cell.largest(|round| round.memory.chromium) as f64 / MEGABYTE,
    );
}

/// Adds the CPU time by kind of process.
fn add_processors(text: &mut String, results: &Results) {
    let _ = writeln!(
        text,
        "\n{:<34} {:>7} {:>9} {:>8} {:>5} {:>8} {:>9} {:>7} {:>6}",
        "CPU by process, ms per render",
        "callers",
        "renderers",
        "browsers",
        "GPU",
        "service",
        "Postgres",
        "others",
        "ended",
    );
    let served = results
        .cells
        .iter()
        .filter(|cell| matches!(cell.way, Way::PdfA | Way::ManyAccounts | Way::Newcomers));
    for cell in served {
        let used = |of: fn(&ProcessorTime) -> f64| cell.median(|round| of(&round.cpu_ms_per_render));
        let _ = writeln!(
            text,
            "{:<34} {:>7} {:>9.1} {:>8.1} {:>5.1} {:>8.1} {:>9.1} {:>7.1} {:>6.1}",
            format!("{}, {}", cell.load, cell.way.name()),
            cell.concurrency,
            used(|time| time.renderers),
            used(|time| time.browsers),
            used(|time| time.gpu),
            used(|time| time.root),
            used(|time| time.postgres),
            used(|time| time.others),
            used(|time| time.ended),
        );
    }
}

fn add_details(text: &mut String, results: &Results) {
    text.push('\n');
    let firsts = &results.first_renders_ms;
    if let (Some(p50), Some(p95)) = (percentile(firsts, 50.0), percentile(firsts, 95.0)) {
        let _ = writeln!(
            text,
            "First renders of {} new accounts while others are busy: p50 {p50:.0} ms, p95 {p95:.0} ms",
            firsts.len()
        );
    }
    if let Some(budget) = results.pages_budget {
        let _ = writeln!(text, "Pages may hold {:.0} MB in all", budget as f64 / MEGABYTE);
    }
    for completion in &results.completions {
        let _ = writeln!(
            text,
            "PDF/A completion, {}: p50 {:.2} ms; examination of the finished document: {:.2} ms",
            completion.load, completion.p50_ms, completion.examination_p50_ms
        );
        let _ = writeln!(
            text,
            "Its CPU time: {:.2} ms; of it, rules beyond PDF/A-2b (2u, 2a, UA-1): {:.1} %",
            completion.cpu_ms,
            completion.share_beyond_basic() * 100.0
        );
    }
    for cost in &results.numbering {
        let _ = writeln!(
            text,
            "Header and footer over {}: {:.0} ms with, {:.0} ms without",
            cost.name, cost.numbered_ms, cost.plain_ms
        );
    }
    if let Some(cost) = &results.templates {
        let _ = writeln!(
            text,
            "One page: p50 {:.1} ms as HTML, {:.1} ms as a stored template that makes it",
            cost.html, cost.template
        );
        let _ = writeln!(
            text,
            "Templates: p50 {:.1} ms to create, {:.1} to get, {:.1} to change, {:.1} to delete",
            cost.create, cost.get, cost.change, cost.delete
        );
    }
    if let Some(cost) = &results.assets {
        let _ = writeln!(
            text,
            "Invoice: p50 {:.1} ms without logo and web fonts, {:.1} ms with them in its HTML, {:.1} ms as assets",
            cost.without, cost.embedded, cost.with_assets
        );
        let _ = writeln!(
            text,
            "Lists: p50 {:.1} ms for 1,000 assets, {:.1} ms for 500 templates",
            cost.list_assets, cost.list_templates
        );
    }
    if let Some(cost) = &results.crowd {
        let _ = writeln!(
            text,
            "One invoice: p50 {:.1} ms alone, {:.1} ms while another account has {CROWD} renders under way",
            cost.alone, cost.beside_crowd
        );
        let _ = writeln!(
            text,
            "Around the engine (authentication, credits, transfer): p50 {:.1} ms, {:.1} ms with 100 renders of one \
             account at once",
            cost.around_engine, cost.around_engine_crowded
        );
    }
    if let Some(queue) = &results.queue {
        let _ = writeln!(
            text,
            "Full queue of one account: {:.1} renders/s, {:.1} of a batch, {:.1} by four callers who wait; idle: begun \
             {:.1} ms after acceptance; service's memory afterwards {:.1} MB",
            queue.queued_per_second,
            queue.batched_per_second,
            queue.synchronous_per_second,
            queue.start_p50_ms,
            queue.service_memory as f64 / MEGABYTE
        );
    }
    if let Some(acceptance) = &results.acceptance {
        let _ = writeln!(
            text,
            "Accepted while nothing is rendered: {:.0} requests/s of one account, {:.0} of several; a claim from 100,000 \
             jobs of 500 accounts: p95 {:.1} ms",
            acceptance.of_one_per_second, acceptance.per_second, acceptance.claim_p95_ms
        );
    }
    if !results.soak.is_empty() {
        text.push_str("Service's memory in the soak");
        add_points(text, &results.soak);
    }
}

fn add_points(text: &mut String, points: &[SoakPoint]) {
    text.push_str(", MB after renders:");
    for point in points {
        let _ = write!(
            text,
            " {:.1} ({})",
            point.service_memory as f64 / MEGABYTE,
            point.renders
        );
    }
    text.push('\n');
}

fn add_attacks(text: &mut String, attacks: &[AttackResult]) {
    if attacks.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n{:<50} {:>6} {:>7} {:>8} {:>8} {:>8} {:>8} {:>5} {:>5}  outcomes",
        "hostile", "plan", "s", "rise MB", "left MB", "p95 ms", "× quiet", "lost", "died",
    );
    for attack in attacks {
        let outcomes: Vec<_> = attack
            .outcomes
            .iter()
            .map(|(outcome, count)| format!("{count} × {outcome}"))
            .collect();
        let _ = writeln!(
            text,
            "{:<50} {:>6} {:>7.1} {:>8.1} {:>8.1} {:>8.1} {:>8.2} {:>5} {:>5}  {}",
            attack.attack,
            format!("{:?}", attack.subscription),
            attack.seconds,
            attack.memory_rise as f64 / MEGABYTE,
            attack.memory_left as f64 / MEGABYTE,
            attack.p95_ms,
            attack.slowdown(),
            attack.neighbour_lost,
            attack.browsers_died,
            outcomes.join(", "),
        );
    }
}

fn add_mixed_soak(text: &mut String, soak: &MixedSoak) {
    let _ = writeln!(
        text,
        "\n{} mixed renders in {:.0} s, {} of them hostile (slowest {:.1} s): {} lost, {} doubled, {} credits charged of \
         {} owed, p95 {:.0} ms",
        soak.renders,
        soak.seconds,
        soak.hostile,
        soak.slowest_hostile_ms / 1e3,
        soak.lost,
        soak.doubled,
        soak.charged,
        soak.owed,
        soak.p95_ms,
    );
    text.push_str("Service's memory");
    add_points(text, &soak.points);
}

fn add_scale(text: &mut String, results: &[ScaleResult]) {
    if results.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n{:<50} {:>7} {:>11} {:>10} {:>7} {:>10} {:>10} {:>5} {:>7} {:>7}",
        "without browsers: CPU and log of each render",
        "/s",
        "Postgres ms",
        "service ms",
        "WAL KB",
        "accept p95",
        "start p95",
        "lost",
        "doubled",
        "charged",
    );
    for result in results {
        let _ = writeln!(
            text,
            "{:<50} {:>7.0} {:>11.2} {:>10.2} {:>7.1} {:>10.1} {:>10.1} {:>5} {:>7} {:>+7}",
            result.scenario.to_string(),
            result.renders_per_second,
            result.postgres_ms,
            result.service_ms,
            result.wal_bytes / 1e3,
            result.acceptance_p95_ms,
            result.start_p95_ms,
            result.lost,
            result.doubled,
            result.overcharged,
        );
    }
    for result in results {
        let _ = writeln!(
            text,
            "\n{}: {:.1} active sessions of Postgres",
            result.scenario, result.database.active_sessions
        );
        for (name, share) in result.database.waits.iter().chain(&result.database.statements) {
            let _ = writeln!(text, "{:>6.1} % {name}", share * 100.0);
        }
    }
}

fn add_batch(text: &mut String, batch: &BatchDelivery) {
    let _ = writeln!(
        text,
        "\nBatch of {} invoices delivered to MinIO ({} objects): {:.1} rows/s, × {:.2} of four callers who wait ({:.1} \
         renders/s, {:.1} to {:.1} in turns with it)",
        batch.rows,
        batch.objects,
        batch.batched_per_second,
        batch.ratio(),
        batch.callers_per_second,
        batch.callers_slowest,
        batch.callers_fastest,
    );
    let _ = writeln!(
        text,
        "One invoice: p95 {:.1} ms alone; beside a batch of another account {:.1} ms, × {:.2}, and of the same account {:.1} \
         ms, × {:.2}",
        batch.single_p95_alone_ms,
        batch.single_p95_beside_ms,
        batch.slowdown(),
        batch.own_p95_beside_ms,
        batch.own_slowdown(),
    );
}

fn add_history(text: &mut String, history: &HistoryCost) {
    let _ = writeln!(
        text,
        "\n{:<34} {:>10} {:>8} {:>10} {:>8} {:>10} {:>8}",
        format!("with {} renders, p50 and p95 ms", history.renders),
        "half of all",
        "",
        "a hundred",
        "",
        "none",
        "",
    );
    for read in &history.reads {
        let _ = write!(text, "{:<34}", read.name);
        for took in [read.big, read.small, read.empty] {
            let _ = write!(text, " {:>10.1} {:>8.1}", took.p50_ms, took.p95_ms);
        }
        text.push('\n');
    }
    for render in &history.accepted {
        let _ = writeln!(
            text,
            "{}: p50 {:.1} ms before, {:.1} ms after these renders, p95 {:.1} and {:.1} ms",
            render.name, render.before.p50_ms, render.after.p50_ms, render.before.p95_ms, render.after.p95_ms
        );
    }
    let _ = writeln!(text, "Database: {:.1} GB", history.database_bytes as f64 / 1e9);
}

fn add_goals(text: &mut String, goals: &[Goal]) {
    text.push_str("\nGoals\n");
    for goal in goals {
        let (sign, bound) = match goal.wanted {
            Bound::AtMost(bound) => ('≤', bound),
            Bound::AtLeast(bound) => ('≥', bound),
        };
        let (met, reached) = match (goal.met, goal.reached) {
            (Some(true), Some(reached)) => ("yes", format!("{reached:.2} {}", goal.unit)),
            (Some(false), Some(reached)) => ("NO ", format!("{reached:.2} {}", goal.unit)),
            _ => ("–  ", "not measured".to_owned()),
        };
        let _ = writeln!(text, "{met}  {} {sign} {bound} {}: {reached}", goal.name, goal.unit);
    }
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"))
}

fn processor() -> String {
    let description = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    description
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or_else(|| "unknown processor".to_owned(), |(_, name)| name.to_owned())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_owned()
}
