use super::*;

fn finding(level: ConformanceLevel, number: &str) -> Finding {
    Finding {
        clauses: vec![Clause {
            level,
            number: number.to_owned(),
        }],
        criterion: None,
        matterhorn: None,
        message: "The figure has no alternative text.".to_owned(),
        part: None,
        page: None,
        element: None,
        selector: None,
        text: None,
        rectangle: None,
        page_size: None,
    }
}

#[test]
fn levels_include_lower_ones_of_the_same_standard() {
    use ConformanceLevel::{PdfA2a, PdfA2b, PdfA2u, PdfUa1};
    let declared = ConformanceLevel::parse_list("PDF/A-2u, PDF/UA-1");
    assert_eq!(declared, [PdfA2u, PdfUa1]);
    let reached = ConformanceLevel::VARIANTS
        .iter()
        .filter(|level| level.is_reached_by(&declared));
    assert_eq!(reached.copied().collect::<Vec<_>>(), [PdfA2b, PdfA2u, PdfUa1]);
    assert!(!PdfA2b.is_reached_by(&[PdfUa1]) && !PdfUa1.is_reached_by(&[PdfA2a]));
}

#[test]
fn requests_name_levels_in_lower_case() {
    for level in ConformanceLevel::VARIANTS {
        let name = level.into_str();
        for name in [name.to_owned(), name.to_lowercase()] {
            let read: ConformanceLevel = serde_json::from_value(name.clone().into()).expect(&name);
            assert_eq!(read, *level);
        }
        assert_eq!(serde_json::to_value(level).expect("JSON"), name);
    }
}

#[test]
fn rules_name_their_standards() {
    use ConformanceLevel::{PdfA2a, PdfA2b, PdfA2u, PdfUa1};
    let mut figure = finding(PdfUa1, "7.3-1");
    figure.matterhorn = Some("13-004".into());
    assert_eq!(figure.rule(), "ISO 14289-1, 7.3-1; Matterhorn 13-004");
    let mut glyph = finding(PdfA2u, "6.2.11.7.2-1");
    glyph.clauses.extend(finding(PdfUa1, "7.21.7-1").clauses);
    assert_eq!(glyph.rule(), "ISO 19005-2, 6.2.11.7.2-1; ISO 14289-1, 7.21.7-1");
    let prevented = [PdfA2b, PdfA2u, PdfA2a, PdfUa1].map(|level| glyph.prevents(level));
    assert_eq!(prevented, [false, true, true, true]);
    assert!(!figure.prevents(PdfA2a));
}

#[test]
fn places_name_what_is_known() {
    let place = |part, page| {
        let finding = Finding {
            part,
            page,
            ..finding(ConformanceLevel::PdfUa1, "7.5-1")
        };
        finding.place()
    };
    assert_eq!(place(Some(1), Some(4)).as_deref(), Some("part 2, page 4"));
    assert_eq!(place(Some(1), None).as_deref(), Some("part 2"));
    assert_eq!(place(None, Some(4)).as_deref(), Some("page 4"));
    assert_eq!(place(None, None), None);
}

#[test]
fn findings_without_clauses_are_those_of_wcag() {
    let faint = Finding {
        clauses: Vec::new(),
        ..finding(ConformanceLevel::PdfUa1, "7.3-1")
    };
    let icon = Finding {
        criterion: Some("1.1.1".to_owned()),
        ..faint.clone()
    };
    assert_eq!(
        (faint.rule(), icon.rule()),
        ("WCAG 2.2, 1.4.3".into(), "WCAG 2.2, 1.1.1".into())
    );
    assert!(faint.remedy().contains("colour") && icon.remedy().contains("aria-hidden"));
    assert!(ConformanceLevel::VARIANTS.iter().all(|level| !icon.prevents(*level)) && !icon.is_violation());
}

#[test]
fn findings_are_counted_by_kind() {
    let violation = finding(ConformanceLevel::PdfUa1, "7.3-1");
    let icon = Finding {
        clauses: Vec::new(),
        ..violation.clone()
    };
    let found = [icon.clone(), violation.clone(), violation];
    let report = AccessibilityReport::new(Vec::new(), found).with_low_contrast([icon]);
    assert!(!report.findings[2].is_violation(), "violations come first");
    let expected = FindingCounts {
        violations: 2,
        icons: 1,
        low_contrast: 1,
    };
    assert_eq!(report.counts(), expected);
}

#[test]
fn reports_are_bounded() {
    let many = vec![finding(ConformanceLevel::PdfUa1, "7.3-1"); MOST_FINDINGS + 1];
    let report = AccessibilityReport::new(Vec::new(), many.clone());
    assert!(report.findings.len() == MOST_FINDINGS && report.findings_cut);
    let report = AccessibilityReport::new(Vec::new(), many[1..].to_vec());
    assert!(report.findings.len() == MOST_FINDINGS && !report.findings_cut);

    let long = many.into_iter().map(|finding| Finding {
        text: Some("\u{1}".repeat(10_000)),
        selector: Some("p".repeat(LONGEST_SELECTOR + 1)),
        ..finding
    });
    let report = AccessibilityReport::new(Vec::new(), long);
    let text = report.findings[0].text.as_deref().expect("a text");
    assert_eq!(text.chars().count(), LONGEST_TEXT + 1);
    assert_eq!(report.findings[0].selector, None);
    let json = serde_json::to_vec(&report).expect("JSON");
    assert!(
        report.findings_cut && json.len() < LONGEST_FINDINGS + 1024,
        "{}",
        json.len()
    );
}

#[test]
fn many_violations_of_a_rule_hide_no_other_rule() {
    use ConformanceLevel::{PdfA2a, PdfA2b, PdfA2u, PdfUa1};
    let number = |finding: &Finding| finding.clauses[0].number.clone();
    let picture = finding(PdfUa1, "7.3-1");
    let long_text = Finding {
        text: Some("\u{1}".repeat(LONGEST_TEXT)),
        ..picture.clone()
    };
    let font = Finding {
        page: Some(7),
        ..finding(PdfA2u, "6.2.11.7.2-1")
    };
    for picture in [picture, long_text] {
        let mut found = vec![picture; MOST_FINDINGS];
        found.insert(1, finding(PdfUa1, "7.4.2-1"));
        found.extend([font.clone(), font.clone()]);
        let report = AccessibilityReport::new(vec![PdfA2b], found);
        assert!(report.findings_cut && report.has_more_violations());
        // They are still in the order of the document.
        let numbers: Vec<_> = report.findings.iter().map(number).collect();
        assert_eq!(numbers[..3], ["7.3-1", "7.4.2-1", "7.3-1"]);
        assert_eq!(numbers[numbers.len() - 2..], ["7.3-1", "6.2.11.7.2-1"]);

        let problems = report.check(&[PdfA2a]).expect_err("only PDF/A-2b").problems();
        let details: Vec<_> = problems.iter().map(|problem| problem.detail.as_str()).collect();
        let [violation, more] = details[..] else {
            panic!("one violation and a note: {details:?}")
        };
        assert!(
            violation.starts_with("Page 7: ") && violation.ends_with("Rule: ISO 19005-2, 6.2.11.7.2-1"),
            "{violation}"
        );
        assert!(
            more.starts_with("Only the first error is listed, and there may be more:"),
            "{more}"
        );
    }
}

#[test]
fn findings_of_earlier_releases_have_no_selector() {
    let mut stored = serde_json::to_value(finding(ConformanceLevel::PdfUa1, "7.3-1")).expect("JSON");
    let selector = stored.as_object_mut().expect("an object").remove("selector");
    assert!(selector.is_some());
    let read: Finding = serde_json::from_value(stored).expect("a finding");
    assert_eq!(read.selector, None);
}

#[test]
fn a_missed_demand_has_at_most_200_errors_with_the_note_of_more() {
    for (count, listed) in [(MOST_FINDINGS, MOST_FINDINGS), (MOST_FINDINGS + 1, MOST_FINDINGS - 1)] {
        let many = vec![finding(ConformanceLevel::PdfUa1, "7.3-1"); count];
        let problems = AccessibilityReport::new(Vec::new(), many)
            .check(&[ConformanceLevel::PdfUa1])
            .expect_err("many")
            .problems();
        assert_eq!(problems.len(), MOST_FINDINGS);
        assert!(
            problems
                .iter()
                .all(|problem| problem.pointer == ConformanceNotReached::POINTER)
        );
        let notes: Vec<_> = problems[listed..]
            .iter()
            .map(|note| (&*note.title, note.detail.as_str()))
            .collect();
        let expected = (
            "More errors",
            "Only the first 199 errors are listed, and there may be more: correct these and send the request again",
        );
        assert_eq!(notes, [expected][..MOST_FINDINGS - listed]);
    }
}

#[test]
fn a_demand_is_met_or_explained_without_content() {
    use ConformanceLevel::{PdfA2a, PdfA2u, PdfUa1};
    let figure = Finding {
        part: Some(1),
        page: Some(4),
        element: Some("Figure".into()),
        selector: Some("#plan > img".into()),
        text: Some("Secret".into()),
        ..finding(PdfUa1, "7.3-1")
    };
    let report = AccessibilityReport::new(vec![PdfA2a], [figure, finding(PdfUa1, "7.2-34")]);
    assert!(!report.passes_machine_checks());
    assert_eq!(report.clone().check(&[PdfA2u]), Ok(report.clone()));

    let unmet = report.check(&[PdfA2a, PdfUa1]).expect_err("not PDF/UA-1");
    assert_eq!(unmet.missing, [PdfUa1]);
    assert_eq!(
        unmet.to_string(),
        "the document doesn't reach PDF/UA-1: 2 violations, the first of ISO 14289-1, 7.3-1 (part 2, page 4)"
    );
    let problems = unmet.problems();
    let pointers: Vec<_> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(pointers, ["/conformance"; 2]);
    assert_eq!(
        problems[0].detail,
        "Part 2, page 4, Figure “Secret” (#plan > img): The figure has no alternative text. Add an alt attribute to the \
         picture, or alt=\"\" if it is decorative; give an svg a title or aria-label, and a figure a figcaption. Rule: ISO 14289-1, 7.3-1"
    );

    let nothing_known = AccessibilityReport::new(vec![PdfA2u], [])
        .check(&[PdfA2a])
        .expect_err("only PDF/A-2u");
    let [problem] = &nothing_known.problems()[..] else {
        panic!("one problem")
    };
    assert_eq!(
        (problem.pointer.as_str(), problem.detail.as_str()),
        ("/conformance", "The document doesn't reach PDF/A-2a.")
    );
}
