//! Findings that prevent a file from conforming to more than PDF/A-2b, or that make it hard to use.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::rules::Rule;
use super::standards::Conformance;
use crate::object::ObjectNumber;

/// Most findings that are made for one file: one more than reports list, so that they can say that there are more.
pub const MAX_FINDINGS: usize = 201;
/// Most characters of a text in a finding.
pub(super) const MAX_TEXT: usize = 100;

/// A violation of a rule at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Page number, from 1, if the place is on a page.
    pub page: Option<usize>,
    /// The structure element.
    pub element: Option<Element>,
    /// Object number of the annotation, font, page, form or pattern; `None` if there is an element, or if the file as a
    /// whole violates the rule.
    pub object: Option<u32>,
    /// At most 100 characters of the text of the element or the content.
    pub text: Option<String>,
    /// Rectangle on the page in points: left, bottom, right, top, in user space.
    pub rectangle: Option<[f64; 4]>,
    /// Width and height of the page in points.
    pub page_size: Option<(f64, f64)>,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (standard, clause) in self.rule.prevents {
            write!(formatter, "{standard}, {clause}; ")?;
        }
        if let Some(criterion) = self.rule.criterion {
            write!(formatter, "WCAG 2.2, {criterion}; ")?;
        }
        if let Some(page) = self.page {
            write!(formatter, "page {page}: ")?;
        }
        formatter.write_str(self.rule.message)?;
        match (&self.element, self.object) {
            (Some(element), _) => write!(formatter, " ({}, object {})", element.kind, element.object)?,
            (None, Some(object)) => write!(formatter, " (object {object})")?,
            (None, None) => {}
        }
        self.text.as_ref().map_or(Ok(()), |text| write!(formatter, " “{text}”"))
    }
}

/// A structure element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Object number.
    pub object: u32,
    /// Type as written, such as `Figure`.
    pub kind: String,
    /// Number of earlier elements of this type in its part, in reading order.
    pub preceding: u32,
    /// Number of elements of this type in its part; in the document if the part is unknown.
    pub count: u32,
    /// Index of the part of an [`Assembly`](crate::Assembly) that it was printed from; `None` if that is unknown.
    pub part: Option<usize>,
    /// CSS selector of the HTML element that it was printed from. Examinations don't know it, because no file contains
    /// it.
    pub selector: Option<String>,
}

/// Findings as they are made, each once for its place, without texts and rectangles.
pub(super) struct LevelFindings {
    /// Each with its rank among those of its rule. At most [`MAX_FINDINGS`] for each rule.
    findings: Vec<(usize, Finding)>,
    prevented: Vec<Conformance>,
    /// Objects with findings, by rule.
    seen: BTreeMap<*const Rule, BTreeSet<ObjectNumber>>,
    /// Page numbers, from 1, by object number.
    pub(super) page_numbers: BTreeMap<ObjectNumber, usize>,
}

impl LevelFindings {
    /// `pages` are all pages of the document, in order.
    pub(super) fn new(pages: &[ObjectNumber]) -> Self {
        Self {
            findings: Vec::new(),
            prevented: Vec::new(),
            seen: BTreeMap::new(),
            page_numbers: pages.iter().copied().zip(1..).collect(),
        }
    }

    /// Returns the standards that the findings prevent, including those beyond the limit.
    pub(super) fn prevented(&self) -> &[Conformance] {
        &self.prevented
    }

    /// Returns at most [`MAX_FINDINGS`] in the order in which they were made, so that many findings of one rule hide no
    /// other rule, and what prevents no level hides nothing. If there are more, the last one is one that is not listed.
    pub(super) fn listed(self) -> Vec<Finding> {
        let mut findings: Vec<_> = (0..).zip(self.findings).collect();
        findings.sort_by_key(|(_, (rank, finding))| (finding.rule.prevents.is_empty(), *rank));
        findings.truncate(MAX_FINDINGS);
        let listed = findings.len().min(MAX_FINDINGS - 1);
        findings[..listed].sort_by_key(|(order, _): &(usize, _)| *order);
        findings.into_iter().map(|(_, (_, finding))| finding).collect()
    }

    /// Returns whether no more findings of a rule are noted.
    pub(super) fn is_full(&self, rule: &'static Rule) -> bool {
        let seen = self.seen.get(&std::ptr::from_ref(rule));
        seen.is_some_and(|seen| seen.len() == MAX_FINDINGS)
    }

    /// Adds a finding for the whole file.
    pub(super) fn document(&mut self, rule: &'static Rule) {
        self.add(rule, 0, None, None);
    }

    /// Adds a finding for an object that is no element: a page, a font, an annotation, or a form on `page`.
    pub(super) fn object(&mut self, rule: &'static Rule, object: ObjectNumber, page: Option<ObjectNumber>) {
        self.add(rule, object, page.or(Some(object)), None);
    }

    /// Adds a finding for a structure element whose content is on `page`.
    pub(super) fn element(&mut self, rule: &'static Rule, element: Element, page: Option<ObjectNumber>) {
        self.add(rule, element.object, page, Some(element));
    }

    /// `object` is 0 for the whole file.
    fn add(&mut self, rule: &'static Rule, object: ObjectNumber, page: Option<ObjectNumber>, element: Option<Element>) {
        for (standard, _) in rule.prevents {
            if !self.prevented.contains(standard) {
                self.prevented.push(*standard);
            }
        }
        let seen = self.seen.entry(std::ptr::from_ref(rule)).or_default();
        let rank = seen.len();
        if rank < MAX_FINDINGS && seen.insert(object) {
            let finding = Finding {
                rule,
                page: page.and_then(|page| self.page_numbers.get(&page).copied()),
                object: Some(object).filter(|object| *object > 0 && element.is_none()),
                element,
                text: None,
                rectangle: None,
                page_size: None,
            };
            self.findings.push((rank, finding));
        }
    }
}
