//! Recent renders of an account.

use platen_domain::{
    ids::RenderId,
    render::{
        history::RenderState,
        statistics::{RenderFigures, RenderGlance, RenderStep},
        thumbnail::ListedThumbnail,
    },
    role::Role,
};
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

    /// Returns the span with which it is compared.
    pub fn before(self) -> &'static str {
        match self {
            Self::Day => "the 24 hours before",
            Self::Week => "the 7 days before",
            Self::Period => "the period before, by this day",
        }
    }
}

/// Renders of an account, or of one of its keys, in a span of time.
#[derive(Clone, PartialEq)]
pub struct RenderActivity {
    pub span: Span,
    /// Time of the reading.
    pub now: OffsetDateTime,
    pub figures: RenderFigures,
    /// Number of ended renders in the same part of the span before; `None` if some of them may be deleted.
    pub before: Option<i64>,
    /// Every hour or day of the span, the oldest first, including those without renders.
    pub steps: Vec<RenderStep>,
}

/// Figures of the overview.
#[derive(Clone, PartialEq)]
pub struct Activity {
    pub renders: RenderActivity,
    /// The latest renders, the oldest first.
    pub latest: Vec<RenderGlance>,
    /// Credits of the period.
    pub credits: CreditPeriod,
    /// The first steps, until they are done or dismissed.
    pub checklist: Option<Checklist>,
}

/// The first steps in an account, and which of them are done.
#[derive(Clone, PartialEq)]
pub struct Checklist {
    /// Name of the user; may be empty.
    pub person: String,
    /// Role of the user.
    pub role: Role,
    /// Whether the account has a key in use.
    pub has_key: bool,
    /// The secret of a key that was just created. It is included only once.
    pub new_key: Option<String>,
    /// The latest render that succeeded, or else the latest.
    pub render: Option<FirstRender>,
    /// Whether the account has a template or a second member.
    pub went_on: bool,
}

impl Checklist {
    /// Number of steps.
    pub const STEPS: usize = 4;

    /// Returns the number of steps that are done.
    pub fn done(&self) -> usize {
        let steps = [self.has_key, self.render.is_some(), self.has_document(), self.went_on];
        steps.into_iter().filter(|done| *done).count()
    }

    /// Returns whether a render has succeeded.
    pub fn has_document(&self) -> bool {
        let render = self.render.as_ref();
        render.is_some_and(|render| render.state == RenderState::Succeeded)
    }
}

/// A render, as the checklist shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstRender {
    pub id: RenderId,
    pub state: RenderState,
    /// Thumbnail of its first page.
    pub picture: Option<ListedThumbnail>,
}
