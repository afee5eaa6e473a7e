//! Figures of an account's renders.

use time::OffsetDateTime;

use crate::ids::RenderId;

/// Maximum number of succeeded renders whose durations are measured: the latest.
pub const TIMED: i64 = 5_000;

/// Figures of the renders that were accepted in a range of time, including test renders.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RenderFigures {
    pub succeeded: i64,
    pub failed: i64,
    /// Median time from acceptance to the end of the latest [`TIMED`] succeeded renders, in milliseconds.
    pub median_ms: Option<f64>,
    /// 95th percentile of the same time.
    pub percentile_95_ms: Option<f64>,
}

/// Renders that were accepted within one hour or day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderStep {
    /// Start of the interval.
    pub from: OffsetDateTime,
    pub succeeded: i64,
    pub failed: i64,
}

/// Status and duration of a render.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderGlance {
    pub id: RenderId,
    /// See [`crate::render::history::RenderState`].
    pub state: String,
    /// From acceptance to the end, in milliseconds.
    pub milliseconds: Option<f64>,
}
