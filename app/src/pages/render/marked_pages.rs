//! Pictures of a document's pages, on which the places of findings are marked with their numbers in the report. Each
//! mark links to its finding.

use leptos::prelude::*;
use platen_domain::{
    ids::RenderId,
    render::{accessibility::Finding, thumbnail::ListedThumbnail},
};

use crate::pages::renders;

/// Height of a number, as a share of the page's longer side.
const NUMBER_HEIGHT: f64 = 1.0 / 32.0;
/// Distance of a mark from its place, in points.
const MARGIN: f64 = 2.0;

/// A place on a page, in points from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Mark {
    /// Number of the finding, from 1.
    number: usize,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    /// Left and top of the number.
    number_at: (f64, f64),
}

/// The marks of a page, and its width and height in points.
#[derive(Debug, Clone, PartialEq)]
struct MarkedPage {
    size: (f64, f64),
    marks: Vec<Mark>,
}

impl MarkedPage {
    /// Height of a number, in points.
    fn number_height(&self) -> f64 {
        self.size.0.max(self.size.1) * NUMBER_HEIGHT
    }
}

/// Returns whether a finding has a place that is marked on one of these pictures.
pub(super) fn is_marked(finding: &Finding, pictures: &[ListedThumbnail]) -> bool {
    let is_pictured = |picture: &ListedThumbnail| usize::try_from(picture.page).ok() == finding.page;
    finding.rectangle.is_some() && finding.page_size.is_some() && pictures.iter().any(is_pictured)
}

/// Returns the marks of a page, or `None` if no finding has a place on it.
fn marked_page(page: usize, findings: &[Finding]) -> Option<MarkedPage> {
    let mut marked: Option<MarkedPage> = None;
    for (finding, number) in findings.iter().zip(1..) {
        let (Some([left, bottom, right, top]), Some(size)) = (finding.rectangle, finding.page_size) else {
            continue;
        };
        if finding.page != Some(page) {
            continue;
        }
        let marked = marked.get_or_insert(MarkedPage {
            size,
            marks: Vec::new(),
        });
        let (width, height) = marked.size;
        let edge = marked.number_height();
        let [x, end] = [left - MARGIN, right + MARGIN].map(|x| within(x, width));
        let [y, foot] = [top + MARGIN, bottom - MARGIN].map(|y| within(height - y, height));
        // Beside the place, if there is room in the margin. Numbers of the same place stand below each other.
        let mut number_at = (within(x - edge, width - edge), within(y, height - edge));
        while marked.marks.iter().any(|mark| mark.number_at == number_at) && number_at.1 + 2.0 * edge <= height {
            number_at.1 += edge;
        }
        marked.marks.push(Mark {
            number,
            x,
            y,
            width: end - x,
            height: foot - y,
            number_at,
        });
    }
    // Later marks are above earlier ones, so that a large place covers no small one.
    if let Some(page) = &mut marked {
        let extent = |mark: &Mark| mark.width * mark.height;
        page.marks.sort_by(|one, other| extent(other).total_cmp(&extent(one)));
    }
    marked
}

/// Returns the nearest coordinate from 0 to `most`, or 0 if there is none.
fn within(coordinate: f64, most: f64) -> f64 {
    coordinate.min(most).max(0.0)
}

/// The pictures of those pages that have findings with places.
#[component]
pub(super) fn MarkedPages(findings: Vec<Finding>, pictures: Vec<ListedThumbnail>, render: RenderId) -> impl IntoView {
    let figures = pictures.into_iter().filter_map(|picture| {
        let marked = marked_page(usize::try_from(picture.page).ok()?, &findings)?;
        Some(figure(picture, &marked, &findings, render))
    });
    let figures: Vec<_> = figures.collect();
    (!figures.is_empty()).then(|| view! { <div class="marked-pages">{figures}</div> })
}

fn figure(
    picture: ListedThumbnail,
    marked: &MarkedPage,
    findings: &[Finding],
    render: RenderId,
) -> impl IntoView + use<> {
    let page = picture.page;
    let (width, height) = marked.size;
    let side = marked.number_height();
    let marks: Vec<_> = marked.marks.iter().map(|mark| view_of(*mark, side, findings)).collect();
    view! {
        <figure class="marked-page">
            <figcaption class="small">{format!("Page {page}")}</figcaption>
            <div class="marked-page__frame">
                <img
                    class="page-image"
                    src=format!("{}/{render}/pages/{page}.png", renders::PATH)
                    width=picture.width.to_string()
                    height=picture.height.to_string()
                    alt=""
                    loading="lazy"
                />
                <svg
                    class="marked-page__marks"
                    viewBox=format!("0 0 {width} {height}")
                    preserveAspectRatio="none"
                    role="group"
                    aria-label=format!("Findings on page {page}")
                    font-size=(side * 0.7).to_string()
                >
                    {marks}
                </svg>
            </div>
        </figure>
    }
}

fn view_of(mark: Mark, side: f64, findings: &[Finding]) -> impl IntoView + use<> {
    let Mark {
        number,
        x,
        y,
        width,
        height,
        number_at: (left, top),
    } = mark;
    let message = findings
        .get(number - 1)
        .map(|finding| finding.message.as_str())
        .unwrap_or_default();
    view! {
        <a
            class="marked-page__mark"
            id=format!("place-{number}")
            href=format!("#finding-{number}")
            aria-label=format!("Finding {number}: {message}")
        >
            <rect class="marked-page__place" x=x y=y width=width height=height />
            <rect class="marked-page__number" x=left y=top width=side height=side />
            <text x=left + side / 2.0 y=top + side * 0.75 text-anchor="middle">
                {number}
            </text>
        </a>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(page: usize, rectangle: Option<[f64; 4]>) -> Finding {
        Finding {
            clauses: Vec::new(),
            criterion: None,
            matterhorn: None,
            message: "The heading skips a level.".into(),
            part: None,
            page: Some(page),
            element: None,
            selector: None,
            text: None,
            rectangle,
            page_size: rectangle.map(|_| (320.0, 640.0)),
        }
    }

    #[test]
    fn places_are_marked_from_the_upper_left_corner_of_their_page() {
        let findings = [
            finding(2, None),
            finding(1, Some([0.0, 0.0, 1.0, 1.0])),
            finding(2, Some([100.0, 500.0, 150.0, 540.0])),
            finding(2, Some([100.0, 500.0, 150.0, 540.0])),
            finding(2, Some([-10.0, -10.0, 900.0, 900.0])),
        ];
        let page = marked_page(2, &findings).expect("places");
        let marks: Vec<_> = page
            .marks
            .iter()
            .map(|mark| (mark.number, mark.x, mark.y, mark.width, mark.height))
            .collect();
        // Nothing is outside of the page, and the largest place is below the others.
        assert_eq!(marks[0], (5, 0.0, 0.0, 320.0, 640.0));
        assert_eq!(marks[1..], [(3, 98.0, 98.0, 54.0, 44.0), (4, 98.0, 98.0, 54.0, 44.0)]);
        let numbers: Vec<_> = page.marks.iter().map(|mark| mark.number_at).collect();
        assert_eq!(numbers, [(0.0, 0.0), (78.0, 98.0), (78.0, 118.0)]);
        assert_eq!(marked_page(3, &findings), None);
        // Numbers are wider than this page.
        let narrow = Finding {
            page_size: Some((3.0, 14_400.0)),
            ..findings[1].clone()
        };
        let page = marked_page(1, &[narrow]).expect("a place");
        assert_eq!(
            (page.marks[0].x, page.marks[0].width, page.marks[0].number_at.0),
            (0.0, 3.0, 0.0)
        );
        let picture = |page| ListedThumbnail {
            page,
            width: 1,
            height: 2,
            drawn: true,
        };
        assert!(is_marked(&findings[2], &[picture(1), picture(2)]) && !is_marked(&findings[2], &[picture(1)]));
        assert!(!is_marked(&findings[0], &[picture(2)]));
    }
}
