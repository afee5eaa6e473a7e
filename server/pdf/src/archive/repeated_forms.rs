//! Copies tagged forms that are drawn more than once, as Chromium draws masked content: content of an element may be
//! drawn only once (ISO 14289-1, 7.20). The copy is without tags.

use std::collections::BTreeMap;

use super::external_objects::{ExternalObjects, MAX_DEPTH};
use super::untagged::{Drawn, Operators, find_untagged};
use crate::PdfError;
use crate::content::{StreamReader, replace_data};
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber, Stream};

/// Copies without tags, by the forms that they are copies of.
#[derive(Debug, Default)]
pub(super) struct RepeatedForms {
    copies: BTreeMap<ObjectNumber, ObjectNumber>,
}

impl RepeatedForms {
    /// Returns the numbers of all copies.
    pub(super) fn copies(&self) -> Vec<ObjectNumber> {
        self.copies.values().copied().collect()
    }

    /// Returns the number of a copy of a form without tags. Forms within are copied, too.
    pub(super) fn copy(
        &mut self,
        document: &mut Document,
        objects: &mut ExternalObjects,
        number: ObjectNumber,
    ) -> Result<ObjectNumber, PdfError> {
        self.copy_at(document, objects, number, 0)
    }

    fn copy_at(
        &mut self,
        document: &mut Document,
        objects: &mut ExternalObjects,
        number: ObjectNumber,
        depth: usize,
    ) -> Result<ObjectNumber, PdfError> {
        if let Some(copy) = self.copies.get(&number) {
            return Ok(*copy);
        }
        let Object::Stream(mut form) = document.get(number)? else {
            return Ok(number);
        };
        if depth > MAX_DEPTH {
            return Ok(number);
        }
        let mut content = Vec::new();
        let read = StreamReader::default().read(&form, &mut content);
        read.map_err(|what| document.damaged(number, what))?;
        replace_data(&mut form, &without_tags(&content)?);
        form.dictionary.remove("StructParents");
        let copy = document.add(Object::Null);
        self.copies.insert(number, copy);
        self.copy_resources(document, objects, &mut form, depth)?;
        document.set(copy, Object::Stream(form));
        Ok(copy)
    }

    fn copy_resources<'a>(
        &mut self,
        document: &mut Document<'a>,
        objects: &mut ExternalObjects,
        form: &mut Stream<'a>,
        depth: usize,
    ) -> Result<(), PdfError> {
        let mut resources = document.resolve_dictionary(&form.dictionary, "Resources")?;
        let mut drawn: Dictionary = document.resolve_dictionary(&resources, "XObject")?;
        for (_, object) in &mut drawn.entries {
            if let Object::Reference(number) = object
                && objects.drawn(document, *number) == Drawn::Tagged
            {
                *number = self.copy_at(document, objects, *number, depth + 1)?;
            }
        }
        if !drawn.entries.is_empty() {
            resources.set("XObject", Object::Dictionary(drawn));
            form.dictionary.set("Resources", Object::Dictionary(resources));
        }
        Ok(())
    }
}

/// Returns content with its marked-content sequences, but without their identifiers.
fn without_tags(content: &[u8]) -> Result<Vec<u8>, PdfError> {
    let mut untagged = Vec::with_capacity(content.len());
    let mut copied = 0;
    for Operators { start, end } in find_untagged(content, None, &mut |_| Drawn::Decoration)?.tags {
        untagged.extend_from_slice(&content[copied..start]);
        untagged.extend_from_slice(b"/Span BMC");
        copied = end;
    }
    untagged.extend_from_slice(&content[copied..]);
    Ok(untagged)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &[u8] = include_bytes!("../../tests/fixtures/empty.pdf");

    fn form(document: &mut Document, content: &'static str, inner: Option<ObjectNumber>) -> ObjectNumber {
        let objects = inner.map(|number| ("F1".as_bytes().into(), Object::Reference(number)));
        let objects = Dictionary {
            entries: objects.into_iter().collect(),
        };
        let resources = Dictionary::new([("XObject", Object::Dictionary(objects))]);
        let dictionary = Dictionary::new([
            ("Subtype", Object::name("Form")),
            ("StructParents", Object::Integer(0)),
            ("Resources", Object::Dictionary(resources)),
        ]);
        document.add(Object::Stream(Stream::plain(dictionary, content.as_bytes())))
    }

    #[test]
    fn copies_draw_the_same_without_tags() {
        let mut document = Document::open(&[EMPTY]).expect("valid");
        let inner = form(&mut document, "/P <</MCID 0 >>BDC 0 0 9 9 re f EMC", None);
        let outer = form(
            &mut document,
            "q /F1 Do /Figure <</MCID 1 >>BDC /F1 Do EMC Q",
            Some(inner),
        );
        let (mut copies, mut objects) = (RepeatedForms::default(), ExternalObjects::default());
        let copy = copies.copy(&mut document, &mut objects, outer).expect("valid");
        assert_eq!(copies.copy(&mut document, &mut objects, outer), Ok(copy));
        assert_eq!(copies.copies().len(), 2);
        let mut contents = Vec::new();
        for number in copies.copies() {
            let Ok(Object::Stream(form)) = document.get(number) else {
                panic!("no form")
            };
            assert_eq!(form.dictionary.get("StructParents"), None);
            let resources = document
                .resolve_dictionary(&form.dictionary, "Resources")
                .expect("resources");
            let drawn = document.resolve_dictionary(&resources, "XObject").expect("objects");
            assert_ne!(drawn.reference("F1"), Some(inner));
            let mut content = Vec::new();
            StreamReader::default().read(&form, &mut content).expect("readable");
            contents.push(String::from_utf8(content).expect("ASCII"));
        }
        contents.sort();
        assert_eq!(
            contents,
            ["/Span BMC 0 0 9 9 re f EMC", "q /F1 Do /Span BMC /F1 Do EMC Q"]
        );
    }
}
