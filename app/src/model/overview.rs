//! Recent renders of an account.

use platen_domain::render::statistics::{RenderFigures, RenderGlance, RenderStep};
use strum::{EnumString, IntoStaticStr, VariantArray};
use time::OffsetDateTime;

use crate::model::account_summary::CreditPeriod;

/// Range of time of the figures. The names are used in query parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str)]
pub enum Span {
    /// The last 24 hours.
    #[strum(serialize = "24-hours")]
    Day,
    /// The last seven days.
    #[strum(serialize = "7-days")]
    Week,
    /// The credit period.
    #[default]
    #[strum(serialize = "this-period")]
    Period,
}

impl Span {
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "24 hours",
            Self::Week => "7 days",
            Self::Period => "This period",
        }
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
