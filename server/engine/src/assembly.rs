//! Assembles printed parts into the finished document, and attributes errors to parts.

use platen_pdf::{Assembly, Completed, PdfError, PrintedPart, Stamps};

use crate::{
    error::{RenderError, RenderProblem},
    job::{RenderedDocument, Warning},
    numbering::StampPages,
    part::Printed,
    render::Render,
};

impl Render<'_> {
    /// Joins and stamps the parts, selects pages, completes and validates the document on a blocking thread.
    pub(crate) async fn assemble(
        &self,
        mut printed: Vec<Printed>,
        stamps: Vec<StampPages>,
        mut warnings: Vec<Warning>,
    ) -> Result<RenderedDocument, RenderError> {
        take_warnings(&mut printed, &mut warnings);
        let pages = printed.iter_mut().map(|part| part.page.take()).collect();
        let title = printed.first().and_then(|part| part.facts.title.as_deref());
        let title = title
            .map(str::trim)
            .filter(|title| !title.is_empty())
            .map(ToOwned::to_owned);
        let (watermark, format, instant) = (self.job.watermark, self.job.format, self.instant);
        let (selection, page_limit) = (self.job.selection.clone(), self.job.page_limit);
        let assembled = blocking(move || {
            let parts = printed.into_iter().map(|part| PrintedPart {
                bytes: part.bytes.into(),
                facts: part.facts,
            });
            let stamps = stamps.iter().map(|stamp| Stamps {
                bytes: &stamp.bytes,
                layout: stamp.layout,
                pages: stamp.pages.clone(),
            });
            let assembly = Assembly {
                parts: parts.collect(),
                stamps: stamps.collect(),
                page_limit,
                selection,
                watermark,
                format,
                instant,
            };
            platen_pdf::assemble(assembly).map_err(|error| blame(&error))
        })
        .await?;
        let Completed {
            bytes: pdf,
            conformance,
            mut findings,
            low_contrast,
            page_count,
            pages_by_part,
            warnings: more,
        } = assembled?;
        self.add_selectors(pages, &mut findings).await;
        warnings.extend(more.into_iter().map(|warning| Warning {
            code: warning.code,
            message: warning.message,
        }));
        Ok(RenderedDocument {
            pdf,
            conformance,
            findings,
            low_contrast,
            page_count,
            pages_by_part,
            title,
            warnings,
        })
    }
}

/// Runs CPU-bound work on a blocking thread. Fails with [`RenderError::Browser`] if it panics.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, RenderError> {
    let worked = tokio::task::spawn_blocking(work).await;
    worked.map_err(|error| RenderError::Browser(error.to_string()))
}

/// Converts a PDF error: those that the caller can correct are attributed to a part (0 for the whole document).
pub(crate) fn blame(error: &PdfError) -> RenderError {
    let (part, problem) = match *error {
        PdfError::PageSize {
            part,
            page,
            width,
            height,
        } => (part, RenderProblem::PageSize { page, width, height }),
        PdfError::TooManyPages { part, pages, limit } => (part, RenderProblem::TooManyPages { pages, limit }),
        PdfError::PageBeyondEnd { page, page_count } => (0, RenderProblem::PageBeyondEnd { page, page_count }),
        PdfError::TooLarge { .. } => {
            let reason = error.to_string();
            (0, RenderProblem::TooLarge { reason })
        }
        PdfError::NotConformant { ref message, .. } => {
            let reason = message.clone();
            (0, RenderProblem::NotConformant { reason })
        }
        PdfError::Damaged { .. } | PdfError::StampCount { .. } => return RenderError::Browser(error.to_string()),
    };
    RenderError::Problem { part, problem }
}

/// Moves the warnings of all parts to `warnings`. If there are several parts, each message names its part.
fn take_warnings(printed: &mut [Printed], warnings: &mut Vec<Warning>) {
    let is_only = printed.len() == 1;
    for (index, part) in printed.iter_mut().enumerate() {
        warnings.extend(part.warnings.drain(..).map(|warning| Warning {
            message: if is_only {
                warning.message
            } else {
                format!("part {}: {}", index + 1, warning.message)
            },
            ..warning
        }));
    }
}
