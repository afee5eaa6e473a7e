//! Draws forms over pages as artifacts, which are not part of the content (ISO 32000-1, 14.8.2.2).

use std::collections::BTreeSet;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber, Stream};

/// Chromium's content begins by changing the coordinate system. Saving and restoring the graphics state around it
/// protects the content that follows.
const BEFORE_CONTENT: &[u8] = b"q\n";
const AFTER_CONTENT: &[u8] = b"\nQ\n";

/// An artifact of several pages. Each page draws its own form, under the same name.
#[derive(Debug)]
pub(crate) struct Artifact<'a> {
    name: String,
    /// The content stream that draws the form.
    content: Object<'a>,
}

impl<'a> Artifact<'a> {
    /// `properties` are the entries of its property list (ISO 32000-1, table 330).
    pub(crate) fn new(document: &mut Document<'a>, name: String, properties: &str) -> Self {
        let content = format!("/Artifact <<{properties}>> BDC q /{name} Do Q EMC\n");
        let content = add_content(document, content.as_bytes());
        Self { name, content }
    }
}

/// Records which pages have been drawn over.
#[derive(Debug, Default)]
pub(crate) struct Overlay<'a> {
    covered: BTreeSet<ObjectNumber>,
    /// Content streams inserted before and after a page's own.
    around: Option<[Object<'a>; 2]>,
}

impl<'a> Overlay<'a> {
    /// Draws the form of number `form` over a page. Updates the page's dictionary, but does not write it to the
    /// document.
    pub(crate) fn draw(
        &mut self,
        document: &mut Document<'a>,
        (number, page): (ObjectNumber, &mut Dictionary<'a>),
        artifact: &Artifact<'a>,
        form: ObjectNumber,
    ) -> Result<(), PdfError> {
        let mut contents = page.items("Contents").to_vec();
        if self.covered.insert(number) {
            let [before, after] = self
                .around
                .get_or_insert_with(|| [BEFORE_CONTENT, AFTER_CONTENT].map(|content| add_content(document, content)));
            contents.insert(0, before.clone());
            contents.push(after.clone());
        }
        contents.push(artifact.content.clone());
        page.set("Contents", Object::Array(contents));
        add_drawing(page, artifact.name.as_bytes(), Object::Reference(form))
            .ok_or_else(|| document.damaged(number, "expected direct resources in a page"))
    }
}

/// Adds a form to the resources of a page. Returns `None` if the page does not contain its resources directly, as
/// Chromium writes them: copying shared resources for each page could turn a small file into a large one.
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
