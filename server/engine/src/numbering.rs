//! Headers and footers that run through several parts.
//!
//! Chromium numbers the pages of one document only. So the parts are printed without header and footer, and a blank
//! document with as many pages as all parts together is printed with them: Chromium fills in `pageNumber` and
//! `totalPages`. Its pages are then drawn over those of the parts.

use std::collections::BTreeMap;

use crate::{
    assembly::{PageSizes, blocking},
    error::RenderError,
    header_footer::{self, Fields},
    job::{HeaderFooter, MediaType, Phase, PrintSettings, Warning},
    part::Printed,
    render::Render,
    session::{Afterlife, Scripts, Session},
    steps::{
        StepError, load,
        print::{self, Printing, Templates},
    },
};

/// Points to an inch.
const POINTS: f64 = 72.0;
/// Sheets whose sides differ by less, in points, are of one size: Chromium rounds.
const SAME_SIZE: f64 = 1.0;

/// Blank pages with header and footer, and the pages that they belong to.
pub(crate) struct StampPages {
    pub(crate) bytes: Vec<u8>,
    /// From 1, in the document of all parts.
    pub(crate) pages: Vec<usize>,
}

/// Pages that one blank document serves.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Look {
    /// Width and height, in thousandths of an inch.
    sheet: [u32; 2],
    templates: Templates,
}

impl Render<'_> {
    /// Prints header and footer for the pages of several parts that will be kept.
    pub(crate) async fn number(
        &self,
        printed: Vec<Printed>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Vec<Printed>, Vec<StampPages>), RenderError> {
        let several = printed.len() > 1;
        let Some(wanted) = self.job.print.header_footer.as_ref().filter(|_| several) else {
            return Ok((printed, Vec::new()));
        };
        let mut stamps = Vec::new();
        self.progress.enter_together(Phase::Print);
        let limit = self.job.page_limit;
        let (printed, sizes) = blocking(move || {
            let sizes = PageSizes::of(&printed, limit);
            (printed, sizes)
        })
        .await?;
        let sizes = sizes?;
        let blank = blank(sizes.total());
        for (look, pages) in self.looks(wanted, &printed, &sizes, warnings) {
            let settings = PrintSettings {
                paper_width: f64::from(look.sheet[0]) / 1000.0,
                paper_height: f64::from(look.sheet[1]) / 1000.0,
                prefer_css_page_size: false,
                ..self.job.print.clone()
            };
            let printing = Printing::blank(&settings, look.templates, &pages);
            let bytes = self.print_blank(&blank, &printing).await?;
            stamps.push(StampPages { bytes, pages });
        }
        Ok((printed, stamps))
    }

    async fn print_blank(&self, html: &str, printing: &Printing) -> Result<Vec<u8>, RenderError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let mut attempt = self.attempt(tries).await?;
            match print_blank(attempt.lease.session(), html, printing).await {
                Ok(bytes) => {
                    attempt.lease.give_back(Afterlife::Keep);
                    return Ok(bytes);
                }
                Err(error) => self.recover(0, attempt, error).await?,
            }
        }
    }

    /// The pages, numbered from 1, by what their header and footer look like.
    fn looks(
        &self,
        wanted: &HeaderFooter,
        printed: &[Printed],
        sizes: &PageSizes,
        warnings: &mut Vec<Warning>,
    ) -> BTreeMap<Look, Vec<usize>> {
        let mut looks = BTreeMap::new();
        let mut said = Vec::new();
        let mut page = 0;
        for ((part, printed), sizes) in self.job.parts.iter().zip(printed).zip(sizes.by_part()) {
            let fields = Fields::of(part, &printed.facts, self.instant);
            let templates = header_footer::fill_both(wanted, &fields, &mut said);
            for size in sizes {
                page += 1;
                let look = Look {
                    sheet: sheet(*size, &self.job.print),
                    templates: templates.clone(),
                };
                if self.job.selection.as_ref().is_none_or(|kept| kept.contains(page)) {
                    looks.entry(look).or_insert_with(Vec::new).push(page);
                }
            }
        }
        // What is wrong with a template is wrong with it in every part.
        said.sort_by_key(|warning| warning.message.clone());
        said.dedup();
        warnings.extend(said);
        looks
    }
}

async fn print_blank(session: &mut Session, html: &str, printing: &Printing) -> Result<Vec<u8>, StepError> {
    session.begin(MediaType::Print, Scripts::Disabled).await?;
    load::put_content(session, html.to_owned()).await?.await?;
    load::wait_until_loaded(session, false).await?;
    print::print(session, printing).await
}

/// The sheet to print on for a page of this size in points: the job's own if it is that.
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

/// A document of so many blank pages.
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
