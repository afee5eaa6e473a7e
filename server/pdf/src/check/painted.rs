//! Content as it is painted on pages: everything is tagged or an artifact, and never both (ISO 14289-1, 7.1 and 7.20).

use std::collections::{BTreeMap, BTreeSet};

use super::levels::LevelFindings;
use super::marks::{StreamMarks, Surrounding};
use super::rules::{self, Rule};
use crate::object::ObjectNumber;

/// Checks the marks of all pages and of the forms that are drawn on them. `streams` are those of pages, forms, patterns
/// and Type 3 fonts, by object number.
pub(super) fn check_painted(
    streams: &BTreeMap<ObjectNumber, StreamMarks>,
    pages: &[ObjectNumber],
    findings: &mut LevelFindings,
) {
    for (number, stream) in streams {
        if stream.is_hidden && !stream.contents.is_empty() {
            findings.object(&rules::HIDDEN_MARKS, *number, None);
        }
    }
    check_shared_forms(streams, findings);
    for page in pages {
        let mut walk = Walk {
            streams,
            page: *page,
            seen: BTreeSet::new(),
            findings,
        };
        walk.visit(*page, Surrounding::Nothing);
    }
}

/// Finds forms that contain tagged content, or draw one that does, and are drawn more than once.
fn check_shared_forms(streams: &BTreeMap<ObjectNumber, StreamMarks>, findings: &mut LevelFindings) {
    let mut counts: BTreeMap<ObjectNumber, usize> = BTreeMap::new();
    for (form, _) in streams.values().flat_map(|stream| &stream.drawn) {
        *counts.entry(*form).or_default() += 1;
    }
    let shared = counts.into_iter().filter(|(_, count)| *count > 1);
    for (form, _) in shared {
        let mut waiting = vec![form];
        let mut seen = BTreeSet::new();
        while let Some(number) = waiting.pop() {
            let Some(stream) = streams.get(&number).filter(|_| seen.insert(number)) else {
                continue;
            };
            if stream.key.is_some() || !stream.contents.is_empty() {
                findings.object(&rules::SHARED_FORM, form, None);
                break;
            }
            waiting.extend(stream.drawn.iter().map(|(form, _)| *form));
        }
    }
}

struct Walk<'w> {
    streams: &'w BTreeMap<ObjectNumber, StreamMarks>,
    page: ObjectNumber,
    /// Forms of the page in each surrounding.
    seen: BTreeSet<(ObjectNumber, Surrounding)>,
    findings: &'w mut LevelFindings,
}

impl Walk<'_> {
    /// Checks a stream that is painted inside of `around`, and those that it draws.
    fn visit(&mut self, first: ObjectNumber, around: Surrounding) {
        let mut waiting = vec![(first, around)];
        while let Some((number, around)) = waiting.pop() {
            let Some(stream) = self.streams.get(&number).filter(|_| self.seen.insert((number, around))) else {
                continue;
            };
            let has_tags = !stream.contents.is_empty();
            let here: &[(bool, &'static Rule)] = match around {
                Surrounding::Nothing => &[
                    (stream.outside.text, &rules::UNTAGGED_TEXT),
                    (stream.outside.graphics, &rules::UNTAGGED_GRAPHICS),
                ],
                Surrounding::Artifact => &[(has_tags, &rules::TAG_IN_ARTIFACT)],
                Surrounding::Tagged => &[
                    (stream.outside.artifacts, &rules::ARTIFACT_IN_TAG),
                    (has_tags, &rules::NESTED_MARKS),
                ],
            };
            let here = here
                .iter()
                .filter(|(is_violated, _)| *is_violated)
                .map(|(_, rule)| *rule);
            for rule in here.chain(stream.violated.iter().copied()) {
                self.findings.object(rule, self.page, None);
            }
            let inside = |own| if own == Surrounding::Nothing { around } else { own };
            waiting.extend(stream.drawn.iter().map(|(form, own)| (*form, inside(*own))));
        }
    }
}
