//! Prints the page.

use std::{
    mem::take,
    sync::atomic::{AtomicUsize, Ordering},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use chromiumoxide_cdp::cdp::browser_protocol::{
    io::{CloseParams, ReadParams, ReadReturns},
    page::{PrintToPdfParams, PrintToPdfTransferMode},
};

use super::StepError;
use crate::{devtools::DevToolsError, error::RenderProblem, job::PrintSettings, session::Session};

/// Bytes to read at once. Each chunk is one message, as Base64, which has a size limit. Most documents fit in one
/// chunk.
const CHUNK: i64 = 2 << 20;

/// Budget of printed bytes of a render, shared by all its parts, which may print concurrently.
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

    /// Counts received bytes. Fails if they exceed the limit.
    fn add(&self, bytes: usize) -> Result<(), RenderProblem> {
        if self.used.fetch_add(bytes, Ordering::Relaxed) + bytes > self.limit {
            return Err(RenderProblem::PrintedTooLarge {
                limit_mb: (self.limit >> 20) as u64,
            });
        }
        Ok(())
    }

    /// Returns the bytes of a document that failed to the budget.
    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Header and footer templates in Chromium's format.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Templates {
    pub(crate) header: String,
    pub(crate) footer: String,
}

impl Templates {
    /// Returns the templates with `placeholder` replaced by a page number.
    pub(crate) fn numbered(&self, placeholder: &str, number: &str) -> Self {
        Self {
            header: self.header.replace(placeholder, number),
            footer: self.footer.replace(placeholder, number),
        }
    }
}

/// Parameters of a `Page.printToPDF` command.
pub(crate) struct Printing(PrintToPdfParams);

/// How the printed bytes are transferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transfer {
    /// In the response, which saves the browser a temporary file, and several exchanges. Only for small documents: a
    /// message that is too large costs its session.
    AtOnce,
    /// In chunks of a stream.
    InPieces,
}

impl Printing {
    /// Prints all pages, tagged and with an outline.
    pub(crate) fn document(settings: &PrintSettings, templates: Option<Templates>, transfer: Transfer) -> Self {
        let mut print = on_paper(settings);
        if transfer == Transfer::AtOnce {
            print.transfer_mode = Some(PrintToPdfTransferMode::ReturnAsBase64);
        }
        print.generate_tagged_pdf = Some(true);
        print.generate_document_outline = Some(true);
        if let Some(templates) = templates {
            decorate(&mut print, templates);
        }
        Self(print)
    }

    /// Prints header and footer of a blank document's `pages`, one-based and ascending. The result is not tagged,
    /// because it is drawn over other pages.
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

/// Formats pages for `Page.printToPDF`: `1-3,7`.
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

/// Prints the page and returns the PDF. Its bytes count toward `printed` as they arrive. Fails with
/// [`StepError::TooLargeAtOnce`] if the document doesn't fit in one message with [`Transfer::AtOnce`].
pub(crate) async fn print(
    session: &Session,
    printing: &Printing,
    printed: &PrintedBytes,
) -> Result<Vec<u8>, StepError> {
    let answer = match session.execute(&printing.0).await {
        Ok(answer) => answer,
        Err(DevToolsError::Refused { message, .. }) => {
            return Err(RenderProblem::PrintFailed { reason: message }.into());
        }
        // Nothing else in a response to `Page.printToPDF` is that large.
        Err(DevToolsError::MessageTooLarge) => return Err(StepError::TooLargeAtOnce),
        Err(error) => return Err(error.into()),
    };
    let mut pdf = PartBytes {
        bytes: Vec::new(),
        counted: 0,
        printed,
    };
    let Some(stream) = answer.stream else {
        pdf.append(AsRef::<[u8]>::as_ref(&answer.data))?;
        return Ok(pdf.finish());
    };
    let mut read = ReadParams::new(stream.clone());
    read.size = Some(CHUNK);
    // The last chunk is always empty, so every document takes at least two: request both at once.
    let (first, second) = (session.start(&read).await?, session.start(&read).await?);
    let mut is_whole = pdf.append_piece(&first.await?)? || pdf.append_piece(&second.await?)?;
    while !is_whole {
        is_whole = pdf.append_piece(&session.execute(&read).await?)?;
    }
    // No need to wait for the response.
    drop(session.start(&CloseParams::new(stream)).await?);
    Ok(pdf.finish())
}

/// The bytes of a document in transfer. Dropping it unfinished returns them to the budget.
struct PartBytes<'a> {
    bytes: Vec<u8>,
    counted: usize,
    printed: &'a PrintedBytes,
}

impl PartBytes<'_> {
    /// Appends a chunk. Returns `true` if it is the last.
    fn append_piece(&mut self, piece: &ReadReturns) -> Result<bool, StepError> {
        if piece.base64_encoded.unwrap_or(false) {
            self.append(piece.data.as_bytes())?;
        } else {
            self.count(|bytes| {
                bytes.extend_from_slice(piece.data.as_bytes());
                Ok(())
            })?;
        }
        Ok(piece.eof)
    }

    /// Decodes Base64 and appends it.
    fn append(&mut self, base64: &[u8]) -> Result<(), StepError> {
        self.count(|bytes| {
            let decoded = BASE64_STANDARD.decode_vec(base64, bytes);
            decoded.map_err(|error| StepError::Protocol(format!("invalid printed document: {error}")))
        })
    }

    fn count(&mut self, append: impl FnOnce(&mut Vec<u8>) -> Result<(), StepError>) -> Result<(), StepError> {
        let before = self.bytes.len();
        append(&mut self.bytes)?;
        let more = self.bytes.len() - before;
        self.counted += more;
        Ok(self.printed.add(more)?)
    }

    /// Returns the document, which remains counted.
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
