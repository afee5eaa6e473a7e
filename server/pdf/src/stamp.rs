//! Draws separately printed running headers and footers over pages.

mod column;

use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber, Stream};
use crate::overlay::{Artifact, Overlay};
use crate::page_tree::media_box;
use crate::{PdfError, StampLayout, Stamps};
use column::Column;

/// A header and footer that is drawn on one page.
#[derive(Debug)]
struct Stamp<'a> {
    /// A form `XObject` (ISO 32000-1, 8.10).
    form: Stream<'a>,
    /// References to annotations.
    links: Vec<Object<'a>>,
}

/// Draws each set of stamps over those of the document's `pages` that it names. `drawn` are the pages of each set's
/// PDF.
pub(crate) fn draw_stamps<'a>(
    document: &mut Document<'a>,
    overlay: &mut Overlay<'a>,
    pages: &[ObjectNumber],
    stamps: &[Stamps],
    drawn: &[Vec<ObjectNumber>],
) -> Result<(), PdfError> {
    for (index, (set, drawn)) in stamps.iter().zip(drawn).enumerate() {
        let (needed, mut column) = match (set.layout, drawn.first()) {
            (StampLayout::Column { pitch }, Some(page)) => {
                (1, Some(Column::cut(document, *page, pitch, set.pages.len())?))
            }
            _ => (set.pages.len(), None),
        };
        if drawn.len() != needed {
            return Err(PdfError::StampCount {
                stamps: drawn.len(),
                pages: set.pages.len(),
            });
        }
        let artifact = Artifact::new(document, format!("PlatenStamp{}", index + 1), "/Type /Pagination");
        for (index, page) in set.pages.iter().enumerate() {
            let number = page.checked_sub(1).and_then(|index| pages.get(index)).copied();
            let number = number.ok_or(PdfError::PageBeyondEnd {
                page: *page,
                page_count: pages.len(),
            })?;
            let mut page = document.get_dictionary(number, "expected a page")?;
            let stamp = match &mut column {
                Some(column) => {
                    let corners = media_box(&page);
                    let corners = corners.ok_or_else(|| document.damaged(number, "expected a /MediaBox"))?;
                    column.stamp(document, index, corners)
                }
                None => whole_page(document, drawn[index])?,
            };
            let form = document.add(Object::Stream(stamp.form));
            overlay.draw(document, (number, &mut page), &artifact, form)?;
            add_links(&mut page, &stamp.links);
            document.set(number, Object::Dictionary(page));
        }
    }
    Ok(())
}

fn whole_page<'a>(document: &Document<'a>, number: ObjectNumber) -> Result<Stamp<'a>, PdfError> {
    let page = document.get_dictionary(number, "expected a page")?;
    Ok(Stamp {
        form: form(document, &page)?,
        links: page.items("Annots").to_vec(),
    })
}

/// Returns a page as a form with the same content.
fn form<'a>(document: &Document<'a>, page: &Dictionary<'a>) -> Result<Stream<'a>, PdfError> {
    let content = match page.get("Contents") {
        Some(content) => document.resolve(content)?,
        None => Object::Stream(Stream::plain(Dictionary::default(), b"".as_slice())),
    };
    let Object::Stream(mut stream) = content else {
        return Err(PdfError::damaged(
            0,
            "expected a single content stream in the page of a header and footer",
        ));
    };
    let entries = [
        ("Type", Some(Object::name("XObject"))),
        ("Subtype", Some(Object::name("Form"))),
        ("BBox", page.get("MediaBox").cloned()),
        ("Resources", page.get("Resources").cloned()),
    ];
    for (key, value) in entries {
        if let Some(value) = value {
            stream.dictionary.set(key, value);
        }
    }
    Ok(stream)
}

/// Adds the stamp's links to a page. They have no structure element yet.
fn add_links<'a>(page: &mut Dictionary<'a>, links: &[Object<'a>]) {
    if !links.is_empty() {
        let annotations = page.items("Annots").iter().chain(links);
        page.set("Annots", annotations.cloned().collect());
    }
}
