//! The measurements of a run, and the ratios derived from them.

use serde::Serialize;

use crate::{
    assets::AssetCost,
    batch::BatchDelivery,
    chaos::ChaosResult,
    crowd::CrowdCost,
    history::HistoryCost,
    hostile::{AttackResult, mixed::MixedSoak},
    measure::Round,
    numbering::NumberingCost,
    queue::{Acceptance, QueueThroughput},
    rates::RatesResult,
    scale::ScaleResult,
    statistics::{median, median_ratio},
    templates::TemplateCost,
    upgrade::UpgradeResult,
};

/// A way to produce a PDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Way {
    /// A warm page, reused: the raw limit.
    Raw,
    /// The same without frames for a screen.
    RawStill,
    /// The raw limit with a reset to `about:blank` after each render.
    RawReset,
    /// A new tab for each render.
    FreshTab,
    /// Platen by HTTP, `pdf`.
    Pdf,
    /// Platen by HTTP, `pdf/a`.
    PdfA,
    /// Platen, `pdf/a`, rotating through 20 accounts.
    ManyAccounts,
    /// Platen, `pdf/a`, every tenth render the first of a new account.
    Newcomers,
}

/// The rounds of one combination.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) load: &'static str,
    pub(crate) way: Way,
    pub(crate) concurrency: usize,
    pub(crate) rounds: Vec<Round>,
}

/// Memory after a number of renders.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct SoakPoint {
    pub(crate) renders: usize,
    /// Memory of the service's own process, in bytes.
    pub(crate) service_memory: u64,
}

/// PDF/A completion alone. Medians of its duration and CPU time, in milliseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Completion {
    pub(crate) load: &'static str,
    pub(crate) p50_ms: f64,
    /// Examination of the finished document, which completion includes.
    pub(crate) examination_p50_ms: f64,
    pub(crate) cpu_ms: f64,
    pub(crate) examination_cpu_ms: f64,
    /// The check of the finished document against PDF/A-2b alone, which examination includes.
    pub(crate) basic_check_cpu_ms: f64,
}

impl Completion {
    /// Returns the share of the rules beyond PDF/A-2b in the CPU time of completion. Checks run on two threads, so durations
    /// don't show it.
    pub(crate) fn share_beyond_basic(&self) -> f64 {
        (self.examination_cpu_ms - self.basic_check_cpu_ms) / self.cpu_ms
    }
}

/// All measurements of a run.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) cells: Vec<Cell>,
    /// Latencies of the first renders of new accounts on a busy service.
    pub(crate) first_renders_ms: Vec<f64>,
    pub(crate) soak: Vec<SoakPoint>,
    pub(crate) completions: Vec<Completion>,
    pub(crate) numbering: Vec<NumberingCost>,
    pub(crate) templates: Option<TemplateCost>,
    pub(crate) assets: Option<AssetCost>,
    pub(crate) crowd: Option<CrowdCost>,
    pub(crate) queue: Option<QueueThroughput>,
    pub(crate) acceptance: Option<Acceptance>,
    /// The service's memory budget for all pages, in bytes.
    pub(crate) pages_budget: Option<u64>,
    /// Increase of the memory of all Chromium processes after large documents and the small ones that followed, in
    /// bytes.
    pub(crate) left_by_large_documents: Option<u64>,
    pub(crate) hostile: Vec<AttackResult>,
    pub(crate) mixed_soak: Option<MixedSoak>,
    pub(crate) scale: Vec<ScaleResult>,
    pub(crate) rates: Option<RatesResult>,
    pub(crate) batch: Option<BatchDelivery>,
    pub(crate) chaos: Option<ChaosResult>,
    pub(crate) history: Option<HistoryCost>,
    pub(crate) upgrade: Option<UpgradeResult>,
}

impl Way {
    /// Returns the name shown in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw limit",
            Self::RawStill => "raw, no frames",
            Self::RawReset => "raw, with reset",
            Self::FreshTab => "fresh tab",
            Self::Pdf => "Platen, pdf",
            Self::PdfA => "Platen, pdf/a",
            Self::ManyAccounts => "Platen, 20 accounts",
            Self::Newcomers => "Platen, newcomers",
        }
    }
}

impl Cell {
    /// Returns the median over the rounds.
    pub(crate) fn median(&self, of: impl Fn(&Round) -> f64) -> f64 {
        median(&self.values(of)).unwrap_or_default()
    }

    /// Returns the maximum over the rounds.
    pub(crate) fn largest(&self, of: impl Fn(&Round) -> u64) -> u64 {
        self.rounds.iter().map(of).max().unwrap_or_default()
    }

    fn values(&self, of: impl Fn(&Round) -> f64) -> Vec<f64> {
        self.rounds.iter().map(of).collect()
    }
}

impl Results {
    /// Adds a round. Rounds with the same index must have been measured side by side.
    pub(crate) fn record(&mut self, load: &'static str, way: Way, concurrency: usize, round: Round) {
        match self.position(load, way, concurrency) {
            Some(index) => self.cells[index].rounds.push(round),
            None => self.cells.push(Cell {
                load,
                way,
                concurrency,
                rounds: vec![round],
            }),
        }
    }

    /// Returns the rounds of one combination.
    pub(crate) fn find(&self, load: &str, way: Way, concurrency: usize) -> Option<&Cell> {
        self.position(load, way, concurrency).map(|index| &self.cells[index])
    }

    /// Returns the p50 relative to that of the raw limit with the same number of callers.
    pub(crate) fn p50_ratio(&self, cell: &Cell) -> Option<f64> {
        let raw = self.find(cell.load, Way::Raw, cell.concurrency)?;
        median_ratio(&cell.values(|round| round.p50_ms), &raw.values(|round| round.p50_ms))
    }

    /// Returns the p50 of one way relative to another's, with one caller each.
    pub(crate) fn one_caller_ratio(&self, load: &str, way: Way, reference: Way) -> Option<f64> {
        let [way, reference] = [way, reference].map(|way| self.find(load, way, 1));
        median_ratio(
            &way?.values(|round| round.p50_ms),
            &reference?.values(|round| round.p50_ms),
        )
    }

    /// Returns the throughput relative to the raw limit's best.
    pub(crate) fn throughput_ratio(&self, cell: &Cell) -> Option<f64> {
        let raw = self.best_by_round(cell.load, Way::Raw);
        median_ratio(&cell.values(|round| round.renders_per_second), &raw)
    }

    /// Returns the best throughput of one way relative to the best of another.
    pub(crate) fn best_ratio(&self, load: &str, way: Way, reference: Way) -> Option<f64> {
        median_ratio(&self.best_by_round(load, way), &self.best_by_round(load, reference))
    }

    fn position(&self, load: &str, way: Way, concurrency: usize) -> Option<usize> {
        self.cells
            .iter()
            .position(|cell| cell.load == load && cell.way == way && cell.concurrency == concurrency)
    }

    /// Returns, for each round, the best throughput over all numbers of callers.
    fn best_by_round(&self, load: &str, way: Way) -> Vec<f64> {
        let mut best = Vec::new();
        for cell in self.cells.iter().filter(|cell| cell.load == load && cell.way == way) {
            for (index, value) in cell.values(|round| round.renders_per_second).into_iter().enumerate() {
                match best.get_mut(index) {
                    Some(best) => *best = value.max(*best),
                    None => best.push(value),
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::{Results, Way};
    use crate::measure::Round;

    fn round(p50_ms: f64, renders_per_second: f64) -> Round {
        Round {
            p50_ms,
            renders_per_second,
            ..Round::default()
        }
    }

    fn two_rounds() -> Results {
        let mut results = Results::default();
        // The second round runs on a machine that is half as fast.
        for slowness in [1.0, 2.0] {
            results.record("invoice", Way::Raw, 1, round(20.0 * slowness, 50.0 / slowness));
            results.record("invoice", Way::Raw, 2, round(30.0 * slowness, 60.0 / slowness));
            results.record("invoice", Way::PdfA, 1, round(22.0 * slowness, 45.0 / slowness));
            results.record("invoice", Way::PdfA, 8, round(160.0 * slowness, 54.0 / slowness));
        }
        results
    }

    #[test]
    fn ratios_compare_within_a_round() {
        let results = two_rounds();
        let one_caller = results.find("invoice", Way::PdfA, 1).expect("a cell");
        assert_eq!(results.p50_ratio(one_caller), Some(1.1));
        assert_eq!(results.throughput_ratio(one_caller), Some(0.75));
        assert_eq!(results.best_ratio("invoice", Way::PdfA, Way::Raw), Some(0.9));
    }

    #[test]
    fn what_was_not_measured_has_no_ratio() {
        let results = two_rounds();
        let eight_callers = results.find("invoice", Way::PdfA, 8).expect("a cell");
        assert_eq!(results.p50_ratio(eight_callers), None);
        assert_eq!(results.best_ratio("invoice", Way::PdfA, Way::FreshTab), None);
        assert_eq!(results.best_ratio("table", Way::PdfA, Way::Raw), None);
    }
}
