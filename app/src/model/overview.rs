//! Recent renders of an account.

use platen_domain::render::statistics::{RenderFigures, RenderGlance, RenderStep};
use time::OffsetDateTime;

use crate::model::account_summary::CreditPeriod;

/// Range of time of the figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Span {
    /// The last 24 hours.
    Day,
    /// The last seven days.
    Week,
    /// The credit period.
    #[default]
    Period,
}

impl Span {
    /// From the shortest to the longest.
    pub const ALL: [Self; 3] = [Self::Day, Self::Week, Self::Period];

    /// Returns the query parameter's value.
    pub fn word(self) -> &'static str {
        match self {
            Self::Day => "24-hours",
            Self::Week => "7-days",
            Self::Period => "this-period",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "24 hours",
            Self::Week => "7 days",
            Self::Period => "This period",
        }
    }

    /// Parses [`Self::word`]. Unknown values mean [`Span::Period`].
    pub fn from_word(word: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|span| span.word() == word)
            .unwrap_or_default()
    }
}

/// Figures of the overview.
#[derive(Debug, Clone, PartialEq)]
pub struct Activity {
    pub span: Span,
    /// Time of the reading.
    pub now: OffsetDateTime,
    pub figures: RenderFigures,
    /// Every hour or day of the span, the oldest first, including those without renders.
    pub steps: Vec<RenderStep>,
    /// The latest renders, the oldest first.
    pub latest: Vec<RenderGlance>,
    /// Credits of the period.
    pub credits: CreditPeriod,
    /// Whether the account has never rendered anything.
    pub first_run: bool,
}
