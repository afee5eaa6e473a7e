//! What differs between the pages of two documents.

use serde::{Deserialize, Serialize};

use crate::number::counted;

/// Maximum number of pages of each document that are compared.
pub const MOST_COMPARED_PAGES: usize = 100;
/// Maximum number of changed pages of which there are pictures.
pub const MOST_PICTURED_PAGES: usize = 20;

/// The outcome of rendering two versions of a template with the same data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    Compared(PageComparison),
    /// A version can't be rendered with the data, or the pages can't be compared.
    Failed {
        /// Number of the version that can't be rendered.
        version: Option<i32>,
        /// A sentence.
        message: String,
    },
}

/// Pages of two documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageComparison {
    /// Number of pages of the older document.
    pub older_pages: usize,
    /// Number of pages of the newer document.
    pub newer_pages: usize,
    /// The compared pages, at most [`MOST_COMPARED_PAGES`].
    pub pages: Vec<ComparedPage>,
}

/// The pages with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedPage {
    /// From 1.
    pub number: usize,
    pub change: PageChange,
    /// `None` for pages without a change, and for those beyond [`MOST_PICTURED_PAGES`].
    pub pictures: Option<Pictures>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PageChange {
    Unchanged,
    Changed {
        /// Number of pixels that differ.
        pixels: usize,
    },
    /// Only the newer document has this page.
    Added,
    /// Only the older document has this page.
    Removed,
}

/// Pictures of a changed page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pictures {
    pub before: Option<Picture>,
    pub after: Option<Picture>,
    /// A pale copy with removed pixels in red and added pixels in green.
    pub difference: Option<Picture>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// In pixels.
    pub width: usize,
    /// In pixels.
    pub height: usize,
    /// PNG file in base64.
    pub png: String,
}

impl ComparedPage {
    /// Returns how much of a changed page differs, such as `0.4 % of the page differs`. `None` without pictures, which
    /// tell the size of the page.
    pub fn extent(&self) -> Option<String> {
        let PageChange::Changed { pixels } = self.change else {
            return None;
        };
        let Picture { width, height, .. } = self.pictures.as_ref()?.difference.as_ref()?;
        let permille = (1000 * pixels).checked_div(width * height)?;
        let share = match permille {
            0 => "Less than 0.1 %".to_owned(),
            1..100 => format!("{}.{} %", permille / 10, permille % 10),
            _ => format!("{} %", permille / 10),
        };
        Some(format!("{share} of the page differs"))
    }
}

impl PageComparison {
    /// Returns the pages with a visible change.
    pub fn changed(&self) -> impl Iterator<Item = &ComparedPage> {
        self.pages.iter().filter(|page| page.change != PageChange::Unchanged)
    }

    /// Returns whether pages were left out of the comparison.
    pub fn is_partial(&self) -> bool {
        self.older_pages.max(self.newer_pages) > self.pages.len()
    }

    /// Returns a summary, such as `2 of 5 pages differ, 1 page more`.
    pub fn summary(&self) -> String {
        let is_changed = |page: &&ComparedPage| matches!(page.change, PageChange::Changed { .. });
        let changed = self.pages.iter().filter(is_changed).count();
        let common = self.older_pages.min(self.newer_pages);
        let pages = counted(common, "page", "pages");
        let differ = if changed == 1 { "differs" } else { "differ" };
        let changed = (changed > 0).then(|| format!("{changed} of {pages} {differ}"));
        let pages = |count: usize| counted(count, "page", "pages");
        let more = self.newer_pages.checked_sub(self.older_pages).filter(|more| *more > 0);
        let fewer = self
            .older_pages
            .checked_sub(self.newer_pages)
            .filter(|fewer| *fewer > 0);
        let counts = more.map(|more| format!("{} more", pages(more)));
        let counts = counts.or_else(|| fewer.map(|fewer| format!("{} fewer", pages(fewer))));
        let parts: Vec<_> = changed.into_iter().chain(counts).collect();
        if parts.is_empty() {
            "No visible change".to_owned()
        } else {
            parts.join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(older_pages: usize, newer_pages: usize, changed: &[usize]) -> String {
        let change = |number: usize| match number {
            number if number > newer_pages => PageChange::Removed,
            number if number > older_pages => PageChange::Added,
            number if changed.contains(&number) => PageChange::Changed { pixels: 1 },
            _ => PageChange::Unchanged,
        };
        let pages = (1..=older_pages.max(newer_pages)).map(|number| ComparedPage {
            number,
            change: change(number),
            pictures: None,
        });
        let comparison = PageComparison {
            older_pages,
            newer_pages,
            pages: pages.collect(),
        };
        comparison.summary()
    }

    #[test]
    fn a_summary_counts_pages() {
        assert_eq!(summary(5, 5, &[]), "No visible change");
        assert_eq!(summary(5, 5, &[1, 4]), "2 of 5 pages differ");
        assert_eq!(summary(1, 1, &[1]), "1 of 1 page differs");
        assert_eq!(summary(1, 2, &[]), "1 page more");
        assert_eq!(summary(4, 2, &[2]), "1 of 2 pages differs, 2 pages fewer");
    }

    #[test]
    fn the_extent_of_a_change_is_a_share_of_the_page() {
        let extent = |pixels| {
            let difference = Picture {
                width: 100,
                height: 200,
                png: String::new(),
            };
            let page = ComparedPage {
                number: 1,
                change: PageChange::Changed { pixels },
                pictures: Some(Pictures {
                    before: None,
                    after: None,
                    difference: Some(difference),
                }),
            };
            page.extent()
        };
        for (pixels, expected) in [
            (1, "Less than 0.1 % of the page differs"),
            (80, "0.4 % of the page differs"),
            (1999, "9.9 % of the page differs"),
            (20_000, "100 % of the page differs"),
        ] {
            assert_eq!(extent(pixels).as_deref(), Some(expected));
        }
    }
}
