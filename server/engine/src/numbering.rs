//! Headers and footers that are printed apart from the parts, and then drawn over their pages.
//!
//! Chromium numbers the pages of one document only, and doesn't tell text of its header and footer from that of the page. So parts
//! are printed without them if there are several, or if the templates of an archive may hide text, unless that depends on margins that
//! the page may set. Most templates of several parts are filled here and placed below each other on tall pages. Those that would look
//! different there, and those of one part, are printed on a blank document with as many pages as all parts together, for which Chromium
//! fills `pageNumber` and `totalPages`.

mod column;

use std::{collections::BTreeMap, sync::Arc};

use platen_pdf::StampLayout;

use crate::{
    assembly::{blame, blocking},
    error::{RenderError, RenderProblem},
    header_footer::{self, Fields, FillError, Filled},
    job::{HeaderFooter, MediaType, Phase, PrintSettings, RunningTemplate, Warning},
    page_kind::PageKind,
    part::Printed,
    render::Render,
    session::{Session, SessionDisposition},
    steps::{
        StepError, load,
        print::{self, PrintedBytes, Printing, Templates},
    },
};
use column::Size;

/// Points per inch.
const POINTS: f64 = 72.0;
/// Tolerance, in points, within which sides of pages are equal: Chromium rounds.
const SAME_SIZE: f64 = 1.0;

/// Printed headers and footers, and the pages that they belong to.
pub(crate) struct StampPages {
    pub(crate) bytes: Vec<u8>,
    pub(crate) layout: StampLayout,
    /// Page numbers, one-based, in the document of all parts.
    pub(crate) pages: Vec<usize>,
}

/// Placeholder for the page number in templates that are filled for all pages of a part; a noncharacter.
const NUMBER: &str = "\u{10FFFE}";

/// Page size and templates, common to the pages that one blank document serves.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Look {
    /// Width and height, in thousandths of an inch.
    sheet: [u32; 2],
    templates: Arc<Templates>,
}

/// A selected page: its one-based number, its width and height in points, and the templates of its part.
type SelectedPage = (usize, (f64, f64), Arc<Templates>);

impl Render<'_> {
    /// Prints header and footer for the selected pages of all parts. Does nothing if Chromium has printed them with the part.
    pub(crate) async fn number(
        &self,
        printed: Vec<Printed>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Vec<Printed>, Vec<StampPages>), RenderError> {
        let Some(wanted) = self.job.print.header_footer.as_ref().filter(|_| self.has_stamps) else {
            return Ok((printed, Vec::new()));
        };
        self.progress.enter_together(Phase::Print);
        let limit = self.job.page_limit;
        let (printed, sizes) = blocking(move || {
            let parts: Vec<&[u8]> = printed.iter().map(|part| part.bytes.as_slice()).collect();
            let sizes = platen_pdf::page_sizes(&parts, limit);
            (printed, sizes)
        })
        .await?;
        let sizes = sizes.map_err(|error| blame(&error))?;
        let stamps = if printed.len() > 1 && header_footer::are_repeatable(wanted) {
            let numbers = [NUMBER.to_owned(), page_count(&sizes).to_string()];
            let pages = self
                .selected_pages(wanted, Some(numbers), &printed, &sizes, warnings)
                .await?;
            self.print_columns(wanted, pages).await?
        } else {
            let pages = self.selected_pages(wanted, None, &printed, &sizes, warnings).await?;
            self.print_pages(wanted, pages, page_count(&sizes)).await?
        };
        Ok((printed, stamps))
    }

    /// Prints headers and footers in columns, one column for pages of the same size.
    async fn print_columns(
        &self,
        wanted: &HeaderFooter,
        pages: Vec<SelectedPage>,
    ) -> Result<Vec<StampPages>, RenderError> {
        let mut columns: BTreeMap<Size, Vec<(usize, Arc<Templates>)>> = BTreeMap::new();
        for (page, size, templates) in pages {
            columns.entry(Size::of(size)).or_default().push((page, templates));
        }
        let mut stamps = Vec::new();
        for (size, pages) in columns {
            let largest = pages
                .iter()
                .max_by_key(|(_, templates)| templates.header.len() + templates.footer.len());
            let at_once = largest.map_or(1, |(_, templates)| size.boxes(templates));
            for pages in pages.chunks(at_once) {
                // Only the templates of one column are in memory with their numbers.
                let templates: Vec<Templates> = pages
                    .iter()
                    .map(|(page, templates)| templates.numbered(NUMBER, &page.to_string()))
                    .collect();
                let [paper_width, paper_height] = size.paper(pages.len());
                let settings = PrintSettings {
                    paper_width,
                    paper_height,
                    margins: [0.0; 4],
                    scale: 1.0,
                    prefer_css_page_size: false,
                    ..self.job.print.clone()
                };
                let column = Templates {
                    header: size.html(&templates, self.job.print.margins),
                    footer: header_footer::NOTHING.to_owned(),
                };
                let printing = Printing::blank(&settings, column, &[1]);
                stamps.push(StampPages {
                    bytes: self.print_blank(wanted, &blank(1), &printing).await?,
                    layout: size.layout(),
                    pages: pages.iter().map(|(page, _)| *page).collect(),
                });
            }
        }
        Ok(stamps)
    }

    /// Prints headers and footers on as many blank pages as all parts have; Chromium numbers them.
    async fn print_pages(
        &self,
        wanted: &HeaderFooter,
        pages: Vec<SelectedPage>,
        page_count: usize,
    ) -> Result<Vec<StampPages>, RenderError> {
        let mut looks: BTreeMap<Look, Vec<usize>> = BTreeMap::new();
        for (page, size, templates) in pages {
            let look = Look {
                sheet: sheet(size, &self.job.print),
                templates,
            };
            looks.entry(look).or_default().push(page);
        }
        let blank = blank(page_count);
        let mut stamps = Vec::new();
        for (look, pages) in looks {
            let settings = PrintSettings {
                paper_width: f64::from(look.sheet[0]) / 1000.0,
                paper_height: f64::from(look.sheet[1]) / 1000.0,
                prefer_css_page_size: false,
                ..self.job.print.clone()
            };
            let printing = Printing::blank(&settings, Templates::clone(&look.templates), &pages);
            stamps.push(StampPages {
                bytes: self.print_blank(wanted, &blank, &printing).await?,
                layout: StampLayout::Pages,
                pages,
            });
        }
        Ok(stamps)
    }

    async fn print_blank(
        &self,
        wanted: &HeaderFooter,
        html: &str,
        printing: &Printing,
    ) -> Result<Vec<u8>, RenderError> {
        let mut failures = 0;
        loop {
            let mut attempt = self.attempt(PageKind::ScriptFree, failures).await?;
            match print_blank(attempt.lease.session(), html, printing, &self.printed).await {
                Ok(bytes) => {
                    attempt.lease.give_back(SessionDisposition::Keep);
                    return Ok(bytes);
                }
                Err(StepError::Problem(RenderProblem::PrintedTooLarge { .. })) => {
                    let limit = self.job.printed_limit;
                    let template = if wanted.header.len() >= wanted.footer.len() {
                        RunningTemplate::Header
                    } else {
                        RunningTemplate::Footer
                    };
                    let what = "printed for all pages, it and the parts together have";
                    let size = limit + 1;
                    let problem = RenderProblem::HeaderFooterTooLarge {
                        template,
                        what,
                        size,
                        limit,
                    };
                    return Err(RenderError::Problem { part: 0, problem });
                }
                Err(error) => failures = self.recover(0, attempt, error).await?,
            }
        }
    }

    /// Fills the templates and returns the selected pages. Fails if the templates are too large.
    async fn selected_pages(
        &self,
        wanted: &HeaderFooter,
        numbers: Option<[String; 2]>,
        printed: &[Printed],
        sizes: &[Vec<(f64, f64)>],
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<SelectedPage>, RenderError> {
        let fields = self.job.parts.iter().zip(printed);
        let fields = fields.map(|(part, printed)| Fields::of(part, &printed.facts, self.instant, numbers.clone()));
        let filled = self.fill_templates(wanted, fields.collect()).await;
        let Filled {
            templates,
            warnings: more,
        } = filled.map_err(|error| self.failed(0, error))?;
        warnings.extend(more);
        let mut pages = Vec::new();
        let mut kept_of_part = Vec::new();
        let mut page = 0;
        for (templates, sizes) in templates.iter().zip(sizes) {
            let before = pages.len();
            for &size in sizes {
                page += 1;
                if self.job.selection.as_ref().is_none_or(|kept| kept.contains(page)) {
                    pages.push((page, size, Arc::clone(templates)));
                }
            }
            kept_of_part.push(pages.len() - before);
        }
        // Chromium fills those of one part, as if they were printed with it.
        if printed.len() > 1 {
            let checked = header_footer::check_pages(&templates, &kept_of_part);
            checked.map_err(|problem| RenderError::Problem { part: 0, problem })?;
        }
        Ok(pages)
    }

    /// Fills header and footer for parts with these fields, on a blocking thread.
    pub(crate) async fn fill_templates(&self, wanted: &HeaderFooter, fields: Vec<Fields>) -> Result<Filled, StepError> {
        let (wanted, ends_at) = (wanted.clone(), self.ends_at);
        let filled = blocking(move || header_footer::fill_all(&wanted, &fields, ends_at)).await;
        let filled = filled.map_err(|error| StepError::Protocol(error.to_string()))?;
        filled.map_err(|error| match error {
            FillError::Problem(problem) => StepError::Problem(problem),
            FillError::Late => StepError::Late,
        })
    }
}

async fn print_blank(
    session: &mut Session,
    html: &str,
    printing: &Printing,
    printed: &PrintedBytes,
) -> Result<Vec<u8>, StepError> {
    session.begin(0, MediaType::Print, false).await?;
    load::put_content(session, html).await?.await?;
    load::wait_until_loaded(session, false).await?;
    print::print(session, printing, printed).await
}

/// Returns the paper size, in thousandths of an inch, for a page with this size in points: that of the job if it is
/// equal within [`SAME_SIZE`].
fn sheet((width, height): (f64, f64), print: &PrintSettings) -> [u32; 2] {
    let is_own = (width - print.paper_width * POINTS).abs() < SAME_SIZE
        && (height - print.paper_height * POINTS).abs() < SAME_SIZE;
    let sides = if is_own {
        [print.paper_width, print.paper_height]
    } else {
        [width / POINTS, height / POINTS]
    };
    sides.map(|inches| (inches * 1000.0).round() as u32)
}

/// Returns the number of pages of all parts.
fn page_count(sizes: &[Vec<(f64, f64)>]) -> usize {
    sizes.iter().map(Vec::len).sum()
}

/// Returns a document of `pages` blank pages.
fn blank(pages: usize) -> String {
    const START: &str = "<!doctype html><style>body{margin:0}p{margin:0;height:1px}p+p{break-before:page}</style>";
    START.to_owned() + &"<p></p>".repeat(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_jobs_own_size_are_printed_on_its_sheet() {
        let print = PrintSettings {
            paper_width: 210.0 / 25.4,
            paper_height: 297.0 / 25.4,
            margins: [0.0; 4],
            scale: 1.0,
            backgrounds: true,
            prefer_css_page_size: true,
            header_footer: None,
        };
        assert_eq!(sheet((594.959_96, 841.919_98), &print), [8268, 11693]);
        assert_eq!(sheet((841.919_98, 594.959_96), &print), [11693, 8263]);
        assert_eq!(sheet((720.0, 360.0), &print), [10_000, 5_000]);
    }
}
