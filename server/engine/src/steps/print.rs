//! Prints the page.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use chromiumoxide::cdp::browser_protocol::{
    io::{CloseParams, ReadParams, ReadReturns},
    page::{PrintToPdfParams, PrintToPdfTransferMode},
};

use super::StepError;
use crate::{devtools::DevToolsError, error::RenderFault, job::PrintSettings, session::Session};

/// Bytes asked for at once. Base64 in one JSON string; most documents come in one piece.
const CHUNK: i64 = 4 << 20;
/// A printed document above this is refused: it would be held in memory several times over.
const PRINTED_LIMIT: usize = 512 << 20;

/// Header and footer templates as Chromium takes them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Templates {
    pub(crate) header: String,
    pub(crate) footer: String,
}

/// What to print, and how.
pub(crate) struct Printing(PrintToPdfParams);

impl Printing {
    /// All pages, tagged and with an outline.
    pub(crate) fn document(settings: &PrintSettings, templates: Option<Templates>) -> Self {
        let mut print = on_paper(settings);
        print.generate_tagged_pdf = Some(true);
        print.generate_document_outline = Some(true);
        if let Some(templates) = templates {
            decorate(&mut print, templates);
        }
        Self(print)
    }

    /// Header and footer of some pages, numbered from 1 and ascending, of a blank document. There are no tags: what is
    /// drawn over other pages may not have any.
    pub(crate) fn blank(settings: &PrintSettings, templates: Templates, pages: &[usize]) -> Self {
        let mut print = on_paper(settings);
        print.generate_tagged_pdf = Some(false);
        print.page_ranges = Some(page_ranges(pages));
        decorate(&mut print, templates);
        Self(print)
    }
}

fn on_paper(settings: &PrintSettings) -> PrintToPdfParams {
    let [top, right, bottom, left] = settings.margins;
    PrintToPdfParams {
        print_background: Some(settings.backgrounds),
        scale: Some(settings.scale),
        paper_width: Some(settings.paper_width),
        paper_height: Some(settings.paper_height),
        margin_top: Some(top),
        margin_right: Some(right),
        margin_bottom: Some(bottom),
        margin_left: Some(left),
        prefer_css_page_size: Some(settings.prefer_css_page_size),
        transfer_mode: Some(PrintToPdfTransferMode::ReturnAsStream),
        ..PrintToPdfParams::default()
    }
}

fn decorate(print: &mut PrintToPdfParams, templates: Templates) {
    print.display_header_footer = Some(true);
    print.header_template = Some(templates.header);
    print.footer_template = Some(templates.footer);
}

/// Pages as `Page.printToPDF` takes them: `1-3,7`.
fn page_ranges(pages: &[usize]) -> String {
    let runs = pages.chunk_by(|page, next| page + 1 == *next);
    let ranges: Vec<String> = runs
        .map(|run| match run {
            [page] => page.to_string(),
            run => format!("{}-{}", run[0], run[run.len() - 1]),
        })
        .collect();
    ranges.join(",")
}

/// Prints the page and returns the bytes of the PDF.
pub(crate) async fn print(session: &Session, printing: &Printing) -> Result<Vec<u8>, StepError> {
    let printed = match session.execute(&printing.0).await {
        Ok(printed) => printed,
        Err(DevToolsError::Refused { message, .. }) => return Err(RenderFault::PrintFailed { reason: message }.into()),
        Err(error) => return Err(error.into()),
    };
    let stream = printed
        .stream
        .ok_or_else(|| StepError::Protocol("Page.printToPDF: no stream".to_owned()))?;
    let mut read = ReadParams::new(stream.clone());
    read.size = Some(CHUNK);
    let mut pdf = Vec::new();
    // Only an empty piece is the last, so that every document takes two: they are asked for at once.
    let (first, second) = (session.start(&read).await?, session.start(&read).await?);
    let mut is_whole = append(&mut pdf, &first.await?)? || append(&mut pdf, &second.await?)?;
    while !is_whole {
        is_whole = append(&mut pdf, &session.execute(&read).await?)?;
    }
    // Nobody needs to hear that it is closed.
    drop(session.start(&CloseParams::new(stream)).await?);
    Ok(pdf)
}

/// `true`: there is no more.
fn append(pdf: &mut Vec<u8>, piece: &ReadReturns) -> Result<bool, StepError> {
    if piece.base64_encoded.unwrap_or(false) {
        BASE64_STANDARD
            .decode_vec(&piece.data, pdf)
            .map_err(|error| StepError::Protocol(format!("IO.read: {error}")))?;
    } else {
        pdf.extend_from_slice(piece.data.as_bytes());
    }
    if pdf.len() > PRINTED_LIMIT {
        let reason = format!("the document is larger than {} MB", PRINTED_LIMIT >> 20);
        return Err(RenderFault::PrintFailed { reason }.into());
    }
    Ok(piece.eof)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_follow_each_other_are_a_range() {
        assert_eq!(page_ranges(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
        assert_eq!(page_ranges(&[4]), "4");
    }
}
