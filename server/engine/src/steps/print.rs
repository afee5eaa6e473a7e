//! Prints the page.

use std::{
    mem::take,
    sync::atomic::{AtomicUsize, Ordering},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use chromiumoxide::cdp::browser_protocol::{
    io::{CloseParams, ReadParams, ReadReturns},
    page::{PrintToPdfParams, PrintToPdfTransferMode},
};

use super::StepError;
use crate::{devtools::DevToolsError, error::RenderFault, job::PrintSettings, session::Session};

/// Bytes asked for at once, as Base64 in one message, which has a limit. Most documents come in one piece.
const CHUNK: i64 = 2 << 20;

/// What a render may print, over all its parts, also those that are printed at once.
pub(crate) struct PrintedBytes {
    limit: usize,
    used: AtomicUsize,
}

impl PrintedBytes {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            used: AtomicUsize::new(0),
        }
    }

    /// Counts bytes that have come.
    fn add(&self, bytes: usize) -> Result<(), RenderFault> {
        if self.used.fetch_add(bytes, Ordering::Relaxed) + bytes > self.limit {
            return Err(RenderFault::PrintedTooLarge {
                limit_mb: (self.limit >> 20) as u64,
            });
        }
        Ok(())
    }

    /// What was counted of a document that comes to nothing is free again.
    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Header and footer templates as Chromium takes them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Templates {
    pub(crate) header: String,
    pub(crate) footer: String,
}

impl Templates {
    /// The templates with a page's number in place of `placeholder`.
    pub(crate) fn numbered(&self, placeholder: &str, number: &str) -> Self {
        Self {
            header: self.header.replace(placeholder, number),
            footer: self.footer.replace(placeholder, number),
        }
    }
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

/// Prints the page and returns the bytes of the PDF, which are counted while they come.
pub(crate) async fn print(
    session: &Session,
    printing: &Printing,
    printed: &PrintedBytes,
) -> Result<Vec<u8>, StepError> {
    let answer = match session.execute(&printing.0).await {
        Ok(answer) => answer,
        Err(DevToolsError::Refused { message, .. }) => return Err(RenderFault::PrintFailed { reason: message }.into()),
        Err(error) => return Err(error.into()),
    };
    let stream = answer
        .stream
        .ok_or_else(|| StepError::Protocol("Page.printToPDF: no stream".to_owned()))?;
    let mut pdf = PartBytes {
        bytes: Vec::new(),
        counted: 0,
        printed,
    };
    let mut read = ReadParams::new(stream.clone());
    read.size = Some(CHUNK);
    // Only an empty piece is the last, so that every document takes two: they are asked for at once.
    let (first, second) = (session.start(&read).await?, session.start(&read).await?);
    let mut is_whole = pdf.append(&first.await?)? || pdf.append(&second.await?)?;
    while !is_whole {
        is_whole = pdf.append(&session.execute(&read).await?)?;
    }
    // Nobody needs to hear that it is closed.
    drop(session.start(&CloseParams::new(stream)).await?);
    Ok(pdf.finish())
}

/// The bytes of a document that is on its way.
struct PartBytes<'a> {
    bytes: Vec<u8>,
    counted: usize,
    printed: &'a PrintedBytes,
}

impl PartBytes<'_> {
    /// `true`: there is no more.
    fn append(&mut self, piece: &ReadReturns) -> Result<bool, StepError> {
        let before = self.bytes.len();
        if piece.base64_encoded.unwrap_or(false) {
            BASE64_STANDARD
                .decode_vec(&piece.data, &mut self.bytes)
                .map_err(|error| StepError::Protocol(format!("IO.read: {error}")))?;
        } else {
            self.bytes.extend_from_slice(piece.data.as_bytes());
        }
        let more = self.bytes.len() - before;
        self.counted += more;
        self.printed.add(more)?;
        Ok(piece.eof)
    }

    /// The document stays counted.
    fn finish(mut self) -> Vec<u8> {
        self.counted = 0;
        take(&mut self.bytes)
    }
}

impl Drop for PartBytes<'_> {
    fn drop(&mut self) {
        self.printed.give_back(self.counted);
    }
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
