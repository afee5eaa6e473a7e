//! Documents that don't reach the levels of conformance that their requests demand.

use std::fmt;

use crate::{
    render::accessibility::{AccessibilityReport, ConformanceLevel, Finding, MOST_FINDINGS},
    sentence::sentence,
    validation::Problem,
};

/// Why a document is not delivered: it doesn't reach demanded levels. Displayed without content of the document, so
/// that the message can be stored and logged.
#[derive(Debug, Clone, PartialEq)]
pub struct ConformanceNotReached {
    /// The demanded levels that the document doesn't reach; at least one.
    pub missing: Vec<ConformanceLevel>,
    /// All findings, including those that prevent only other levels.
    pub report: AccessibilityReport,
}

impl ConformanceNotReached {
    /// JSON pointer to the member of a request that demands levels.
    pub const POINTER: &str = "/conformance";

    /// Returns the findings that prevent the missing levels, as validation errors at the demand. Their details begin
    /// with the part and the page, if these are known. If no finding is known, returns one error. A note follows if
    /// there may be more. At most 200, with the note.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<_> = self.preventing().map(Finding::explanation).map(unreached).collect();
        if problems.is_empty() {
            problems.push(unreached(sentence(&self.to_string())));
        }
        if self.report.has_more_violations() {
            problems.truncate(MOST_FINDINGS - 1);
            let note = Problem::more_than(problems.len());
            problems.push(Problem {
                pointer: Self::POINTER.into(),
                ..note
            });
        }
        problems
    }

    fn preventing(&self) -> impl Iterator<Item = &Finding> {
        let prevents = |finding: &&Finding| self.missing.iter().any(|level| finding.prevents(*level));
        self.report.findings.iter().filter(prevents)
    }
}

impl fmt::Display for ConformanceNotReached {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing: Vec<_> = self.missing.iter().map(ConformanceLevel::into_str).collect();
        write!(formatter, "the document doesn't reach {}", missing.join(" and "))?;
        let count = self.preventing().count();
        let Some(first) = self.preventing().next() else {
            return Ok(());
        };
        let more = if self.report.has_more_violations() {
            "at least "
        } else {
            ""
        };
        let (violations, first_one) = match count {
            1 => ("violation", ""),
            _ => ("violations", "the first "),
        };
        write!(
            formatter,
            ": {more}{count} {violations}, {first_one}of {}",
            first.rule()
        )?;
        match first.place() {
            Some(place) => write!(formatter, " ({place})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConformanceNotReached {}

fn unreached(detail: String) -> Problem {
    Problem {
        pointer: ConformanceNotReached::POINTER.into(),
        title: "Conformance not reached".into(),
        detail,
    }
}
