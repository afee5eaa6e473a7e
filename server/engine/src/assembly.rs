//! Assembles printed parts into the finished document, and attributes errors to parts.

use std::time::{Duration, Instant};

use platen_pdf::{Assembly, Completed, PdfError, PrintedPart, Stamps};

use crate::{
    error::{RenderError, RenderProblem},
    job::{RenderedDocument, Warning},
    numbering::StampPages,
    part::Printed,
    render::Render,
};

/// Maximum time to wait for the selectors of elements that violate rules. They usually take 3 to 10 ms.
const SELECTORS_LIMIT: Duration = Duration::from_millis(500);

impl Render<'_> {
    /// Joins and stamps the parts, selects pages, completes and validates the document on a blocking thread.
    pub(crate) async fn assemble(
        &self,
        mut printed: Vec<Printed>,
        stamps: Vec<StampPages>,
        mut warnings: Vec<Warning>,
    ) -> Result<RenderedDocument, RenderError> {
        take_warnings(&mut printed, &mut warnings);
        let page = printed.first_mut().and_then(|part| part.page.take());
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
        if let Some(mut page) = page
            && !findings.is_empty()
        {
            page.add_selectors(&mut findings, time_for_selectors(self.ends_at))
                .await;
        }
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

/// Returns the time to wait for selectors, within the render's deadline: they never fail a document.
fn time_for_selectors(ends_at: Instant) -> Duration {
    let remaining = ends_at.saturating_duration_since(Instant::now());
    SELECTORS_LIMIT.min(remaining / 2)
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
