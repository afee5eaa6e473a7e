//! Changes of tags, the parent tree and content.

use crate::content::{StreamReader, replace_data};
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber, Stream};
use crate::parse::parse_indirect_object;

/// Sets an entry to a value in PDF syntax, or removes it if that is empty.
pub(super) fn set(document: &mut Document, number: ObjectNumber, key: &'static str, value: &str) {
    let mut object = document.get(number).expect("an object");
    let dictionary = object.as_dictionary_mut().expect("a dictionary");
    match value {
        "" => drop(dictionary.remove(key)),
        value => dictionary.set(key, parsed(value)),
    }
    document.set(number, object);
}

fn parsed(value: &str) -> Object<'static> {
    let text: &'static str = Box::leak(format!("1 0 obj\n{value}\nendobj").into_boxed_str());
    parse_indirect_object(text.as_bytes(), 0, text.len()).expect("valid syntax")
}

/// Returns the object at an index among those that have this name under this key, in the order of their numbers.
pub(super) fn find(document: &Document, key: &str, name: &str, index: usize) -> ObjectNumber {
    let has = |number: &ObjectNumber| {
        let object = document.get(*number).expect("an object");
        let value = object.as_dictionary().and_then(|dictionary| dictionary.get(key));
        value.is_some_and(|value| value.is_name(name))
    };
    let mut found = (1..document.size()).filter(has);
    found.nth(index).unwrap_or_else(|| panic!("no /{key} /{name}"))
}

pub(super) fn nth(document: &Document, kind: &str, index: usize) -> ObjectNumber {
    find(document, "S", kind, index)
}

pub(super) fn element(document: &mut Document, kind: &str, index: usize, key: &'static str, value: &str) {
    set(document, nth(document, kind, index), key, value);
}

pub(super) fn link(document: &mut Document, key: &'static str, value: &str) {
    set(document, find(document, "Subtype", "Link", 0), key, value);
}

pub(super) fn catalog(document: &mut Document, key: &'static str, value: &str) {
    set(document, find(document, "Type", "Catalog", 0), key, value);
}

/// Removes the language of the document, and that of all of its content.
pub(super) fn no_language(document: &mut Document) {
    catalog(document, "Lang", "");
    element(document, "Document", 0, "Lang", "");
}

pub(super) fn role_map(document: &mut Document, map: &str) {
    set(document, find(document, "Type", "StructTreeRoot", 0), "RoleMap", map);
}

/// Adds an element that contains nothing.
pub(super) fn add(document: &mut Document, kind: &'static str, parent: ObjectNumber) -> ObjectNumber {
    document.add(Object::Dictionary(Dictionary::new([
        ("Type", Object::name("StructElem")),
        ("S", Object::name(kind)),
        ("P", Object::Reference(parent)),
    ])))
}

/// Puts a new element around an element.
pub(super) fn wrap(document: &mut Document, kind: &str, index: usize, around: &'static str) {
    let number = nth(document, kind, index);
    let dictionary = document.get_dictionary(number, "an element").expect("an element");
    let parent = dictionary.reference("P").expect("a parent");
    let wrapper = add(document, around, parent);
    set(document, wrapper, "K", &format!("[{number} 0 R]"));
    set(document, number, "P", &format!("{wrapper} 0 R"));
    let mut parent_element = document.get_dictionary(parent, "an element").expect("an element");
    match parent_element.get_mut("K") {
        Some(Object::Array(kids)) => {
            let place = kids
                .iter_mut()
                .find(|kid| kid.as_reference() == Some(number))
                .expect("a kid");
            *place = Object::Reference(wrapper);
        }
        _ => parent_element.set("K", Object::Reference(wrapper)),
    }
    document.set(parent, Object::Dictionary(parent_element));
}

/// Makes a list of a paragraph, with a caption after its item.
pub(super) fn late_caption(document: &mut Document, list: &'static str, item: &'static str) {
    let paragraph = nth(document, "P", 0);
    set(document, paragraph, "S", &format!("/{item}"));
    set(document, paragraph, "K", "");
    wrap(document, item, 0, list);
    let list = nth(document, list, 0);
    let caption = add(document, "Caption", list);
    set(document, list, "K", &format!("[{paragraph} 0 R {caption} 0 R]"));
}

/// Changes the entries of the parent tree's only leaf.
pub(super) fn parent_tree(document: &mut Document, change: impl FnOnce(&mut Vec<Object>)) {
    let root = document
        .get_dictionary(find(document, "Type", "StructTreeRoot", 0), "a tree")
        .expect("a tree");
    let number = root.reference("ParentTree").expect("a parent tree");
    let mut leaf = document.get_dictionary(number, "a parent tree").expect("a parent tree");
    let Some(Object::Array(entries)) = leaf.get_mut("Nums") else {
        panic!("no entries");
    };
    change(entries);
    document.set(number, Object::Dictionary(leaf));
}

/// Changes the entry of the first page.
pub(super) fn parents(document: &mut Document, change: impl FnOnce(&mut Vec<Object>)) {
    let mut number = 0;
    parent_tree(document, |entries| {
        number = entries[1].as_reference().expect("an array");
    });
    let Object::Array(mut parents) = document.get(number).expect("an array") else {
        panic!("no array");
    };
    change(&mut parents);
    document.set(number, Object::Array(parents));
}

/// Changes the data of a stream.
pub(super) fn change_data(document: &mut Document, number: ObjectNumber, change: impl FnOnce(&str) -> String) {
    let Object::Stream(mut stream) = document.get(number).expect("an object") else {
        panic!("no stream");
    };
    let mut data = Vec::new();
    StreamReader::default().read(&stream, &mut data).expect("readable");
    let changed = change(&String::from_utf8_lossy(&data));
    replace_data(&mut stream, changed.as_bytes());
    document.set(number, Object::Stream(stream));
}

fn first_content(document: &Document) -> ObjectNumber {
    let page = document
        .get_dictionary(find(document, "Type", "Page", 0), "a page")
        .expect("a page");
    page.items("Contents")[0].as_reference().expect("a content stream")
}

/// Inserts operators before those of the first page.
pub(super) fn insert(document: &mut Document, operators: &str) {
    change_data(document, first_content(document), |content| {
        format!("{operators}{content}")
    });
}

/// Replaces a text in the content of the first page, once.
pub(super) fn content(document: &mut Document, from: &str, to: &str) {
    change_data(document, first_content(document), |content| {
        assert!(content.contains(from), "{from} in {content}");
        content.replacen(from, to, 1)
    });
}

/// Returns the name of the last external object that the first page draws.
pub(super) fn drawn_form(document: &mut Document) -> String {
    let mut name = String::new();
    change_data(document, first_content(document), |content| {
        let before = content.rsplit_once(" Do").expect("a form").0;
        before.rsplit_once('/').expect("a name").1.clone_into(&mut name);
        content.to_owned()
    });
    name
}

/// Adds a pattern with tagged content to the resources of the first page.
pub(super) fn tagged_pattern(document: &mut Document) {
    let entries = "<</PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 9 9] /XStep 9 /YStep 9 /Resources <<>>>>";
    let dictionary = parsed(entries).as_dictionary().cloned().expect("a dictionary");
    let content = b"/P <</MCID 0>> BDC 0 0 9 9 re f EMC";
    let pattern = document.add(Object::Stream(Stream::plain(dictionary, content)));
    let page = find(document, "Type", "Page", 0);
    let mut dictionary = document.get_dictionary(page, "a page").expect("a page");
    let mut resources = document
        .resolve_dictionary(&dictionary, "Resources")
        .expect("resources");
    resources.set("Pattern", parsed(&format!("<</P1 {pattern} 0 R>>")));
    dictionary.set("Resources", Object::Dictionary(resources));
    document.set(page, Object::Dictionary(dictionary));
}

/// Returns the number of the first font's map.
pub(super) fn first_map(document: &Document) -> ObjectNumber {
    let font = find(document, "Subtype", "Type0", 0);
    let font = document.get_dictionary(font, "a font").expect("a font");
    font.reference("ToUnicode").expect("a map")
}

/// Removes a map from all fonts.
pub(super) fn remove_map(document: &mut Document, map: ObjectNumber) {
    for number in 1..document.size() {
        let object = document.get(number).expect("an object");
        if object.as_dictionary().and_then(|font| font.reference("ToUnicode")) == Some(map) {
            set(document, number, "ToUnicode", "");
        }
    }
    document.remove(map);
}

/// Gives all characters of the first font this text.
pub(super) fn all_texts(document: &mut Document, text: &str) {
    let texts = format!("[{}]", format!("<{text}>").repeat(256));
    change_data(document, first_map(document), |_| {
        format!(
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n1 begincodespacerange\n\
             <0000> <FFFF>\nendcodespacerange\n1 beginbfrange\n<0000> <00FF> {texts}\nendbfrange\nendcmap\n\
             CMapName currentdict /CMap defineresource pop end end"
        )
    });
}
