//! What a run has measured, and what follows from it.

use serde::Serialize;

use crate::{
    crowd::CrowdCost,
    hostile::{AttackResult, mixed::MixedSoak},
    measure::Round,
    numbering::NumberingCost,
    queue::{Acceptance, QueueThroughput},
    statistics::{median, median_ratio},
    templates::TemplateCost,
};

/// A way to get a PDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Way {
    /// A warm page, used again and again: the raw limit.
    Raw,
    /// The same without frames for a screen.
    RawStill,
    /// The first with a reset to `about:blank` after each render.
    RawReset,
    /// A fresh tab for every render.
    FreshTab,
    /// Platen by HTTP, `pdf`.
    Pdf,
    /// Platen by HTTP, `pdf/a`.
    PdfA,
    /// Platen, `pdf/a`, 20 accounts in turn.
    ManyAccounts,
    /// Platen, `pdf/a`, every tenth render another account's first.
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
    /// Bytes of the service's own process.
    pub(crate) service_memory: u64,
}

/// PDF/A completion alone.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Completion {
    pub(crate) load: &'static str,
    pub(crate) p50_ms: f64,
}

/// Everything that was measured.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) cells: Vec<Cell>,
    /// First renders of new accounts while others are busy.
    pub(crate) first_renders_ms: Vec<f64>,
    pub(crate) soak: Vec<SoakPoint>,
    pub(crate) completions: Vec<Completion>,
    pub(crate) numbering: Vec<NumberingCost>,
    pub(crate) templates: Option<TemplateCost>,
    pub(crate) crowd: Option<CrowdCost>,
    pub(crate) queue: Option<QueueThroughput>,
    pub(crate) acceptance: Option<Acceptance>,
    /// Bytes that the service grants all its pages.
    pub(crate) pages_budget: Option<u64>,
    /// Bytes that all Chromium processes hold after large documents and the small ones that followed, beyond those before.
    pub(crate) left_by_large_documents: Option<u64>,
    pub(crate) hostile: Vec<AttackResult>,
    pub(crate) mixed_soak: Option<MixedSoak>,
}

impl Way {
    /// For people.
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
    /// The median over the rounds.
    pub(crate) fn median(&self, of: impl Fn(&Round) -> f64) -> f64 {
        median(&self.values(of)).unwrap_or_default()
    }

    /// The largest over the rounds.
    pub(crate) fn largest(&self, of: impl Fn(&Round) -> u64) -> u64 {
        self.rounds.iter().map(of).max().unwrap_or_default()
    }

    fn values(&self, of: impl Fn(&Round) -> f64) -> Vec<f64> {
        self.rounds.iter().map(of).collect()
    }
}

impl Results {
    /// Adds a round. Rounds with the same number must have been measured side by side.
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

    /// The rounds of one combination.
    pub(crate) fn find(&self, load: &str, way: Way, concurrency: usize) -> Option<&Cell> {
        self.position(load, way, concurrency).map(|index| &self.cells[index])
    }

    /// p50 against the raw limit's with as many callers.
    pub(crate) fn p50_ratio(&self, cell: &Cell) -> Option<f64> {
        let raw = self.find(cell.load, Way::Raw, cell.concurrency)?;
        median_ratio(&cell.values(|round| round.p50_ms), &raw.values(|round| round.p50_ms))
    }

    /// p50 of one way against another's, of one caller.
    pub(crate) fn one_caller_ratio(&self, load: &str, way: Way, reference: Way) -> Option<f64> {
        let [way, reference] = [way, reference].map(|way| self.find(load, way, 1));
        median_ratio(
            &way?.values(|round| round.p50_ms),
            &reference?.values(|round| round.p50_ms),
        )
    }

    /// Throughput against the raw limit's best.
    pub(crate) fn throughput_ratio(&self, cell: &Cell) -> Option<f64> {
        let raw = self.best_by_round(cell.load, Way::Raw);
        median_ratio(&cell.values(|round| round.renders_per_second), &raw)
    }

    /// Best throughput of one way against the best of another.
    pub(crate) fn best_ratio(&self, load: &str, way: Way, reference: Way) -> Option<f64> {
        median_ratio(&self.best_by_round(load, way), &self.best_by_round(load, reference))
    }

    fn position(&self, load: &str, way: Way, concurrency: usize) -> Option<usize> {
        self.cells
            .iter()
            .position(|cell| cell.load == load && cell.way == way && cell.concurrency == concurrency)
    }

    /// Round by round, the throughput of the number of callers that did best.
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
