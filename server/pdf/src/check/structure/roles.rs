//! Types of structure elements: the standard ones, and the role map (ISO 32000-1, 14.7.3 and 14.8.4).

use std::collections::BTreeMap;

use crate::check::levels::LevelFindings;
use crate::check::rules;
use crate::object::{Dictionary, Object};

/// Standard structure types of PDF 1.7.
#[rustfmt::skip]
const STANDARD: [&str; 49] = [
    "Document", "Part", "Art", "Sect", "Div", "BlockQuote", "Caption", "TOC", "TOCI", "Index", "NonStruct", "Private",
    "P", "H", "H1", "H2", "H3", "H4", "H5", "H6", "L", "LI", "Lbl", "LBody", "Table", "TR", "TH", "TD", "THead",
    "TBody", "TFoot", "Span", "Quote", "Note", "Reference", "BibEntry", "Code", "Link", "Annot", "Ruby", "RB", "RT",
    "RP", "Warichu", "WT", "WP", "Figure", "Formula", "Form",
];
/// Types without a meaning of their own: their kids count as kids of their parent.
const TRANSPARENT: [&str; 3] = ["NonStruct", "Div", "Part"];

/// Resolves types through the role map, each once.
#[derive(Default)]
pub(super) struct Roles {
    map: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Types that occurred, and the standard type of each. The most frequent ones are among the first.
    resolved: Vec<(Vec<u8>, Option<&'static str>)>,
}

impl Roles {
    /// Reads the role map and checks it: standard types may not be mapped, and no type to itself, even over others.
    pub(super) fn read(map: &Dictionary, findings: &mut LevelFindings) -> Self {
        let entries = map.entries.iter().filter_map(|(kind, role)| match role {
            Object::Name(role) => Some((kind.to_vec(), role.to_vec())),
            _ => None,
        });
        let roles = Self {
            map: entries.collect(),
            resolved: Vec::new(),
        };
        for kind in roles.map.keys() {
            if standard(kind).is_some() {
                findings.document(&rules::STANDARD_ROLE);
            } else if roles.is_circular(kind) {
                findings.document(&rules::CIRCULAR_ROLE);
            }
        }
        roles
    }

    /// Returns the standard type of a type; `None` if it is not mapped to one.
    pub(super) fn resolve(&mut self, kind: &[u8]) -> Option<&'static str> {
        if let Some((_, standard)) = self.resolved.iter().find(|(resolved, _)| resolved == kind) {
            return *standard;
        }
        let resolved = self.chain(kind).find_map(standard);
        self.resolved.push((kind.to_vec(), resolved));
        resolved
    }

    fn is_circular(&self, kind: &[u8]) -> bool {
        self.chain(kind).count() > self.map.len() + 1
    }

    /// Returns a type and those that it is mapped to, one after the other: in a circle one more than there are.
    fn chain<'r>(&'r self, kind: &'r [u8]) -> impl Iterator<Item = &'r [u8]> {
        let next = |kind: &&'r [u8]| self.map.get(*kind).map(Vec::as_slice);
        std::iter::successors(Some(kind), next).take(self.map.len() + 2)
    }
}

fn standard(kind: &[u8]) -> Option<&'static str> {
    STANDARD.into_iter().find(|standard| standard.as_bytes() == kind)
}

/// Returns whether the kids of an element of this standard type count as kids of its parent.
pub(super) fn is_transparent(kind: Option<&str>) -> bool {
    kind.is_some_and(|kind| TRANSPARENT.contains(&kind))
}
