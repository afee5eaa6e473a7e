//! Accessibility reports: checks documents against the levels of conformance that their requests demand, and returns the
//! stored reports of renders.

pub mod storing;

use std::io;

use platen_domain::{
    encryption::{EncryptionError, Place},
    ids::{AccountId, RenderId},
    render::accessibility::{
        AccessibilityReport, Clause, ConformanceLevel, Finding, missing::MissingReport, passes_machine_checks,
        unmet::ConformanceNotReached,
    },
};
use platen_engine::job::RenderedDocument;
use platen_pdf::{
    check::{contrast::LowContrast, levels, standards::Conformance},
    part_of_page,
};

use crate::{
    clock,
    render_request::stored::decompressed,
    service::{
        Services,
        data_keys::{DataKeyError, data_key},
        renders::request::STORED_AFTER,
    },
    store::{accessibility_reports, accounts, error::StoreError, renders::history::Render},
};

/// Returns what the examination of a new document found. For a plain PDF, the report has no levels and no findings.
pub(super) fn report(document: &RenderedDocument) -> AccessibilityReport {
    let levels = document.conformance.iter().copied().map(level).collect();
    let pages_by_part = &document.pages_by_part;
    let findings = document.findings.iter();
    let findings = findings.map(|finding| found(finding, part_of(finding, pages_by_part)));
    let low_contrast = document.low_contrast.iter();
    let low_contrast =
        low_contrast.map(|contrast| found_contrast(contrast, part_of_page(contrast.page, pages_by_part)));
    AccessibilityReport::new(levels, findings).with_low_contrast(low_contrast)
}

/// Returns the index of the part with a finding. An element without content, such as an empty cell, is on no page.
fn part_of(finding: &levels::Finding, pages_by_part: &[usize]) -> Option<usize> {
    let part = finding.page.and_then(|page| part_of_page(page, pages_by_part));
    part.or_else(|| finding.element.as_ref()?.part)
}

/// Converts a finding of the examination. `part` is the index of its part, from 0.
pub fn found(finding: &levels::Finding, part: Option<usize>) -> Finding {
    let clauses = finding.rule.prevents.iter().map(|(standard, number)| Clause {
        level: level(*standard),
        number: (*number).to_owned(),
    });
    Finding {
        clauses: clauses.collect(),
        criterion: finding.rule.criterion.map(ToOwned::to_owned),
        matterhorn: finding.rule.condition.map(ToOwned::to_owned),
        message: finding.rule.message.to_owned(),
        part,
        page: finding.page,
        element: finding.element.as_ref().map(|element| element.kind.clone()),
        selector: finding.element.as_ref().and_then(|element| element.selector.clone()),
        text: finding.text.clone(),
        rectangle: finding.rectangle,
        page_size: finding.page_size,
    }
}

/// Converts a text with low contrast. `part` is the part of its page, from 0.
pub fn found_contrast(contrast: &LowContrast, part: Option<usize>) -> Finding {
    let hexadecimal = |[red, green, blue]: [u8; 3]| format!("#{red:02x}{green:02x}{blue:02x}");
    // Rounded down, so that it is below what is required.
    let ratio = (contrast.ratio * 100.0).floor() / 100.0;
    Finding {
        clauses: Vec::new(),
        criterion: Some("1.4.3".to_owned()),
        matterhorn: None,
        message: format!(
            "The contrast of {} on {} is {ratio} to 1; text of this size needs {} to 1.",
            hexadecimal(contrast.colour),
            hexadecimal(contrast.background),
            contrast.required,
        ),
        part,
        page: Some(contrast.page),
        element: contrast.element.as_ref().map(|element| element.kind.clone()),
        selector: None,
        text: contrast.text.clone(),
        rectangle: contrast.rectangle,
        page_size: contrast.page_size,
    }
}

/// Converts a standard of the examination.
pub fn level(standard: Conformance) -> ConformanceLevel {
    match standard {
        Conformance::PdfA2b => ConformanceLevel::PdfA2b,
        Conformance::PdfA2u => ConformanceLevel::PdfA2u,
        Conformance::PdfA2a => ConformanceLevel::PdfA2a,
        Conformance::PdfUa1 => ConformanceLevel::PdfUa1,
    }
}

/// Checks a new document against the levels that its request demands.
pub fn check(document: &RenderedDocument, demanded: &[ConformanceLevel]) -> Result<(), Box<ConformanceNotReached>> {
    if demanded.is_empty() {
        return Ok(());
    }
    report(document).check(demanded).map(drop).map_err(Box::new)
}

/// Error of reading a stored report.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    #[error(transparent)]
    Encryption(#[from] EncryptionError),
    #[error(transparent)]
    Damaged(#[from] io::Error),
    #[error(transparent)]
    Malformed(#[from] serde_json::Error),
}

/// Returns the report of a render, or why it has none. Documents that pass all checks have a stored report only if it lists
/// icons without a text, or texts with low contrast.
pub async fn find(
    app: &Services,
    account: AccountId,
    render: &Render,
) -> Result<Result<AccessibilityReport, MissingReport>, StoreError> {
    match accessibility_reports::find(&app.db, account, render.id).await? {
        Some(sealed) => {
            let read = read(app, account, render.id, sealed).await;
            Ok(read.map_err(|error| {
                tracing::warn!(%error, "a stored accessibility report could not be read");
                MissingReport::Unreadable
            }))
        }
        None => match passing(render) {
            Some(passing) => Ok(Ok(passing)),
            None => Ok(Err(missing(app, account, render).await?)),
        },
    }
}

/// Returns the report of a document that declares the highest levels.
fn passing(render: &Render) -> Option<AccessibilityReport> {
    let levels = ConformanceLevel::parse_list(render.conformance.as_deref()?);
    passes_machine_checks(&levels).then(|| AccessibilityReport::new(levels, []))
}

async fn read(
    app: &Services,
    account: AccountId,
    render: RenderId,
    sealed: Vec<u8>,
) -> Result<AccessibilityReport, ReadError> {
    let key = data_key(&app.db, &app.secret_keys, account, clock::now()).await?;
    let compressed = key.decrypt(&Place::accessibility_report(account, render), sealed)?;
    Ok(serde_json::from_slice(&decompressed(&compressed)?)?)
}

/// Returns what operators see who view an account: only that a document passes all checks.
pub(super) fn without_content(render: &Render) -> Result<AccessibilityReport, MissingReport> {
    passing(render).ok_or_else(|| unchecked(render).unwrap_or(MissingReport::Hidden))
}

/// Returns why no document was checked; `None` if one was.
fn unchecked(render: &Render) -> Option<MissingReport> {
    let error = render.error.as_ref();
    if error.is_some_and(|error| error["pointer"] == ConformanceNotReached::POINTER) {
        None
    } else if render.page_count.is_none() {
        Some(MissingReport::NoDocument)
    } else {
        render.conformance.is_none().then_some(MissingReport::Plain)
    }
}

async fn missing(app: &Services, account: AccountId, render: &Render) -> Result<MissingReport, StoreError> {
    if let Some(unchecked) = unchecked(render) {
        return Ok(unchecked);
    }
    if !accounts::keeps_content(&app.db, account).await? {
        return Ok(MissingReport::NotWanted);
    }
    let is_recent = render.finished_at.is_none_or(|at| clock::now() - at < STORED_AFTER);
    Ok(if is_recent {
        MissingReport::NotYet
    } else {
        MissingReport::Gone
    })
}

#[cfg(test)]
mod tests {
    use platen_pdf::check::{levels::Element, rules::Rule};

    use super::*;

    #[test]
    fn pages_belong_to_parts() {
        let parts: Vec<_> = (1..=6).map(|page| part_of_page(page, &[2, 0, 3])).collect();
        assert_eq!(parts, [Some(0), Some(0), Some(2), Some(2), Some(2), None]);
    }

    #[test]
    fn a_finding_without_a_page_is_in_the_part_of_its_element() {
        static NO_HEADER: Rule = Rule {
            prevents: &[(Conformance::PdfUa1, "7.5-1")],
            criterion: None,
            condition: None,
            message: "No header applies to the cell.",
        };
        let element = |part| {
            Some(Element {
                object: 7,
                kind: "TD".to_owned(),
                preceding: 0,
                count: 1,
                part,
                selector: None,
            })
        };
        let part = |page, element| {
            let finding = levels::Finding {
                rule: &NO_HEADER,
                page,
                element,
                object: None,
                text: None,
                rectangle: None,
                page_size: None,
            };
            part_of(&finding, &[1, 1])
        };
        assert_eq!(part(None, element(Some(1))), Some(1));
        assert_eq!(part(Some(1), element(None)), Some(0));
        assert_eq!([part(None, element(None)), part(None, None)], [None; 2]);
    }
}
