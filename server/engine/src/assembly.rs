//! From printed parts to the finished document, and who is to blame if there is none.

use platen_pdf::{Assembly, Completed, PageSelection, PdfError, PrintedPart, Stamps, check::Conformance};

use crate::{
    error::{RenderError, RenderFault},
    job::{NetworkRequest, REQUEST_LOG_LIMIT, RenderedDocument, Warning},
    numbering::StampPages,
    part::Printed,
    render::Render,
};

/// Width and height in points of each page of each part.
pub(crate) struct PageSizes(Vec<Vec<(f64, f64)>>);

impl PageSizes {
    /// Fails if there are more pages than `limit`.
    pub(crate) fn of(printed: &[Printed], limit: usize) -> Result<Self, RenderError> {
        let sizes = printed.iter().map(|part| platen_pdf::page_sizes(&part.bytes));
        let sizes: Result<_, PdfError> = sizes.collect();
        let sizes = Self(sizes.map_err(|error| RenderError::Browser(error.to_string()))?);
        let pages = sizes.total();
        if pages > limit {
            let fault = RenderFault::TooManyPages { pages, limit };
            let part = sizes.part_of(limit + 1);
            return Err(RenderError::Fault { part, fault });
        }
        Ok(sizes)
    }

    /// Part by part.
    pub(crate) fn by_part(&self) -> &[Vec<(f64, f64)>] {
        &self.0
    }

    /// Pages of all parts.
    pub(crate) fn total(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// The part that has a page of the joined document, numbered from 1.
    fn part_of(&self, page: usize) -> usize {
        let mut before = 0;
        let part = self.0.iter().position(|part| {
            before += part.len();
            page <= before
        });
        part.unwrap_or_default()
    }
}

impl Render<'_> {
    /// Joins, numbers, selects and completes.
    pub(crate) async fn assemble(
        &self,
        mut printed: Vec<Printed>,
        stamps: Vec<StampPages>,
        mut warnings: Vec<Warning>,
    ) -> Result<RenderedDocument, RenderError> {
        let requests = take_requests(&mut printed);
        take_warnings(&mut printed, &mut warnings);
        let title = printed.first().and_then(|part| part.facts.title.as_deref());
        let title = title
            .map(str::trim)
            .filter(|title| !title.is_empty())
            .map(ToOwned::to_owned);
        let (watermark, format, instant) = (self.job.watermark, self.job.format, self.instant);
        let (selection, page_limit) = (self.job.selection.clone(), self.job.page_limit);
        let assembled = blocking(move || {
            let sizes = PageSizes::of(&printed, page_limit)?;
            let parts = printed.iter_mut().map(|part| PrintedPart {
                facts: std::mem::take(&mut part.facts),
                bytes: &part.bytes,
            });
            let stamps = stamps.iter().map(|stamp| Stamps {
                bytes: &stamp.bytes,
                layout: stamp.layout,
                pages: stamp.pages.clone(),
            });
            let assembly = Assembly {
                parts: parts.collect(),
                stamps: stamps.collect(),
                selection,
                watermark,
                format,
                instant,
            };
            platen_pdf::assemble(&assembly).map_err(|error| blame(&error, &sizes, assembly.selection.as_ref()))
        })
        .await?;
        let Completed {
            bytes: pdf,
            conformance,
            page_count,
            warnings: more,
        } = assembled?;
        warnings.extend(more.into_iter().map(|warning| Warning {
            code: warning.code,
            message: warning.message,
        }));
        Ok(RenderedDocument {
            pdf,
            conformance: conformance.map(Conformance::name),
            page_count,
            title,
            phases: self.progress.finish(),
            warnings,
            requests,
        })
    }
}

/// Does what takes the processor for milliseconds.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, RenderError> {
    let worked = tokio::task::spawn_blocking(work).await;
    worked.map_err(|error| RenderError::Browser(error.to_string()))
}

/// Tells what the caller can mend from what he can't.
fn blame(error: &PdfError, sizes: &PageSizes, selection: Option<&PageSelection>) -> RenderError {
    let (part, fault) = match *error {
        PdfError::PageSize { page, width, height } => {
            let part = sizes.part_of(nth_kept(selection, page));
            (part, RenderFault::PageSize { page, width, height })
        }
        PdfError::PageBeyondEnd { page, page_count } => (0, RenderFault::PageBeyondEnd { page, page_count }),
        PdfError::TooLarge { .. } => {
            let reason = error.to_string();
            (0, RenderFault::TooLarge { reason })
        }
        PdfError::NotConformant { ref message, .. } => {
            let reason = message.clone();
            (0, RenderFault::NotConformant { reason })
        }
        PdfError::Damaged { .. } | PdfError::StampCount { .. } => return RenderError::Browser(error.to_string()),
    };
    RenderError::Fault { part, fault }
}

/// The number, in the joined document, of a page of the delivered one.
fn nth_kept(selection: Option<&PageSelection>, page: usize) -> usize {
    match selection {
        None => page,
        Some(selection) => (1..=selection.last())
            .filter(|page| selection.contains(*page))
            .nth(page.saturating_sub(1))
            .unwrap_or(page),
    }
}

fn take_requests(printed: &mut [Printed]) -> Vec<NetworkRequest> {
    let requests = printed.iter_mut().flat_map(|part| std::mem::take(&mut part.requests));
    requests.take(REQUEST_LOG_LIMIT).collect()
}

/// Of several parts, a warning says which it means.
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
