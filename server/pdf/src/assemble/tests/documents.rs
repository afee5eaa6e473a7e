//! Fixtures, and functions with which tests read documents.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use time::OffsetDateTime;

use crate::content::StreamReader;
use crate::destinations::Destinations;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::object_streams::tests::in_the_open;
use crate::page_tree::list_pages;
use crate::reach::Reach;
use crate::text::decode;
use crate::trees::{TreeKind, read_tree};
use crate::{Assembly, Completed, OutputFormat, PageFacts, PrintedPart, assemble};

pub(crate) const REPORT: &[u8] = include_bytes!("../../../tests/fixtures/report.pdf");
pub(crate) const LETTER: &[u8] = include_bytes!("../../../tests/fixtures/letter.pdf");
pub(crate) const NOTE: &[u8] = include_bytes!("../../../tests/fixtures/note.pdf");
/// Four stamps, the third of them empty.
pub(crate) const COLUMN: &[u8] = include_bytes!("../../../tests/fixtures/column.pdf");
pub(crate) const COLUMN_PITCH: f64 = 630.0;
pub(crate) const STAMPS: &[u8] = include_bytes!("../../../tests/fixtures/stamps.pdf");

pub(crate) const REPORT_PAGES: usize = 4;
pub(crate) const LETTER_PAGES: usize = 2;

/// Report, letter and note; the note has neither title nor language.
pub(crate) fn three_parts() -> Assembly<'static> {
    let part = |bytes: &'static [u8], title: Option<&str>, language: Option<&str>| PrintedPart {
        bytes: Cow::Borrowed(bytes),
        facts: PageFacts {
            title: title.map(Into::into),
            language: language.map(Into::into),
            ..PageFacts::default()
        },
    };
    Assembly {
        parts: vec![
            part(REPORT, Some("Report"), Some("en")),
            part(LETTER, Some("Lettre"), Some("fr")),
            part(NOTE, None, None),
        ],
        stamps: Vec::new(),
        page_limit: usize::MAX,
        selection: None,
        watermark: None,
        format: OutputFormat::PdfA2b,
        instant: OffsetDateTime::UNIX_EPOCH,
    }
}

/// Assembles a document and unpacks it.
pub(crate) fn assembled(assembly: &Assembly) -> Completed {
    in_the_open(assemble(assembly.clone()).expect("parts that can be joined"))
}

/// Returns the codes of the warnings. The report's only image, 24 pixels wide on a quarter of an inch, has a low
/// resolution.
pub(crate) fn codes(completed: &Completed) -> Vec<&'static str> {
    completed.warnings.iter().map(|warning| warning.code).collect()
}

pub(crate) fn open(bytes: &[u8]) -> Document<'_> {
    Document::open(&[bytes]).expect("a file that is whole")
}

pub(crate) fn catalog<'a>(document: &Document<'a>) -> Dictionary<'a> {
    document.catalog_of(&document.parts()[0]).expect("a catalog")
}

pub(crate) fn pages(document: &Document) -> Vec<ObjectNumber> {
    list_pages(document, document.root().expect("a catalog")).expect("pages")
}

pub(crate) fn dictionary<'a>(document: &Document<'a>, number: ObjectNumber) -> Dictionary<'a> {
    document.get_dictionary(number, "a dictionary").expect("a dictionary")
}

pub(crate) fn data(document: &Document, object: &Object) -> Vec<u8> {
    let Object::Stream(stream) = document.resolve(object).expect("an object") else {
        panic!("not a stream: {object:?}")
    };
    let mut data = Vec::new();
    StreamReader::default().read(&stream, &mut data).expect("readable");
    data
}

/// Returns the concatenated content streams of each page.
pub(crate) fn contents(document: &Document) -> Vec<Vec<u8>> {
    let of_page = |page| {
        let page = dictionary(document, page);
        page.items("Contents")
            .iter()
            .flat_map(|stream| data(document, stream))
            .collect()
    };
    pages(document).into_iter().map(of_page).collect()
}

/// Returns each link within the document: index of its page, index of its target page, position on that page.
pub(crate) fn inner_links(document: &Document) -> Vec<(usize, usize, String)> {
    let pages = pages(document);
    let destinations = Destinations::read(document).expect("destinations");
    let named = document
        .resolve_dictionary(&catalog(document), "Dests")
        .expect("destinations");
    let mut links = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        for annotation in dictionary(document, *page).items("Annots") {
            let annotation = dictionary(document, annotation.as_reference().expect("a reference"));
            let Some(destination) = annotation.get("Dest") else {
                continue;
            };
            let target = destinations.page(&annotation).expect("a page");
            let target = pages
                .iter()
                .position(|page| *page == target)
                .expect("a page of the document");
            let place = match destination {
                Object::Name(name) => named.get_bytes(name).expect("a destination"),
                explicit => explicit,
            };
            let place = document.resolve(place).expect("a destination");
            links.push((
                index,
                target,
                format!("{:?}", &place.as_array().expect("an array")[1..]),
            ));
        }
    }
    links
}

/// Returns an entry in the form of [`outline`].
pub(crate) fn outline_entry(depth: usize, title: &str, page: usize) -> (usize, String, usize) {
    (depth, title.to_owned(), page)
}

/// Returns each entry of the outline: its depth, its title and the index of its page. Checks the links between entries.
pub(crate) fn outline(document: &Document) -> Vec<(usize, String, usize)> {
    fn collect(document: &Document, owner: ObjectNumber, depth: usize, found: &mut Vec<(usize, String, usize)>) -> i64 {
        let pages = pages(document);
        let destinations = Destinations::read(document).expect("destinations");
        let owner_entry = dictionary(document, owner);
        let (mut next, mut former, mut visible) = (owner_entry.reference("First"), None, 0);
        while let Some(number) = next {
            let entry = dictionary(document, number);
            assert_eq!(entry.reference("Parent"), Some(owner));
            assert_eq!(entry.reference("Prev"), former);
            let page = destinations.page(&entry).expect("a page");
            let page = pages
                .iter()
                .position(|found| *found == page)
                .expect("a page of the document");
            let title = entry.get("Title").and_then(Object::as_string).expect("a title");
            found.push((depth, decode(title), page));
            visible += 1 + collect(document, number, depth + 1, found);
            (former, next) = (Some(number), entry.reference("Next"));
        }
        assert_eq!(owner_entry.reference("Last"), former);
        let count = owner_entry.get("Count").and_then(Object::as_integer);
        let count = count.unwrap_or_default();
        assert_eq!(count.abs(), visible);
        // What is below a closed entry is not visible.
        count.max(0)
    }
    let mut found = Vec::new();
    if let Some(outline) = catalog(document).reference("Outlines") {
        collect(document, outline, 0, &mut found);
    }
    found
}

/// Returns the structure elements in depth-first order. Checks that elements, pages, forms, annotations, parent tree
/// and identifiers refer to each other consistently.
pub(crate) fn elements<'a>(document: &Document<'a>) -> Vec<Dictionary<'a>> {
    let Some(root) = catalog(document).reference("StructTreeRoot") else {
        return Vec::new();
    };
    let tree = dictionary(document, root);
    let owners = owners(document, &tree);
    let mut found = Vec::new();
    let mut used_keys = BTreeSet::new();
    let mut identifiers = BTreeMap::new();
    let mut headers = Vec::new();
    let kids = tree.items("K");
    let mut waiting: Vec<(ObjectNumber, ObjectNumber)> = kids
        .iter()
        .rev()
        .map(|kid| (kid.as_reference().expect("an element"), root))
        .collect();
    while let Some((number, parent)) = waiting.pop() {
        let element = dictionary(document, number);
        assert_eq!(element.reference("P"), Some(parent), "element {number}");
        for kid in element.items("K").iter().rev() {
            match kid {
                Object::Reference(kid) => waiting.push((*kid, number)),
                content => drop(used_keys.insert(key_of_content(document, &owners, (number, &element), content))),
            }
        }
        if let Some(Object::String(identifier)) = element.get("ID") {
            assert_eq!(
                identifiers.insert(identifier.to_vec(), number),
                None,
                "an identifier of its own"
            );
        }
        for attribute in element.items("A") {
            let named = attribute.as_dictionary().and_then(|attribute| attribute.get("Headers"));
            headers.extend(named.and_then(Object::as_array).unwrap_or_default().to_vec());
        }
        found.push(element);
    }
    assert_eq!(owners.into_keys().collect::<BTreeSet<_>>(), used_keys);
    let named = read_tree(document, &tree, "IDTree", TreeKind::Names).expect("identifiers");
    let named = named.into_iter().map(|(identifier, element)| {
        let identifier = identifier.as_string().expect("an identifier").to_vec();
        (identifier, element.as_reference().expect("an element"))
    });
    assert_eq!(named.collect::<BTreeMap<_, _>>(), identifiers);
    for header in headers {
        assert!(identifiers.contains_key(header.as_string().expect("an identifier")));
    }
    found
}

/// Returns the parent tree: by key, the elements of a page or form, or the element of an annotation.
fn owners<'a>(document: &Document<'a>, tree: &Dictionary<'a>) -> BTreeMap<i64, Object<'a>> {
    let next_key = tree
        .get("ParentTreeNextKey")
        .and_then(Object::as_integer)
        .expect("a key");
    let mut owners = BTreeMap::new();
    for (key, value) in read_tree(document, tree, "ParentTree", TreeKind::Numbers).expect("a parent tree") {
        let key = key.as_integer().expect("a key");
        assert!(key < next_key);
        assert_eq!(owners.insert(key, document.resolve(&value).expect("owners")), None);
    }
    owners
}

/// Returns the key under which the parent tree assigns a piece of content to this element.
fn key_of_content(
    document: &Document,
    owners: &BTreeMap<i64, Object>,
    element: (ObjectNumber, &Dictionary),
    content: &Object,
) -> i64 {
    let (number, element) = element;
    let key_of = |owner: ObjectNumber, key: &str| {
        let key = dictionary(document, owner).get(key).and_then(Object::as_integer);
        key.expect("a key of the parent tree")
    };
    let reference = content.as_dictionary();
    if let Some(annotation) = reference.and_then(|reference| reference.reference("Obj")) {
        let key = key_of(annotation, "StructParent");
        assert_eq!(owners.get(&key), Some(&Object::Dictionary(element.clone())));
        return key;
    }
    let of_reference = |key| reference.and_then(|reference| reference.reference(key));
    let stream = of_reference("Stm").or(of_reference("Pg")).or(element.reference("Pg"));
    let key = key_of(stream.expect("a page or a form"), "StructParents");
    let identifier = reference.and_then(|reference| reference.get("MCID")).unwrap_or(content);
    let index = usize::try_from(identifier.as_integer().expect("an MCID")).expect("positive");
    let marked = owners
        .get(&key)
        .and_then(Object::as_array)
        .expect("owners of a page or form");
    assert_eq!(marked[index].as_reference(), Some(number));
    key
}

/// Returns the number of elements of each kind.
pub(crate) fn count_kinds(elements: &[Dictionary]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for element in elements {
        *counts.entry(name(element, "S")).or_default() += 1;
    }
    counts
}

/// Returns the number of elements of each kind that a printed document has when it is completed: those that only wrap the content of
/// a paragraph, a heading or a cell are not written.
pub(crate) fn count_written_kinds(document: &Document) -> BTreeMap<String, usize> {
    let elements = elements(document);
    let wraps_content = |holder: &&Dictionary| {
        let [Object::Reference(kid)] = holder.items("K") else {
            return false;
        };
        let kid = dictionary(document, *kid);
        ["P", "H1", "H2", "H3", "TD", "TH"].contains(&name(holder, "S").as_str())
            && name(&kid, "S") == "NonStruct"
            && kid.items("K").iter().all(|kid| kid.as_reference().is_none())
    };
    let mut counts = count_kinds(&elements);
    if let Some(wrappers) = counts.get_mut("NonStruct") {
        *wrappers -= elements.iter().filter(wraps_content).count();
    }
    counts
}

/// Returns a name or a string; empty if there is none.
pub(crate) fn name(owner: &Dictionary, key: &str) -> String {
    match owner.get(key) {
        Some(Object::Name(name) | Object::String(name)) => String::from_utf8_lossy(name).into_owned(),
        _ => String::new(),
    }
}

/// Checks that all objects are reachable, and that all references have a target. In an unpacked file, numbers of object
/// streams may be free.
pub(crate) fn check_references(document: &Document) {
    let trailer = document.trailer();
    let roots = ["Root", "Info"].map(|key| trailer.reference(key).expect("a reference"));
    let reach = Reach::of(document, roots).expect("whole objects");
    for number in (1..document.size()).filter(|number| !document.is_free(*number)) {
        assert!(reach.contains(number), "object {number} is not needed");
        let object = document.get(number).expect("an object");
        assert_ne!(object, Object::Null);
        object.for_each_reference(&mut |reference| assert!(!document.is_free(reference), "{number} → {reference}"));
    }
}
