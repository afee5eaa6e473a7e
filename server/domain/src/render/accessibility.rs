//! Accessibility reports of documents: the levels of conformance that a document declares, and the violations that prevent
//! others. They cover only rules that machines can check, so a report says that a document passes all machine checks,
//! never that it is accessible.

pub mod missing;
mod remedies;
pub mod unmet;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{render::accessibility::unmet::ConformanceNotReached, sentence::sentence};

/// Maximum number of findings of a report.
pub const MOST_FINDINGS: usize = 200;
/// Maximum size of the findings of a report as JSON, in bytes.
const LONGEST_FINDINGS: usize = 64 << 10;
/// Maximum number of characters of each text of a finding.
const LONGEST_TEXT: usize = 100;
/// Success criterion of low contrast.
const CONTRAST: &str = "1.4.3";
/// Maximum number of texts with low contrast in a report.
pub const MOST_LOW_CONTRAST: usize = 20;
/// Maximum number of characters of a selector, which is left out if it is longer.
const LONGEST_SELECTOR: usize = 200;

/// A level of conformance, by the name that documents declare. Requests use the same names in lower case.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(const_into_str)]
pub enum ConformanceLevel {
    /// The visual appearance is preserved (ISO 19005-2, 5.3).
    #[strum(serialize = "PDF/A-2b")]
    #[serde(rename = "PDF/A-2b", alias = "pdf/a-2b")]
    PdfA2b,
    /// Also, all text maps to Unicode (ISO 19005-2, 5.4).
    #[strum(serialize = "PDF/A-2u")]
    #[serde(rename = "PDF/A-2u", alias = "pdf/a-2u")]
    PdfA2u,
    /// Also, the document is tagged (ISO 19005-2, 5.2).
    #[strum(serialize = "PDF/A-2a")]
    #[serde(rename = "PDF/A-2a", alias = "pdf/a-2a")]
    PdfA2a,
    /// Universal accessibility (ISO 14289-1).
    #[strum(serialize = "PDF/UA-1")]
    #[serde(rename = "PDF/UA-1", alias = "pdf/ua-1")]
    PdfUa1,
}

impl ConformanceLevel {
    /// Parses the list that a render's record stores: `PDF/A-2a, PDF/UA-1`. Unknown names are ignored.
    pub fn parse_list(list: &str) -> Vec<Self> {
        list.split(", ").filter_map(|name| name.parse().ok()).collect()
    }

    /// Returns whether a document that declares these levels reaches this one. Levels of PDF/A include the lower ones.
    pub fn is_reached_by(self, declared: &[Self]) -> bool {
        let of_ua = self == Self::PdfUa1;
        declared
            .iter()
            .any(|level| (*level == Self::PdfUa1) == of_ua && *level >= self)
    }
}

/// Returns whether a document that declares these levels reaches the highest ones, PDF/A-2a and PDF/UA-1.
pub fn passes_machine_checks(levels: &[ConformanceLevel]) -> bool {
    use ConformanceLevel::{PdfA2a, PdfUa1};
    PdfA2a.is_reached_by(levels) && PdfUa1.is_reached_by(levels)
}

/// A violation of a rule, or an icon without a text or a text with low contrast, at one place of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The violated clauses; that of PDF/UA-1 is last. None for what no level of conformance forbids.
    pub clauses: Vec<Clause>,
    /// Success criterion of WCAG 2.2, if there are no clauses: `1.1.1`. Reports of earlier releases have none; they list only
    /// low contrast without clauses.
    #[serde(default)]
    pub criterion: Option<String>,
    /// Failure condition of the Matterhorn Protocol: `13-004`.
    pub matterhorn: Option<String>,
    /// What is wrong, as a sentence without the place.
    pub message: String,
    /// Index of the part, from 0.
    pub part: Option<usize>,
    /// Page of the document, from 1.
    pub page: Option<usize>,
    /// Structure type of the element: `Figure`.
    pub element: Option<String>,
    /// CSS selector of the HTML element that the element was printed from, if it is certain. Reports of earlier releases
    /// have none.
    #[serde(default)]
    pub selector: Option<String>,
    /// Beginning of the element's text.
    pub text: Option<String>,
    /// Left, bottom, right and top of the place, in points of the page's user space.
    pub rectangle: Option<[f64; 4]>,
    /// Width and height of the page, in points; unknown in reports of earlier releases.
    pub page_size: Option<(f64, f64)>,
}

/// A violated clause of a standard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clause {
    /// The lowest level that requires it.
    pub level: ConformanceLevel,
    /// Clause, with the number of the test in veraPDF's profile if it has one: `7.3-1`.
    pub number: String,
}

impl Finding {
    /// Returns whether a document with this violation can't declare a level.
    pub fn prevents(&self, level: ConformanceLevel) -> bool {
        self.clauses.iter().any(|clause| clause.level.is_reached_by(&[level]))
    }

    /// Returns whether it prevents any level.
    pub fn is_violation(&self) -> bool {
        !self.clauses.is_empty()
    }

    /// Returns the violated rule: `ISO 14289-1, 7.3-1; Matterhorn 13-004`.
    pub fn rule(&self) -> String {
        if !self.is_violation() {
            return format!("WCAG 2.2, {}", self.criterion());
        }
        let clauses = self.clauses.iter().map(|Clause { level, number }| match level {
            ConformanceLevel::PdfUa1 => format!("ISO 14289-1, {number}"),
            _ => format!("ISO 19005-2, {number}"),
        });
        let condition = self
            .matterhorn
            .iter()
            .map(|condition| format!("Matterhorn {condition}"));
        clauses.chain(condition).collect::<Vec<_>>().join("; ")
    }

    /// Returns a sentence for the author of the HTML: what to change.
    pub fn remedy(&self) -> &'static str {
        let clause = self.clauses.last().map(|clause| clause.number.as_str());
        remedies::remedy(clause.unwrap_or_else(|| self.criterion()))
    }

    fn criterion(&self) -> &str {
        self.criterion.as_deref().unwrap_or(CONTRAST)
    }

    /// Returns the element with its text and selector: `Figure “Sales by month” (#sales > img)`. `None` if nothing of it
    /// is known.
    pub fn subject(&self) -> Option<String> {
        let text = self.text.as_ref().map(|text| format!("“{text}”"));
        let selector = self.selector.as_ref().map(|selector| format!("({selector})"));
        let known: Vec<_> = [self.element.clone(), text, selector].into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.join(" "))
    }

    /// Returns the place in words, with the part counted from 1, as people do: `part 2, page 4`. `None` if neither is
    /// known.
    pub fn place(&self) -> Option<String> {
        let part = self.part.map(|part| format!("part {}", part + 1));
        let page = self.page.map(|page| format!("page {page}"));
        let known: Vec<_> = [part, page].into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.join(", "))
    }

    /// Returns sentences with everything but the rectangle: place, element, violation, remedy and rule.
    pub fn explanation(&self) -> String {
        let about: Vec<_> = [self.place(), self.subject()].into_iter().flatten().collect();
        let about = if about.is_empty() {
            String::new()
        } else {
            format!("{}: ", about.join(", "))
        };
        let violation = sentence(&format!("{about}{}", self.message));
        format!("{violation} {} Rule: {}", self.remedy(), self.rule())
    }

    fn shorten(&mut self) {
        self.selector
            .take_if(|selector| selector.chars().nth(LONGEST_SELECTOR).is_some());
        let texts = [self.element.as_mut(), self.text.as_mut(), Some(&mut self.message)];
        for text in texts.into_iter().flatten() {
            if let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) {
                text.truncate(end);
                text.push('…');
            }
        }
    }
}

/// The result of checking a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccessibilityReport {
    /// The levels that the document declares.
    pub levels: Vec<ConformanceLevel>,
    /// Violations in the order of the document, and icons without a text, which prevent no level.
    pub findings: Vec<Finding>,
    /// Whether there are more findings than listed.
    pub findings_cut: bool,
    /// The first text with each pair of colours whose contrast is too low, at most 20. Reports of earlier releases have
    /// none.
    #[serde(default)]
    pub low_contrast: Vec<Finding>,
}

/// Numbers of the findings that a report lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingCounts {
    pub violations: usize,
    /// Icons without a text.
    pub icons: usize,
    /// Texts with low contrast.
    pub low_contrast: usize,
}

impl AccessibilityReport {
    /// Creates a report with as many findings as it may have: at most 200, and 64 KiB as JSON, violations first. If not all
    /// fit, it has the first violation of each rule before others, still in the order of the document. Their texts are
    /// shortened to 100 characters.
    pub fn new(levels: Vec<ConformanceLevel>, found: impl IntoIterator<Item = Finding>) -> Self {
        // Icons prevent no level, and leave room to what does.
        let (violations, icons): (Vec<_>, Vec<_>) = found.into_iter().partition(Finding::is_violation);
        let ordered = (0..).zip(violations.into_iter().chain(icons));
        // Many violations of one rule hide no other rule: that may be the only one that prevents a demanded level.
        let mut rules = HashSet::new();
        let (firsts, others): (Vec<_>, Vec<_>) = ordered.partition(|(_, finding)| {
            finding.is_violation() && rules.insert((finding.rule(), finding.message.clone()))
        });
        let (mut listed, mut room, mut findings_cut) = (Vec::new(), LONGEST_FINDINGS, false);
        for (order, mut finding) in firsts.into_iter().chain(others) {
            finding.shorten();
            let bytes = serde_json::to_vec(&finding).map_or(usize::MAX, |json| json.len());
            if listed.len() == MOST_FINDINGS || bytes > room {
                findings_cut = true;
                break;
            }
            room -= bytes;
            listed.push((order, finding));
        }
        listed.sort_by_key(|(order, _): &(usize, _)| *order);
        Self {
            levels,
            findings: listed.into_iter().map(|(_, finding)| finding).collect(),
            findings_cut,
            low_contrast: Vec::new(),
        }
    }

    /// Returns the report with texts of low contrast: as many as it may have, each shortened to 100 characters.
    #[must_use]
    pub fn with_low_contrast(mut self, found: impl IntoIterator<Item = Finding>) -> Self {
        self.low_contrast = found.into_iter().take(MOST_LOW_CONTRAST).collect();
        self.low_contrast.iter_mut().for_each(Finding::shorten);
        self
    }

    /// Counts the findings by kind.
    pub fn counts(&self) -> FindingCounts {
        let violations = self.findings.iter().filter(|finding| finding.is_violation()).count();
        FindingCounts {
            violations,
            icons: self.findings.len() - violations,
            low_contrast: self.low_contrast.len(),
        }
    }

    /// Returns whether the report is one of an archive that lists anything, or doesn't pass all checks.
    pub fn is_notable(&self) -> bool {
        let lists_anything = !self.findings.is_empty() || !self.low_contrast.is_empty();
        !self.levels.is_empty() && (lists_anything || !self.passes_machine_checks())
    }

    /// Returns whether there are more violations than listed. They are listed before icons.
    pub fn has_more_violations(&self) -> bool {
        self.findings_cut && self.findings.iter().all(Finding::is_violation)
    }

    /// Returns whether the document declares the highest levels. Then no finding is a violation.
    pub fn passes_machine_checks(&self) -> bool {
        passes_machine_checks(&self.levels)
    }

    /// Checks the document against demanded levels.
    pub fn check(self, demanded: &[ConformanceLevel]) -> Result<Self, ConformanceNotReached> {
        let missing = demanded.iter().filter(|level| !level.is_reached_by(&self.levels));
        let missing: Vec<_> = missing.copied().collect();
        if missing.is_empty() {
            return Ok(self);
        }
        Err(ConformanceNotReached { missing, report: self })
    }
}

#[cfg(test)]
mod tests;
