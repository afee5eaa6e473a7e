//! Where findings are, and the text there.

use super::levels::{LETTER, examined_as_2b};
use super::tag_edits::{add, content, element, insert, link, nth, set};
use super::{ICONS, MISSING_GLYPHS, archived, edited, examine};
use crate::assemble::tests::documents::{assembled, three_parts};
use crate::check::levels::{Finding, LevelFindings, MAX_FINDINGS};
use crate::check::places::MAX_RUNS;
use crate::check::rules::{self, ICON_ALTERNATIVE};
use crate::check::standards::Conformance;
use crate::document::Document;
use crate::object::Object;
use crate::{Assembly, PageSelection};

/// Returns the findings for a rule of PDF/UA-1 after a change of the letter.
fn findings(clause: &str, change: impl FnOnce(&mut Document)) -> Vec<Finding> {
    let mut findings = all_findings(change);
    findings.retain(|finding| is_of(finding, clause));
    findings
}

fn all_findings(change: impl FnOnce(&mut Document)) -> Vec<Finding> {
    let damaged = edited(&archived(LETTER), change);
    examined_as_2b(&damaged).expect("PDF/A-2b").findings
}

fn is_of(finding: &Finding, clause: &str) -> bool {
    finding.rule.prevents.iter().any(|(_, found)| *found == clause)
}

fn only(findings: Vec<Finding>) -> Finding {
    let [finding] = <[Finding; 1]>::try_from(findings).expect("a single finding");
    finding
}

fn assert_near(finding: &Finding, expected: [f64; 4]) {
    let rectangle = finding.rectangle.expect("a rectangle");
    let is_near = |(found, expected): (&f64, &f64)| (found - expected).abs() < 0.1;
    assert!(
        rectangle.iter().zip(&expected).all(is_near),
        "{rectangle:?}, not {expected:?}"
    );
}

#[test]
fn an_element_is_where_its_content_is() {
    let figure = only(findings("7.3-1", |document| element(document, "Figure", 0, "Alt", "")));
    let place = figure.element.as_ref().expect("an element");
    assert_eq!((figure.page, place.kind.as_str()), (Some(1), "Figure"));
    assert_eq!(figure.text, None);
    assert_near(&figure, [33.75, 504.21, 51.75, 522.21]);
    let (width, height) = figure.page_size.expect("the size of its page");
    assert!(width > 51.75 && height > 522.21, "{width} × {height}");

    let heading = only(findings("7.4.2-1", |document| element(document, "H2", 0, "S", "/H3")));
    assert_eq!((heading.page, heading.text.as_deref()), (Some(2), Some("End")));
    let element = heading.element.as_ref().expect("an element");
    assert_eq!((element.preceding, element.count), (0, 1));
    assert!(heading.rectangle.is_some());
}

#[test]
fn elements_in_translucent_groups_have_page_text_and_part() {
    const GRAPHICS: &[u8] = include_bytes!("../../../tests/fixtures/graphics.pdf");
    let flawed = edited(&archived(GRAPHICS), |document| element(document, "H2", 0, "S", "/H3"));
    let heading = |findings: Vec<Finding>| only(findings.into_iter().filter(|found| is_of(found, "7.4.2-1")).collect());
    let alone = heading(examined_as_2b(&flawed).expect("PDF/A-2b").findings);
    assert_eq!((alone.page, alone.text.as_deref()), (Some(1), Some("The end")));
    assert!(alone.rectangle.is_some());

    let mut assembly = three_parts();
    assembly.parts[1].bytes = flawed.as_slice().into();
    let joined = heading(assembled(&assembly).findings);
    assert_eq!((joined.page, joined.text.as_deref()), (Some(5), Some("The end")));
    assert_eq!(joined.element.expect("an element").part, Some(1));
}

#[test]
fn elements_are_counted_within_their_part() {
    let flawed = edited(&archived(LETTER), |document| element(document, "H2", 0, "S", "/H3"));
    let mut assembly = three_parts();
    for part in &mut assembly.parts[..2] {
        part.bytes = flawed.as_slice().into();
    }
    let headings = |assembly: &Assembly| -> Vec<_> {
        let findings = assembled(assembly).findings.into_iter();
        let headings = findings.filter(|finding| is_of(finding, "7.4.2-1"));
        let places = headings.map(|finding| {
            let element = finding.element.expect("an element");
            (finding.page, element.part, element.preceding, element.count)
        });
        places.collect()
    };
    assert_eq!(
        headings(&assembly),
        [(Some(2), Some(0), 0, 1), (Some(4), Some(1), 0, 1)]
    );
    // The parts are known by the pages that are left.
    assembly.selection = PageSelection::parse("4, 5").ok();
    assert_eq!(headings(&assembly), [(Some(1), Some(1), 0, 1)]);
    assembly.selection = None;
    assembly.parts.truncate(1);
    assert_eq!(headings(&assembly), [(Some(2), Some(0), 0, 1)]);
    // A file doesn't say which parts it was joined from.
    let found = examined_as_2b(&flawed).expect("PDF/A-2b").findings;
    assert!(
        found
            .iter()
            .flat_map(|finding| &finding.element)
            .all(|element| element.part.is_none())
    );
}

#[test]
fn untagged_content_is_one_finding_for_each_run() {
    let texts = findings("7.1-3", |document| {
        content(document, "/NonStruct <</MCID 0", "/NonStruct <</MCIX 0");
        insert(
            document,
            "10 10 5 5 re f 20 10 5 5 re f /Artifact BMC 0 0 1 1 re f EMC 10 30 5 5 re f\n",
        );
    });
    let found: Vec<_> = texts.iter().map(|finding| finding.text.as_deref()).collect();
    assert_eq!(found, [Some("Summary"), None, None]);
    assert!(texts.iter().all(|finding| finding.page == Some(1)));
    assert_near(&texts[1], [10.0, 10.0, 25.0, 15.0]);
    assert_near(&texts[2], [10.0, 30.0, 15.0, 35.0]);
    let [left, bottom, right, top] = texts[0].rectangle.expect("a rectangle");
    assert!(
        (33.0..34.0).contains(&left) && (110.0..120.0).contains(&right),
        "{left} to {right}"
    );
    assert!(
        (534.0..536.0).contains(&bottom) && (554.0..556.0).contains(&top),
        "{bottom} to {top}"
    );
}

#[test]
fn a_link_is_where_its_annotation_is() {
    let without_tag = only(findings("7.18.5-1", |document| {
        element(document, "Link", 0, "S", "/Span");
    }));
    assert_eq!((without_tag.page, without_tag.text.as_deref()), (Some(1), Some("#end")));
    assert_near(&without_tag, [33.75, 482.46, 75.75, 492.96]);
    let silent = only(findings("7.18.5-2", |document| link(document, "Contents", "()")));
    assert_near(&silent, [33.75, 482.46, 75.75, 492.96]);
}

#[test]
fn findings_are_limited() {
    let marks = "/Artifact BMC EMC 0 0 5 5 re f\n".repeat(300);
    let many = findings("7.1-3", |document| insert(document, &marks));
    // Runs of graphics are separated by what is painted, not by marks.
    assert_eq!(many.len(), 1);
    let marks = "/Artifact BMC 0 0 1 1 re f EMC 0 0 5 5 re f\n".repeat(300);
    let mut many = all_findings(|document| {
        insert(document, &marks);
        element(document, "Figure", 0, "Alt", "");
    });
    // The runs of a page don't displace other findings.
    assert!(many.iter().any(|finding| is_of(finding, "7.3-1")));
    many.retain(|finding| is_of(finding, "7.1-3"));
    assert_eq!(many.len(), MAX_RUNS);
    let last = many.last().and_then(|finding| finding.rectangle);
    assert_eq!(last, Some([0.0, 0.0, 5.0, 5.0]));
    // With a figure for each finding that a file may have, runs would exceed the limit.
    let many = all_findings(|document| {
        insert(document, &marks);
        let root = nth(document, "Document", 0);
        let kids = document.get_dictionary(root, "an element").expect("an element");
        let mut kids: Vec<_> = kids.items("K").iter().filter_map(Object::as_reference).collect();
        kids.extend((0..MAX_FINDINGS).map(|_| add(document, "Figure", root)));
        let kids: Vec<String> = kids.iter().map(|kid| format!("{kid} 0 R")).collect();
        set(document, root, "K", &format!("[{}]", kids.join(" ")));
    });
    assert_eq!(many.len(), MAX_FINDINGS);
    let counts = ["7.1-3", "7.3-1"].map(|clause| many.iter().filter(|finding| is_of(finding, clause)).count());
    assert!(counts[0] > 0 && counts[1] > 0, "{counts:?}");
}

#[test]
fn many_findings_of_one_rule_hide_no_other_rule() {
    let many = all_findings(|document| {
        let root = nth(document, "Document", 0);
        let kids = document.get_dictionary(root, "an element").expect("an element");
        let kids: Vec<_> = kids.items("K").iter().filter_map(Object::as_reference).collect();
        let figures: Vec<_> = (0..2 * MAX_FINDINGS).map(|_| add(document, "Figure", root)).collect();
        let note = add(document, "Note", root);
        let kids: Vec<String> = figures
            .iter()
            .chain(&kids)
            .chain([&note])
            .map(|kid| format!("{kid} 0 R"))
            .collect();
        set(document, root, "K", &format!("[{}]", kids.join(" ")));
    });
    assert_eq!(many.len(), MAX_FINDINGS);
    // The last one only says that there are more.
    let listed = &many[..MAX_FINDINGS - 1];
    assert!(is_of(&listed[0], "7.3-1") && listed.iter().any(|finding| is_of(finding, "7.9-1")));
    // In the order in which they were found.
    let figures = listed.iter().filter(|finding| is_of(finding, "7.3-1"));
    assert!(
        figures
            .map(|finding| finding.element.as_ref().map(|element| element.preceding))
            .is_sorted()
    );
}

#[test]
fn icons_displace_no_violations() {
    let mut levels = LevelFindings::new(&[]);
    for object in 1..150 {
        levels.object(&ICON_ALTERNATIVE, object, None);
        levels.object(&rules::UNTAGGED_TEXT, object, None);
    }
    let listed = levels.listed();
    let violations = listed.iter().filter(|finding| !finding.rule.prevents.is_empty());
    assert_eq!((listed.len(), violations.count()), (MAX_FINDINGS, 149));
}

#[test]
fn icons_that_are_read_need_an_alternative_text() {
    /// Returns page, type and text of the element with each icon.
    fn icons(archive: &[u8]) -> Vec<(usize, String, String)> {
        let examination = examine(archive).expect("PDF/A");
        // They prevent nothing.
        assert_eq!(examination.earned, [Conformance::PdfA2a, Conformance::PdfUa1]);
        let icons = examination.findings.into_iter().map(|finding| {
            assert!(std::ptr::eq(finding.rule, &raw const ICON_ALTERNATIVE) && finding.rectangle.is_some());
            let (page, element, text) = (finding.page, finding.element, finding.text);
            let kind = element.map(|element| element.kind);
            (
                page.unwrap_or_default(),
                kind.unwrap_or_default(),
                text.unwrap_or_default(),
            )
        });
        icons.collect()
    }

    // Those on the first page are artifacts, have a name, or are glyphs whose replacement text says what they mean.
    let archive = archived(ICONS);
    let paragraph = (2, "P".to_owned(), "Exposed \u{FFFD} twice \u{FFFD}".to_owned());
    let cell = (2, "TD".to_owned(), "\u{FFFD}".to_owned());
    assert_eq!(icons(&archive), [paragraph, cell.clone()]);

    let named = edited(&archive, |document| {
        let paragraph = (0..20).find(|index| document.get(nth(document, "P", *index)).is_ok_and(|p| has_kids(&p, 4)));
        element(document, "P", paragraph.expect("a paragraph"), "Alt", "(Done)");
    });
    assert_eq!(icons(&named), [cell]);

    // Missing glyphs have a warning of their own.
    assert_eq!(icons(&archived(MISSING_GLYPHS)), []);
}

fn has_kids(element: &Object, count: usize) -> bool {
    let kids = element.as_dictionary().map(|element| element.items("K").len());
    kids == Some(count)
}
