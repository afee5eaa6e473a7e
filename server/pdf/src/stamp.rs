//! Draws pages over pages: running headers and footers, which were printed apart.

use std::collections::BTreeSet;

use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber, Stream};
use crate::{PdfError, Stamps};

/// Chromium's own content begins by changing the coordinate system, and is kept from changing it for the stamp.
const BEFORE_CONTENT: &[u8] = b"q\n";
const AFTER_CONTENT: &[u8] = b"\nQ\n";

/// Draws the pages of each set over the document's `pages` that it names. `drawn` are the pages of the sets.
pub(crate) fn draw_stamps(
    document: &mut Document,
    pages: &[ObjectNumber],
    stamps: &[Stamps],
    drawn: &[Vec<ObjectNumber>],
) -> Result<(), PdfError> {
    let before = add_content(document, BEFORE_CONTENT);
    let after = add_content(document, AFTER_CONTENT);
    let mut stamped = BTreeSet::new();
    for (index, (set, drawn)) in stamps.iter().zip(drawn).enumerate() {
        if set.pages.len() != drawn.len() {
            return Err(PdfError::StampCount {
                stamps: drawn.len(),
                pages: set.pages.len(),
            });
        }
        let name = format!("PlatenStamp{}", index + 1);
        // An artifact: no content of its own, but part of the page's furniture (ISO 32000-1, 14.8.2.2).
        let draw = format!("/Artifact <</Type /Pagination>> BDC q /{name} Do Q EMC\n");
        let draw = add_content(document, draw.as_bytes());
        for (page, stamp) in set.pages.iter().zip(drawn) {
            let number = page.checked_sub(1).and_then(|index| pages.get(index)).copied();
            let number = number.ok_or(PdfError::PageBeyondEnd {
                page: *page,
                page_count: pages.len(),
            })?;
            let mut page = document.get_dictionary(number, "a page expected")?;
            let mut contents = page.items("Contents").to_vec();
            if stamped.insert(number) {
                contents.insert(0, before.clone());
                contents.push(after.clone());
            }
            contents.push(draw.clone());
            page.set("Contents", Object::Array(contents));
            let stamp = document.get_dictionary(*stamp, "a page expected")?;
            let form = form(document, &stamp)?;
            let form = Object::Reference(document.add(Object::Stream(form)));
            add_drawing(&mut page, name.as_bytes(), form)
                .ok_or_else(|| document.damaged(number, "resources of its own expected in a page"))?;
            add_links(&mut page, &stamp);
            document.set(number, Object::Dictionary(page));
        }
    }
    Ok(())
}

/// Makes a form known to a page by a name. `None` if the page does not hold its resources itself, as Chromium writes
/// them: to copy for each page what they share could make much of little.
fn add_drawing<'a>(page: &mut Dictionary<'a>, name: &[u8], form: Object<'a>) -> Option<()> {
    let resources = page.get_mut("Resources")?;
    let Object::Dictionary(resources) = resources else {
        return None;
    };
    match resources.get_mut("XObject") {
        Some(Object::Dictionary(drawings)) => drawings.insert(name.to_vec(), form),
        Some(_) => return None,
        None => {
            let entries = vec![(name.to_vec().into(), form)];
            resources.set("XObject", Object::Dictionary(Dictionary { entries }));
        }
    }
    Some(())
}

fn add_content<'a>(document: &mut Document<'a>, content: &[u8]) -> Object<'a> {
    let stream = Stream::plain(Dictionary::default(), content.to_vec());
    Object::Reference(document.add(Object::Stream(stream)))
}

/// The page as a form `XObject` (ISO 32000-1, 8.10), its content as it is.
fn form<'a>(document: &Document<'a>, page: &Dictionary<'a>) -> Result<Stream<'a>, PdfError> {
    let content = match page.get("Contents") {
        Some(content) => document.resolve(content)?,
        None => Object::Stream(Stream::plain(Dictionary::default(), b"".as_slice())),
    };
    let Object::Stream(mut stream) = content else {
        return Err(PdfError::Damaged {
            offset: 0,
            what: "one content stream expected in the page of a header and footer",
        });
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

/// Takes over the stamp's links. They are outside the structure tree, like the stamp.
fn add_links<'a>(page: &mut Dictionary<'a>, stamp: &Dictionary<'a>) {
    let links = stamp.items("Annots");
    if !links.is_empty() {
        let annotations = page.items("Annots").iter().chain(links);
        page.set("Annots", annotations.cloned().collect());
    }
}
