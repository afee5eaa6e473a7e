//! Shares equal objects of several files: fonts, images, profiles and everything else that pages draw with.

use std::collections::HashMap;

use memchr::memmem;

use crate::PdfError;
use crate::document::Document;
use crate::object::ObjectNumber;
use crate::page_tree::list_resources;

/// Nesting of resources up to which they are compared. An image has two levels, a font four; groups that a page nests
/// deeper than this are not shared.
pub(crate) const MAX_DEPTH: usize = 64;

/// Finds equal objects in the resources of `pages`, including everything that they refer to, and replaces them by the
/// first one. Objects with a key of the structure tree are never equal, nor are forms with text, which completion may make
/// content of an element on its page, nor objects that contain them.
pub(crate) fn share_equal_objects(document: &mut Document, pages: &[ObjectNumber]) -> Result<(), PdfError> {
    let resources = list_resources(document, pages)?;
    let mut comparison = Comparison {
        document,
        first_equal: vec![0; document.size() as usize],
        by_content: HashMap::new(),
    };
    for number in resources {
        comparison.first_equal(number, 0)?;
    }
    let first_equal = comparison.first_equal;
    for part in document.parts_mut() {
        for number in part.first_number..part.end() {
            let first = first_equal.get(number as usize).copied().unwrap_or_default();
            if first != 0 && first != number {
                part.replace(number, first);
            }
        }
    }
    Ok(())
}

struct Comparison<'d, 'a> {
    document: &'d Document<'a>,
    /// By object number: the first equal object; 0 if the object was not compared.
    first_equal: Vec<ObjectNumber>,
    /// By an object's tokens, with references replaced by those to the first equal objects, and its stream.
    by_content: HashMap<(Vec<u8>, &'a [u8]), ObjectNumber>,
}

impl Comparison<'_, '_> {
    fn first_equal(&mut self, number: ObjectNumber, depth: usize) -> Result<ObjectNumber, PdfError> {
        let Some(known) = self.first_equal.get_mut(number as usize) else {
            return Ok(number);
        };
        if *known != 0 || depth > MAX_DEPTH {
            return Ok(if *known == 0 { number } else { *known });
        }
        // An object that refers back to itself equals no other.
        *known = number;
        for reference in self.document.references(number)? {
            self.first_equal(reference, depth + 1)?;
        }
        let Some(part) = self.document.part_of(number).filter(|_| !self.document.is_free(number)) else {
            return Ok(number);
        };
        let mut tokens = Vec::new();
        let stream = part.write_translated(number, &mut tokens, |reference| {
            match self.first_equal.get(reference as usize) {
                Some(0) | None => reference,
                Some(first) => *first,
            }
        })?;
        if !stream.is_empty() && memmem::find(&tokens, b"/Form").is_some() && self.draws_text(number)? {
            return Ok(number);
        }
        let first = *self.by_content.entry((tokens, stream)).or_insert(number);
        self.first_equal[number as usize] = first;
        Ok(first)
    }

    /// Returns whether a stream is a form that draws text.
    fn draws_text(&self, number: ObjectNumber) -> Result<bool, PdfError> {
        let stream = self.document.get_dictionary(number, "expected a form")?;
        let resources = self.document.resolve_dictionary(&stream, "Resources")?;
        Ok(stream.get("Subtype").is_some_and(|kind| kind.is_name("Form")) && resources.get("Font").is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Dictionary, Object, Stream};
    use crate::page_tree::list_pages;
    use crate::written_file::write_document;

    const NOTE: &[u8] = include_bytes!("../../tests/fixtures/note.pdf");

    #[test]
    fn forms_without_text_are_shared_and_so_are_the_fonts_of_others() {
        let mut note = Document::open(&[NOTE]).expect("a note");
        let font = note.add(Object::Dictionary(Dictionary::new([("Type", Object::name("Font"))])));
        let mut form = |content: &'static [u8], resources: Dictionary<'static>| {
            let entries = [
                ("Subtype", Object::name("Form")),
                ("Resources", Object::Dictionary(resources)),
            ];
            let stream = Stream::plain(Dictionary::new(entries), content);
            Object::Reference(note.add(Object::Stream(stream)))
        };
        let fonts = Object::Dictionary(Dictionary::new([("F", Object::Reference(font))]));
        let forms = [
            ("Text", form(b"BT (a) Tj ET", Dictionary::new([("Font", fonts)]))),
            ("Line", form(b"0 0 m 9 9 l S", Dictionary::default())),
        ];
        let resources = Dictionary::new([("XObject", Object::Dictionary(Dictionary::new(forms)))]);
        let page = list_pages(&note, note.root().expect("a catalog")).expect("pages")[0];
        let mut changed = note.get_dictionary(page, "a page").expect("a page");
        changed.set("Resources", Object::Dictionary(resources));
        note.set(page, Object::Dictionary(changed));
        let trailer = note.trailer();
        let bytes = write_document(note, &[], trailer).expect("small").bytes;

        let mut twice = Document::open(&[&bytes, &bytes]).expect("two notes");
        let pages = twice.parts().iter().map(|part| {
            let root = Document::root_of(part).expect("a catalog");
            list_pages(&twice, root).expect("pages")[0]
        });
        let pages: Vec<ObjectNumber> = pages.collect();
        share_equal_objects(&mut twice, &pages).expect("valid");
        let of_page = |page: ObjectNumber| {
            let page = twice.get_dictionary(page, "a page").expect("a page");
            let resources = twice.resolve_dictionary(&page, "Resources").expect("resources");
            let forms = twice.resolve_dictionary(&resources, "XObject").expect("forms");
            let [text, line] = ["Text", "Line"].map(|name| forms.reference(name).expect("a form"));
            let form = twice.get_dictionary(text, "a form").expect("a form");
            let resources = twice.resolve_dictionary(&form, "Resources").expect("resources");
            let fonts = twice.resolve_dictionary(&resources, "Font").expect("fonts");
            [text, line, fonts.reference("F").expect("a font")]
        };
        let [first, second] = [of_page(pages[0]), of_page(pages[1])];
        assert_ne!(first[0], second[0]);
        assert_eq!(first[1..], second[1..]);
    }
}
