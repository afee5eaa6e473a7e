//! The goals of a run.

use serde::Serialize;

use crate::{
    history::HistoryCost,
    hostile::{AttackResult, mixed::MixedSoak},
    numbering::{Case, FIFTY_PARTS, TWO_PARTS},
    results::{Results, SoakPoint, Way},
    scale::{Arrival, ScaleResult},
    statistics::percentile,
    upgrade::UpgradeResult,
};

const MEGABYTE: f64 = 1e6;

/// A goal and the value reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Goal {
    pub(crate) name: &'static str,
    pub(crate) wanted: Bound,
    pub(crate) unit: &'static str,
    /// `None` if this run did not measure it.
    pub(crate) reached: Option<f64>,
    pub(crate) met: Option<bool>,
}

/// Whether a value must not exceed or not fall below the bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// Returns all goals in the order of the report.
pub(crate) fn judge(results: &Results) -> Vec<Goal> {
    let mut goals = speed(results);
    goals.extend(accounts(results));
    goals.extend(documents(results));
    goals.extend(queue(results));
    goals.extend(memory(results));
    goals.extend(hostile(results));
    goals.extend(mixed_soak(results));
    goals.extend(scale(results));
    goals.extend(rates(results));
    goals.extend(batch(results));
    goals.extend(chaos(results));
    goals.extend(history(results));
    goals.extend(upgrade(results));
    goals
}

fn scale(results: &Results) -> Vec<Goal> {
    let of_all = |of: fn(&ScaleResult) -> f64| results.scale.iter().map(of).reduce(f64::max);
    let batches = results
        .scale
        .iter()
        .filter(|result| result.scenario.arrival == Arrival::Batches && !result.scenario.is_limited);
    let slowest = batches.map(|result| result.renders_per_second).reduce(f64::min);
    vec![
        goal(
            "several processes without browsers: renders of batches from acceptance to callback, at least",
            Bound::AtLeast(400.0),
            "/s",
            slowest,
        ),
        goal(
            "the same: renders lost, doubled or overcharged",
            Bound::AtMost(0.0),
            "",
            of_all(|result| result.lost as f64 + result.doubled as f64 + result.overcharged.unsigned_abs() as f64),
        ),
    ]
}

fn rates(results: &Results) -> Vec<Goal> {
    let measured = results.rates.as_ref();
    vec![
        goal(
            "twelve processes: fewest requests allowed in any minute, of the limit",
            Bound::AtLeast(100.0),
            "%",
            measured.map(|rates| rates.fewest_percent),
        ),
        goal(
            "the same: most requests",
            Bound::AtMost(102.0),
            "%",
            measured.map(|rates| rates.most_percent),
        ),
        goal(
            "p50 of a request: increase if it is counted by a statement of its own",
            Bound::AtMost(0.3),
            "ms",
            measured.map(|rates| rates.counted_p50_ms - rates.in_advance_p50_ms),
        ),
    ]
}

fn speed(results: &Results) -> Vec<Goal> {
    let one_caller = results.find("invoice", Way::PdfA, 1);
    let ratio = |load, way, reference| results.best_ratio(load, way, reference);
    vec![
        goal(
            "invoice, pdf/a, one caller: p50 against the raw limit",
            Bound::AtMost(1.15),
            "×",
            one_caller.and_then(|cell| results.p50_ratio(cell)),
        ),
        goal(
            "invoice, pdf/a: best throughput against the raw limit",
            Bound::AtLeast(1.0),
            "×",
            ratio("invoice", Way::PdfA, Way::Raw),
        ),
        goal(
            "the same against raw without frames",
            Bound::AtLeast(0.75),
            "×",
            ratio("invoice", Way::PdfA, Way::RawStill),
        ),
        goal(
            "invoice with script, pdf/a: best throughput against raw with reset",
            Bound::AtLeast(1.0),
            "×",
            ratio("invoice+script", Way::PdfA, Way::RawReset),
        ),
        goal(
            "invoice, pdf/a: best throughput against fresh tabs",
            Bound::AtLeast(3.5),
            "×",
            ratio("invoice", Way::PdfA, Way::FreshTab),
        ),
        goal(
            "hello, pdf/a, one caller: p50 against Chromium's share of it",
            Bound::AtMost(1.4),
            "×",
            results.crowd.map(|cost| cost.hello_against_chromium),
        ),
        goal(
            "around the engine, one caller: p50",
            Bound::AtMost(1.5),
            "ms",
            results.crowd.map(|cost| cost.around_engine),
        ),
        goal(
            "a table of 100 pages: p50 as PDF/A against its plain print",
            Bound::AtMost(1.03),
            "×",
            results.one_caller_ratio("table", Way::PdfA, Way::Pdf),
        ),
        goal(
            "invoice with script, pdf/a: best throughput against fresh tabs",
            Bound::AtLeast(2.5),
            "×",
            ratio("invoice+script", Way::PdfA, Way::FreshTab),
        ),
    ]
}

fn accounts(results: &Results) -> Vec<Goal> {
    let ratio = |load, way, reference| results.best_ratio(load, way, reference);
    vec![
        goal(
            "20 accounts in turn: throughput against fresh tabs",
            Bound::AtLeast(2.0),
            "×",
            ratio("invoice", Way::ManyAccounts, Way::FreshTab),
        ),
        goal(
            "every tenth render another account's first: throughput against the raw limit",
            Bound::AtLeast(0.7),
            "×",
            ratio("invoice", Way::Newcomers, Way::Raw),
        ),
        goal(
            "first render of a new account while others are busy: p50",
            Bound::AtMost(60.0),
            "ms",
            percentile(&results.first_renders_ms, 50.0),
        ),
        goal(
            "one invoice beside 200 renders of another account: p50 against alone",
            Bound::AtMost(3.0),
            "×",
            results.crowd.map(|cost| cost.slowdown()),
        ),
    ]
}

fn documents(results: &Results) -> Vec<Goal> {
    vec![
        goal(
            "a small stored template: what it adds to its HTML",
            Bound::AtMost(1.0),
            "ms",
            results.templates.map(|cost| cost.added_ms()),
        ),
        goal(
            "an invoice with a logo and two fonts as assets: throughput against the same without them",
            Bound::AtLeast(0.9),
            "×",
            results.assets.map(|cost| cost.without / cost.with_assets),
        ),
        goal(
            "a list of 1,000 assets: p50",
            Bound::AtMost(20.0),
            "ms",
            results.assets.map(|cost| cost.list_assets),
        ),
        goal(
            "a list of 500 templates: p50",
            Bound::AtMost(20.0),
            "ms",
            results.assets.map(|cost| cost.list_templates),
        ),
        goal(
            "PDF/A completion of the invoice: p50",
            Bound::AtMost(2.5),
            "ms",
            completion(results, "invoice"),
        ),
        goal(
            "PDF/A completion of 100 pages: p50",
            Bound::AtMost(50.0),
            "ms",
            completion(results, "table"),
        ),
        goal(
            "header and footer over 2 parts of 2 pages: what they add",
            Bound::AtMost(20.0),
            "ms",
            numbering(results, &TWO_PARTS),
        ),
        goal(
            "header and footer over 50 parts of 1,000 pages: what they add",
            Bound::AtMost(1_000.0),
            "ms",
            numbering(results, &FIFTY_PARTS),
        ),
    ]
}

fn queue(results: &Results) -> Vec<Goal> {
    vec![
        goal(
            "a full queue of invoices: throughput against four callers who wait",
            Bound::AtLeast(0.97),
            "×",
            results.queue.map(|queue| queue.ratio()),
        ),
        goal(
            "a batch of invoices: throughput against four callers who wait",
            Bound::AtLeast(0.95),
            "×",
            results.queue.map(|queue| queue.batch_ratio()),
        ),
        goal(
            "a queued render on an idle service: p50 from acceptance to start",
            Bound::AtMost(10.0),
            "ms",
            results.queue.map(|queue| queue.start_p50_ms),
        ),
        goal(
            "requests accepted while nothing is rendered",
            Bound::AtLeast(500.0),
            "/s",
            results.acceptance.map(|acceptance| acceptance.per_second),
        ),
        goal(
            "a claim from 100,000 jobs of 500 accounts: p95",
            Bound::AtMost(10.0),
            "ms",
            results.acceptance.map(|acceptance| acceptance.claim_p95_ms),
        ),
    ]
}

fn memory(results: &Results) -> Vec<Goal> {
    vec![
        goal(
            "the service's own memory after the last render of the soak",
            Bound::AtMost(55.0),
            "MB",
            results.soak.last().map(|point| point.service_memory as f64 / MEGABYTE),
        ),
        goal(
            "its growth over the last seven tenths of the soak",
            Bound::AtMost(5.0),
            "MB",
            growth(&results.soak),
        ),
        goal(
            "all Chromium processes on invoices of one account, at most",
            Bound::AtMost(500.0),
            "MB",
            chromium_of_one_account(results),
        ),
        goal(
            "the same with 20 accounts, against what all pages may hold",
            Bound::AtMost(1.0),
            "×",
            chromium_of_20_accounts(results)
                .zip(results.pages_budget)
                .map(|(held, budget)| held as f64 / budget as f64),
        ),
        goal(
            "what 100-page documents leave in all Chromium processes",
            Bound::AtMost(100.0),
            "MB",
            results.left_by_large_documents.map(|bytes| bytes as f64 / MEGABYTE),
        ),
    ]
}

fn hostile(results: &Results) -> Vec<Goal> {
    let attacks = &results.hostile;
    let largest = |of: fn(&AttackResult) -> f64| attacks.iter().map(of).max_by(f64::total_cmp);
    vec![
        goal(
            "hostile requests: rise of the service's memory beyond twice the plan's body limit, at most",
            Bound::AtMost(67.1),
            "MB",
            largest(|attack| (attack.memory_rise as f64 - attack.body_allowance as f64) / MEGABYTE),
        ),
        goal(
            "what is left of it a minute later (10 s in a quick run), at most",
            Bound::AtMost(20.0),
            "MB",
            largest(|attack| attack.memory_left as f64 / MEGABYTE),
        ),
        goal(
            "hello of another account meanwhile: p95 against quiet, at most",
            Bound::AtMost(3.0),
            "×",
            largest(AttackResult::slowdown),
        ),
        goal(
            "its renders that were lost, over all attacks",
            Bound::AtMost(0.0),
            "",
            sum(attacks, |attack| attack.neighbour_lost),
        ),
        goal(
            "hostile requests with neither a document nor a clear refusal",
            Bound::AtMost(0.0),
            "",
            sum(attacks, AttackResult::unclear),
        ),
        goal(
            "browsers that died of them",
            Bound::AtMost(0.0),
            "",
            sum(attacks, |attack| attack.browsers_died as usize),
        ),
    ]
}

/// Returns `None` if there are no attacks.
fn sum(attacks: &[AttackResult], of: impl Fn(&AttackResult) -> usize) -> Option<f64> {
    (!attacks.is_empty()).then(|| attacks.iter().map(of).sum::<usize>() as f64)
}

fn mixed_soak(results: &Results) -> Vec<Goal> {
    let soak = results.mixed_soak.as_ref();
    let none = |name, of: fn(&MixedSoak) -> f64| goal(name, Bound::AtMost(0.0), "", soak.map(of));
    vec![
        none("mixed soak: renders lost", |soak| soak.lost as f64),
        none("mixed soak: documents doubled", |soak| soak.doubled as f64),
        none("mixed soak: credits charged beyond or below the documents", |soak| {
            (soak.charged - soak.owed).abs() as f64
        }),
        none(
            "mixed soak: hostile requests with neither a document nor a clear refusal",
            |soak| soak.unclear as f64,
        ),
        goal(
            "mixed soak: growth of the service's memory over its last seven tenths",
            Bound::AtMost(20.0),
            "MB",
            soak.and_then(|soak| growth(&soak.points)),
        ),
    ]
}

fn batch(results: &Results) -> Vec<Goal> {
    vec![
        goal(
            "a batch delivered to MinIO: throughput against four callers who wait",
            Bound::AtLeast(0.95),
            "×",
            results.batch.map(|batch| batch.ratio()),
        ),
        goal(
            "its rows without an object in the bucket",
            Bound::AtMost(0.0),
            "",
            results.batch.map(|batch| batch.missing() as f64),
        ),
        goal(
            "one invoice of another account beside a batch: p95 against alone",
            Bound::AtMost(2.0),
            "×",
            results.batch.map(|batch| batch.slowdown()),
        ),
        goal(
            "one invoice of the same account beside a batch: p95 against alone",
            Bound::AtMost(2.0),
            "×",
            results.batch.map(|batch| batch.own_slowdown()),
        ),
    ]
}

fn chaos(results: &Results) -> Vec<Goal> {
    let chaos = results.chaos.as_ref();
    vec![goal(
        "a batch under fault injection: rows lost, doubled or charged wrongly",
        Bound::AtMost(0.0),
        "",
        chaos.map(|chaos| chaos.deviations.sum() as f64),
    )]
}

fn history(results: &Results) -> Vec<Goal> {
    let history = results.history.as_ref();
    vec![
        goal(
            "lists, filters and pages with a long history: p95, at most",
            Bound::AtMost(30.0),
            "ms",
            history.map(HistoryCost::slowest_read_ms),
        ),
        goal(
            "a render accepted with a long history: p50 against none, at most",
            Bound::AtMost(1.2),
            "×",
            history.map(HistoryCost::largest_slowdown),
        ),
    ]
}

fn upgrade(results: &Results) -> Vec<Goal> {
    let upgrade = results.upgrade.as_ref();
    vec![
        goal(
            "a rolling upgrade: renders lost, doubled or charged wrongly, and failed requests",
            Bound::AtMost(0.0),
            "",
            upgrade.map(|upgrade| upgrade.failures() as f64),
        ),
        goal(
            "its slowest process: from SIGTERM to its exit, at most",
            Bound::AtMost(30.0),
            "s",
            upgrade.map(UpgradeResult::slowest_drain),
        ),
    ]
}

fn goal(name: &'static str, wanted: Bound, unit: &'static str, reached: Option<f64>) -> Goal {
    Goal {
        name,
        wanted,
        unit,
        reached,
        met: reached.map(|reached| match wanted {
            Bound::AtMost(bound) => reached <= bound,
            Bound::AtLeast(bound) => reached >= bound,
        }),
    }
}

fn completion(results: &Results, load: &str) -> Option<f64> {
    let completion = results.completions.iter().find(|completion| completion.load == load)?;
    Some(completion.p50_ms)
}

fn numbering(results: &Results, case: &Case) -> Option<f64> {
    let cost = results.numbering.iter().find(|cost| cost.name == case.name)?;
    Some(cost.added_ms())
}

/// Megabytes.
fn growth(points: &[SoakPoint]) -> Option<f64> {
    // The first three tenths are warm-up: pools and allocator have reached their size after that.
    let settled = points.get(points.len() * 3 / 10)?;
    let last = points.last()?;
    Some((last.service_memory as f64 - settled.service_memory as f64) / MEGABYTE)
}

/// Megabytes, in the first round: before sessions are retained for other accounts.
fn chromium_of_one_account(results: &Results) -> Option<f64> {
    let cells = [1, 2].map(|callers| results.find("invoice", Way::PdfA, callers));
    let first_rounds = cells.into_iter().flatten().filter_map(|cell| cell.rounds.first());
    let largest = first_rounds.map(|round| round.memory.chromium).max()?;
    Some(largest as f64 / MEGABYTE)
}

/// Bytes.
fn chromium_of_20_accounts(results: &Results) -> Option<u64> {
    let cells = results.cells.iter().filter(|cell| cell.way == Way::ManyAccounts);
    cells.map(|cell| cell.largest(|round| round.memory.chromium)).max()
}

#[cfg(test)]
mod tests {
    use super::{Bound, goal, judge};
    use crate::{
        batch::BatchDelivery,
        results::{Results, SoakPoint},
    };

    #[test]
    fn bounds_include_their_value() {
        assert_eq!(goal("", Bound::AtMost(1.2), "×", Some(1.2)).met, Some(true));
        assert_eq!(goal("", Bound::AtMost(1.2), "×", Some(1.21)).met, Some(false));
        assert_eq!(goal("", Bound::AtLeast(0.9), "×", Some(0.89)).met, Some(false));
        assert_eq!(goal("", Bound::AtLeast(0.9), "×", None).met, None);
    }

    #[test]
    fn memory_that_grows_throughout_the_soak_is_seen() {
        let megabytes = [30, 40, 50, 50, 52, 54, 56, 58, 60, 62];
        let results = Results {
            soak: (1..)
                .zip(megabytes)
                .map(|(point, memory)| SoakPoint {
                    renders: point * 1_000,
                    service_memory: memory * 1_000_000,
                })
                .collect(),
            ..Results::default()
        };
        let missed: Vec<_> = judge(&results)
            .into_iter()
            .filter(|goal| goal.met == Some(false))
            .collect();
        assert_eq!(
            missed.iter().map(|goal| goal.reached).collect::<Vec<_>>(),
            [Some(62.0), Some(12.0)]
        );
    }

    #[test]
    fn a_batch_is_compared_with_callers_who_wait() {
        let results = Results {
            batch: Some(BatchDelivery {
                rows: 500,
                objects: 499,
                batched_per_second: 57.0,
                callers_per_second: 60.0,
                callers_slowest: 50.0,
                callers_fastest: 70.0,
                single_p95_alone_ms: 20.0,
                single_p95_beside_ms: 50.0,
                own_p95_beside_ms: 30.0,
            }),
            ..Results::default()
        };
        let judged: Vec<_> = judge(&results)
            .into_iter()
            .filter_map(|goal| goal.reached.zip(goal.met))
            .collect();
        assert_eq!(judged, [(0.95, true), (1.0, false), (2.5, false), (1.5, true)]);
    }
}
