//! Remarks for a template's author, with their place in the text where it can be found.

use std::collections::HashSet;

use platen_domain::{
    editor::{Pane, Place, Remark, Violation},
    render::accessibility::Finding as Found,
    sentence::sentence,
    template::{
        LONGEST_PREVIEW_CONTEXT,
        places::{self, JsonMembers},
        translations::TextProblem,
    },
    validation::Problem,
};
use platen_engine::{
    job::Warning,
    network_error::{ABORTED, explain},
    render_log::NetworkRequest,
};
use platen_pdf::check::{contrast::LowContrast, levels::Finding};
use platen_template::diagnostic::{self as template, Diagnostic, Warning as Missing, WarningKind};

use crate::service::{renders::accessibility, templates::named_place};

/// Maximum number of remarks of one kind.
const MOST: usize = 50;
/// Maximum number of violations that are listed.
const MOST_VIOLATIONS: usize = 20;

/// Returns the remark that the data is not an object.
pub(super) fn no_object() -> Remark {
    let place = Place {
        pane: Pane::Data,
        line: 1,
        column: 1,
        length: 1,
    };
    Remark::new(None, "The sample data must be an object.", Some(place))
}

/// Returns the remark that the data exceeds a limit.
pub(super) fn too_much_data(problem: &Problem) -> Remark {
    Remark::new(None, sentence(&problem.detail), None)
}

/// Returns the remark that the data, of this many bytes without whitespace, is too large to be saved.
pub(super) fn too_large_to_save(bytes: usize) -> Remark {
    let (size, limit) = (bytes.div_ceil(1024), LONGEST_PREVIEW_CONTEXT / 1024);
    let message = format!("The sample data has {size} KiB without whitespace. At most {limit} KiB can be saved.");
    Remark::new(None, message, None)
}

/// Returns the remark that the text of a pane is not valid JSON.
pub(super) fn no_json(pane: Pane, error: &serde_json::Error) -> Remark {
    let message = error.to_string();
    // The place is stated separately.
    let message = message.split(" at line ").next().unwrap_or_default();
    let place = Place {
        pane,
        line: error.line().max(1),
        column: error.column().max(1),
        length: 1,
    };
    let subject = if pane == Pane::Translations {
        "translations are"
    } else {
        "sample data is"
    };
    let message = format!("The {subject} not valid JSON: {message}.");
    Remark::new(None, message, Some(place))
}

/// Returns the remark about the first invalid option, exceeded size or mistake in the translations.
pub(super) fn of_request(problems: &[Problem], translations: &str) -> Remark {
    let Some(problem) = problems.first() else {
        return Remark::new(None, "This can't be rendered.", None);
    };
    if let Some(pointer) = problem.pointer.strip_prefix("/translations") {
        return of_translations(pointer, &problem.detail, translations);
    }
    let pointer = problem.pointer.trim_start_matches('/');
    let name = pointer.strip_prefix("options/").unwrap_or(pointer);
    Remark::new(Some(name.replace('/', " ")), problem.detail.clone(), None)
}

/// Returns the remark that the text of translations can't be read.
pub(super) fn of_text(problem: &TextProblem, translations: &str) -> Remark {
    match problem {
        TextProblem::Malformed(error) => no_json(Pane::Translations, error),
        TextProblem::Invalid(problem) => of_translations(&problem.pointer, &problem.detail, translations),
    }
}

/// Returns the remark about a mistake at a JSON pointer of the translations.
fn of_translations(pointer: &str, detail: &str, translations: &str) -> Remark {
    let names = pointer.split('/').skip(1);
    let names: Vec<_> = names.map(|name| name.replace("~1", "/").replace("~0", "~")).collect();
    let path = names.join(".");
    let members = JsonMembers::find(translations, std::slice::from_ref(&path));
    let place = members.place(&path).map(|place| place.in_pane(Pane::Translations));
    let subject = if path.is_empty() { "Translations" } else { &path };
    Remark::new(subject.to_owned(), detail.to_owned(), place)
}

/// Returns the remark that the template can't be filled.
pub(super) fn of_problem(problem: &Diagnostic) -> Remark {
    match &problem.place {
        Some(place) => placed(None, &problem.message, place, 1),
        None => Remark::new(None, sentence(&problem.message), None),
    }
}

/// Returns a remark about a place. In a partial, which the editor doesn't show, the message names it.
fn placed(subject: Option<String>, message: &str, found: &template::Place, length: usize) -> Remark {
    if found.partial.is_some() {
        let subject = subject.map(|subject| format!("{subject} ")).unwrap_or_default();
        let message = format!("{}: {subject}{}", named_place(found), message);
        return Remark::new(None, sentence(&message), None);
    }
    let place = Place {
        pane: Pane::Content,
        line: found.line,
        column: found.column,
        length,
    };
    let message = if subject.is_some() {
        message.to_owned()
    } else {
        sentence(message)
    };
    Remark::new(subject, message, Some(place))
}

/// Returns remarks about undefined names, which counted as empty, and missing texts.
pub(super) fn of_missing(missing: &[Missing]) -> Vec<Remark> {
    let remarks = missing.iter().take(MOST).map(|missing| match &missing.kind {
        WarningKind::Undefined { name } => {
            let message = "is undefined and prints empty.";
            Remark {
                undefined: true,
                ..placed(Some(name.clone()), message, &missing.place, name.chars().count())
            }
        }
        of_text => placed(None, &of_text.to_string(), &missing.place, 1),
    });
    remarks.collect()
}

/// Returns remarks about blocked and failed requests.
pub(super) fn of_requests(content: &str, requests: &[NetworkRequest]) -> Vec<Remark> {
    let remarks = requests.iter().filter_map(|request| {
        let message = match (&request.refused, &request.error, request.status) {
            (Some(rule), _, _) => format!("was blocked: {rule}."),
            // A request that the page itself aborted is no problem.
            (None, Some(error), _) if error != ABORTED => format!("did not load: {}.", explain(error)),
            (None, _, Some(status @ 400..)) => format!("did not load: status {status}."),
            _ => return None,
        };
        // Browsers append a slash to a URL without a path.
        let place = places::find(content, &request.url);
        let place = place.or_else(|| places::find(content, request.url.trim_end_matches('/')));
        let place = place.map(|place| place.in_pane(Pane::Content));
        Some(Remark::new(request.url.clone(), message, place))
    });
    remarks.take(MOST).collect()
}

/// Returns remarks about warnings of the render, except those about requests, which [`of_requests`] covers in detail.
pub(super) fn of_document(content: &str, data: &str, warnings: &[Warning]) -> Vec<Remark> {
    let warnings = warnings.iter();
    let others = warnings.filter(|warning| !matches!(warning.code, "request_refused" | "resource_failed"));
    let remarks = others.map(|warning| {
        let place = match warning.code {
            "missing_glyph" => place_of_character(content, data, &warning.message),
            _ => None,
        };
        Remark {
            lacks_font: matches!(warning.code, "font_substituted" | "missing_glyph"),
            ..Remark::new(None, warning.message.clone(), place)
        }
    });
    remarks.take(MOST).collect()
}

/// Returns the first violations that prevent PDF/A-2a or PDF/UA-1, then icons without a text, and texts with low contrast,
/// at most 20, and the number of further ones. A remedy for the whole document, such as to name its language, is listed once,
/// without the places that it mends.
pub(super) fn of_findings(findings: &[Finding], low_contrast: &[LowContrast]) -> (Vec<Violation>, usize) {
    let findings = findings.iter().map(|finding| accessibility::found(finding, None));
    let (violations, icons): (Vec<_>, Vec<_>) = findings.partition(Found::is_violation);
    let violations = violations.into_iter();
    let (of_document, of_places): (Vec<_>, Vec<_>) =
        violations.partition(|finding| finding.page.is_none() && finding.subject().is_none());
    let mut remedies = HashSet::new();
    let of_document = of_document
        .into_iter()
        .filter(|finding| remedies.insert(finding.remedy()));
    let mut listed: Vec<_> = of_document.collect();
    listed.extend(
        of_places
            .into_iter()
            .filter(|finding| !remedies.contains(finding.remedy())),
    );
    listed.extend(icons);
    let low_contrast = low_contrast.iter();
    listed.extend(low_contrast.map(|contrast| accessibility::found_contrast(contrast, None)));
    let more = listed.len().saturating_sub(MOST_VIOLATIONS);
    let violations = listed.into_iter().take(MOST_VIOLATIONS).map(|finding| Violation {
        subject: finding.subject(),
        // Only the message of low contrast has the colours.
        remedy: if finding.is_violation() {
            finding.remedy().to_owned()
        } else {
            format!("{} {}", finding.message, finding.remedy())
        },
        page: finding.page,
        rectangle: finding
            .rectangle
            .map(|corners| corners.map(|corner| corner.round() as i32)),
    });
    (violations.collect(), more)
}

/// Returns the place of the first character that a message names by its code point and that occurs in a text.
fn place_of_character(content: &str, data: &str, message: &str) -> Option<Place> {
    let mut characters = message.split("U+").skip(1).filter_map(|rest| {
        let digits = rest.split(|character: char| !character.is_ascii_hexdigit()).next()?;
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)
    });
    characters.find_map(|character| {
        let written = character.to_string();
        let in_content = places::find(content, &written).map(|place| place.in_pane(Pane::Content));
        in_content.or_else(|| places::find(data, &written).map(|place| place.in_pane(Pane::Data)))
    })
}

/// Returns remarks about names in the data that the template never uses.
pub(super) fn of_unused(data: &str, names: &[String]) -> Vec<Remark> {
    if names.is_empty() {
        return Vec::new();
    }
    let names = &names[..names.len().min(MOST)];
    let members = JsonMembers::find(data, names);
    let remarks = names.iter().map(|name| {
        let place = members.place(name).map(|place| place.in_pane(Pane::Data));
        Remark::new(name.clone(), "is never used.", place)
    });
    remarks.collect()
}

#[cfg(test)]
mod tests {
    use platen_pdf::check::{levels::Element, rules::Rule, standards::Conformance};

    use super::*;

    fn place(pane: Pane, line: usize, column: usize, length: usize) -> Place {
        Place {
            pane,
            line,
            column,
            length,
        }
    }

    #[test]
    fn data_that_cannot_be_read_is_shown_where_it_breaks() {
        let error = serde_json::from_str::<serde_json::Value>("{\n  \"a\": ,\n}").expect_err("no JSON");
        let remark = no_json(Pane::Data, &error);
        assert_eq!(remark.message, "The sample data is not valid JSON: expected value.");
        assert_eq!(remark.place, Some(place(Pane::Data, 2, 8, 1)));
    }

    #[test]
    fn what_is_wrong_in_a_partial_marks_no_line_of_the_template() {
        let place = |partial: Option<&str>| template::Place {
            partial: partial.map(ToOwned::to_owned),
            line: 3,
            column: 5,
            excerpt: String::new(),
        };
        let problem = |partial| Diagnostic {
            kind: template::DiagnosticKind::Operation,
            message: "filter nope is unknown".to_owned(),
            place: Some(place(partial)),
        };
        let remark = of_problem(&problem(Some("footer")));
        assert_eq!(
            (remark.text().as_str(), remark.place),
            ("Partial footer, line 3, column 5: filter nope is unknown.", None)
        );
        assert_eq!(of_problem(&problem(None)).place.map(|place| place.line), Some(3));
        let missing = |partial, kind| Missing {
            kind,
            place: place(partial),
        };
        let undefined = || WarningKind::Undefined {
            name: "total".to_owned(),
        };
        let text = WarningKind::MissingText {
            key: "total".to_owned(),
        };
        let all = [
            missing(Some("footer"), undefined()),
            missing(None, undefined()),
            missing(None, text),
        ];
        let [in_partial, in_template, of_text] = &of_missing(&all)[..] else {
            panic!("three remarks")
        };
        let message = "Partial footer, line 3, column 5: total is undefined and prints empty.";
        assert_eq!((in_partial.text().as_str(), in_partial.place), (message, None));
        assert_eq!(in_template.text(), "total is undefined and prints empty.");
        assert!(in_partial.undefined && in_template.place.is_some());
        assert_eq!(of_text.text(), "The text \"total\" is missing, and its key is printed.");
        assert!(!of_text.undefined && of_text.place.is_some());
    }

    #[test]
    fn data_that_cannot_be_saved_is_measured_against_the_limit() {
        let remark = too_large_to_save(256 * 1024 + 1);
        let expected = "The sample data has 257 KiB without whitespace. At most 256 KiB can be saved.";
        assert_eq!(remark.message, expected);
    }

    #[test]
    fn a_blocked_request_is_shown_where_its_address_stands() {
        let mut request = NetworkRequest {
            part: 0,
            url: "https://10.0.0.1/".to_owned(),
            kind: None,
            status: None,
            bytes: None,
            took: None,
            error: Some("net::ERR_CONNECTION_RESET".to_owned()),
            refused: Some("a private address".to_owned()),
        };
        let content = "<p>\n<img src=\"https://10.0.0.1?x\">";
        let remarks = of_requests(content, std::slice::from_ref(&request));
        let [remark] = remarks.as_slice() else {
            panic!("{remarks:?}")
        };
        assert_eq!(remark.message, "was blocked: a private address.");
        assert_eq!(remark.place, Some(place(Pane::Content, 2, 11, 16)));

        request.refused = None;
        let [failed] = &of_requests(content, std::slice::from_ref(&request))[..] else {
            panic!("no remark")
        };
        assert_eq!(failed.message, "did not load: the server closed the connection.");
        request.error = Some("net::ERR_ABORTED".to_owned());
        assert_eq!(of_requests(content, &[request]), []);
    }

    #[test]
    fn a_missing_glyph_is_shown_where_its_character_stands() {
        let warning = |message: &str| Warning {
            code: "missing_glyph",
            message: message.to_owned(),
        };
        let message =
            "Some characters are drawn as empty boxes because no font has them, first on page 1: “\u{E000}” (U+E000).";
        let remarks = of_document("<p>\n\u{E000}", "{}", &[warning(message)]);
        assert_eq!(remarks[0].place, Some(place(Pane::Content, 2, 1, 1)));
        let remarks = of_document("<p>", "{\"a\": \"\u{E000}\"}", &[warning(message)]);
        assert_eq!(remarks[0].place, Some(place(Pane::Data, 1, 8, 1)));
    }

    #[test]
    fn the_first_violations_say_what_to_change_and_where() {
        static SKIPPED: Rule = Rule {
            prevents: &[(Conformance::PdfUa1, "7.4.2-1")],
            criterion: None,
            condition: None,
            message: "The heading skips a level.",
        };
        let finding = Finding {
            rule: &SKIPPED,
            page: Some(2),
            element: Some(Element {
                object: 7,
                kind: "H3".to_owned(),
                preceding: 0,
                count: 1,
                part: Some(0),
                selector: Some("body > h3".to_owned()),
            }),
            object: None,
            text: Some("Costs".to_owned()),
            rectangle: Some([56.7, 700.2, 90.0, 712.6]),
            page_size: Some((595.0, 842.0)),
        };
        let (violations, more) = of_findings(&vec![finding.clone(); MOST_VIOLATIONS + 1], &[]);
        assert_eq!((violations.len(), more), (MOST_VIOLATIONS, 1));
        let expected = Violation {
            subject: Some("H3 “Costs” (body > h3)".to_owned()),
            remedy: "Don't skip levels of headings: an h2 follows the h1, an h3 an h2. The first one is an h1."
                .to_owned(),
            page: Some(2),
            rectangle: Some([57, 700, 90, 713]),
        };
        assert_eq!(violations[0], expected);

        let of_document = Finding {
            page: None,
            element: None,
            text: None,
            rectangle: None,
            ..finding.clone()
        };
        let of_empty_element = Finding {
            page: None,
            text: None,
            rectangle: None,
            ..finding.clone()
        };
        let (violations, _) = of_findings(&vec![of_empty_element; 2], &[]);
        assert_eq!(violations.len(), 2, "elements without a page are places, too");

        let (violations, more) = of_findings(&[finding, of_document.clone(), of_document], &[]);
        assert_eq!((violations.len(), violations[0].page, more), (1, None, 0));
    }

    #[test]
    fn an_unused_name_is_shown_where_it_stands() {
        let remarks = of_unused("{\"a\": {\n\"b\": 1}}", &["a.b".to_owned()]);
        assert_eq!(remarks[0].subject.as_deref(), Some("a.b"));
        assert_eq!(remarks[0].place, Some(place(Pane::Data, 2, 1, 3)));
    }
}
