//! What an account was doing.

use time::OffsetDateTime;

use crate::model::standing::CreditPeriod;

/// Of which time the figures are.
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
    /// All of them, the shortest first.
    pub const ALL: [Self; 3] = [Self::Day, Self::Week, Self::Period];

    /// The word for it in the address of the page.
    pub fn word(self) -> &'static str {
        match self {
            Self::Day => "24-hours",
            Self::Week => "7-days",
            Self::Period => "this-period",
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "24 hours",
            Self::Week => "7 days",
            Self::Period => "This period",
        }
    }

    /// The one with this word, else [`Span::Period`].
    pub fn from_word(word: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|span| span.word() == word)
            .unwrap_or_default()
    }
}

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Activity {
    /// Of which time.
    pub span: Span,
    /// The moment of the answer.
    pub now: OffsetDateTime,
    /// Renders with a document.
    pub succeeded: i64,
    /// Renders without.
    pub failed: i64,
    /// Milliseconds in which half of the documents were there.
    pub median_ms: Option<f64>,
    /// The same for 95 in a hundred.
    pub percentile_95_ms: Option<f64>,
    /// Every hour or day of the span, those without renders too, the oldest first.
    pub steps: Vec<Step>,
    /// The last renders, the oldest first.
    pub latest: Vec<Glance>,
    /// What is spent.
    pub credits: CreditPeriod,
    /// Whether nothing has ever been rendered.
    pub first_run: bool,
}

/// An hour or a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Its beginning, in UTC.
    pub from: OffsetDateTime,
    /// Renders with a document.
    pub succeeded: i64,
    /// Renders without.
    pub failed: i64,
}

/// One render, from afar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Glance {
    /// It waits, or is being rendered.
    Unfinished,
    /// There is a document.
    Succeeded {
        /// How long it took.
        milliseconds: f64,
    },
    /// There is none.
    Failed,
}
