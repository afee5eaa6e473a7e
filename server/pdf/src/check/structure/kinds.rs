//! Rules for single elements by their type: nesting of tables, lists and tables of contents, headings, figures, notes
//! (ISO 14289-1, 7.2 to 7.9).

use std::collections::BTreeSet;

use super::tables::check_table;
use super::tree::{Alternative, Tree};
use crate::check::levels::LevelFindings;
use crate::check::rules::{self, Rule};

/// Checks every element of the tree.
pub(super) fn check_elements(tree: &Tree, findings: &mut LevelFindings) {
    let mut headings = Headings::default();
    let mut notes = BTreeSet::new();
    // Elements that contain an H.
    let mut with_h = BTreeSet::new();
    for (index, element) in (0..).zip(&tree.elements) {
        let mut note = |rule: &'static Rule| tree.note(rule, index, findings);
        let texts = element.texts;
        let has_alternative = texts.alternative == Alternative::Given || texts.actual_text;
        match element.kind {
            None => note(&rules::UNKNOWN_TYPE),
            Some("Figure") if !has_alternative => note(&rules::FIGURE_ALTERNATIVE),
            Some("Formula") if !has_alternative => note(&rules::FORMULA_ALTERNATIVE),
            Some("Note") => match element.identifier.as_deref() {
                None | Some([]) => note(&rules::NOTE_ID),
                Some(identifier) if !notes.insert(identifier) => note(&rules::NOTE_ID_TWICE),
                Some(_) => {}
            },
            // A field that can be filled in would be an annotation, which Chromium doesn't write.
            Some("Form") if !element.attributes.as_ref().is_some_and(|form| form.has_role) => {
                note(&rules::FORM_WITHOUT_FIELD);
            }
            Some(kind) => {
                if let Some(rule) = headings.next(kind) {
                    note(rule);
                }
                if kind == "H" {
                    for container in tree.containers(index).filter(|container| !with_h.insert(*container)) {
                        tree.note(&rules::HEADING_TWICE, container, findings);
                    }
                }
                check_parent(tree, index, kind, findings);
                check_kids(tree, index, kind, findings);
            }
        }
        if !element.has_language {
            for (has_text, rule) in [
                (texts.actual_text, &rules::ACTUAL_TEXT_LANGUAGE),
                (texts.alternative != Alternative::Missing, &rules::ALTERNATIVE_LANGUAGE),
                (texts.expansion, &rules::EXPANSION_LANGUAGE),
            ] {
                if has_text {
                    tree.note(rule, index, findings);
                }
            }
        }
    }
}

/// Headings of a document so far.
#[derive(Default)]
struct Headings {
    /// Level of the last one; 0 if there is none.
    level: u8,
    has_h: bool,
    has_hn: bool,
}

impl Headings {
    /// Returns the rule that the next element violates, if it is a heading and violates one.
    fn next(&mut self, kind: &str) -> Option<&'static Rule> {
        if kind == "H" {
            self.has_h = true;
            return self.has_hn.then_some(&rules::HEADING_H);
        }
        let [b'H', digit @ b'1'..=b'6'] = kind.as_bytes() else {
            return None;
        };
        self.has_hn = true;
        let (last, level) = (self.level, digit - b'0');
        self.level = level;
        if self.has_h {
            Some(&rules::HEADING_HN)
        } else if level > last + 1 {
            Some(if last == 0 {
                &rules::FIRST_HEADING
            } else {
                &rules::HEADING_SKIPPED
            })
        } else {
            None
        }
    }
}

fn check_parent(tree: &Tree, index: u32, kind: &str, findings: &mut LevelFindings) {
    let (allowed, rule): (&[&str], _) = match kind {
        "TR" => (&["Table", "THead", "TBody", "TFoot"], &rules::ROW_PARENT),
        "THead" => (&["Table"], &rules::HEAD_PARENT),
        "TBody" => (&["Table"], &rules::BODY_PARENT),
        "TFoot" => (&["Table"], &rules::FOOT_PARENT),
        "TH" => (&["TR"], &rules::HEADER_PARENT),
        "TD" => (&["TR"], &rules::CELL_PARENT),
        "LI" => (&["L"], &rules::ITEM_PARENT),
        "LBody" => (&["LI"], &rules::ITEM_BODY_PARENT),
        "TOCI" => (&["TOC"], &rules::CONTENTS_ITEM_PARENT),
        _ => return,
    };
    if !tree.parent_kind(index).is_some_and(|parent| allowed.contains(&parent)) {
        tree.note(rule, index, findings);
    }
}

fn check_kids(tree: &Tree, index: u32, kind: &str, findings: &mut LevelFindings) {
    let (allowed, rule): (&[&str], _) = match kind {
        "Table" => (&["TR", "THead", "TBody", "TFoot", "Caption"], &rules::TABLE_KIDS),
        "TR" => (&["TH", "TD"], &rules::ROW_KIDS),
        "THead" => (&["TR"], &rules::HEAD_KIDS),
        "TBody" => (&["TR"], &rules::BODY_KIDS),
        "TFoot" => (&["TR"], &rules::FOOT_KIDS),
        "L" => (&["L", "LI", "Caption"], &rules::LIST_KIDS),
        "LI" => (&["Lbl", "LBody"], &rules::ITEM_KIDS),
        "TOC" => (&["TOC", "TOCI", "Caption"], &rules::CONTENTS_KIDS),
        _ => return,
    };
    let kids: Vec<Option<&str>> = tree
        .kids(index)
        .into_iter()
        .map(|kid| tree.elements[kid as usize].kind)
        .collect();
    let mut note = |rule: &'static Rule| tree.note(rule, index, findings);
    if !kids.iter().all(|kid| kid.is_some_and(|kid| allowed.contains(&kid))) {
        note(rule);
    }
    let count = |wanted: &str| kids.iter().filter(|kid| **kid == Some(wanted)).count();
    let has_late_caption = kids.iter().skip(1).any(|kid| *kid == Some("Caption"));
    match kind {
        "Table" => {
            let inside = kids.get(1..kids.len().saturating_sub(1)).unwrap_or_default();
            let has_no_body = count("TBody") == 0;
            for (is_violated, rule) in [
                (count("THead") > 1, &rules::HEADS),
                (count("TFoot") > 1, &rules::FEET),
                (count("TFoot") > 0 && has_no_body, &rules::FOOT_WITHOUT_BODY),
                (count("THead") > 0 && has_no_body, &rules::HEAD_WITHOUT_BODY),
                (count("Caption") > 1, &rules::CAPTIONS),
                (inside.contains(&Some("Caption")), &rules::CAPTION_INSIDE),
            ] {
                if is_violated {
                    note(rule);
                }
            }
            check_table(tree, index, findings);
        }
        "L" if has_late_caption => note(&rules::LIST_CAPTION),
        "TOC" if has_late_caption => note(&rules::CONTENTS_CAPTION),
        _ => {}
    }
}
