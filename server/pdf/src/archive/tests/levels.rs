//! Requirements of PDF/A levels U and A, and of PDF/UA, beyond level B.

use super::{EMPTY, GRAPHICS, LINKS, TABLE, archived, catalog, completed, data, facts, is_type, objects, open};
use crate::object::Object;
use crate::page_tree::list_pages;
use crate::{OutputFormat, PageFacts};

#[test]
fn types_of_structure_elements_that_are_newer_than_the_standard_have_a_role() {
    let completed = archived(TABLE);
    let document = open(&completed);
    let structure = document
        .resolve_dictionary(&catalog(&document), "StructTreeRoot")
        .expect("a structure tree");
    let roles = document.resolve_dictionary(&structure, "RoleMap").expect("a role map");
    assert!(roles.get("Strong").is_some_and(|role| role.is_name("Span")));
}

#[test]
fn glyph_zero_of_type_3_fonts_has_a_text() {
    let completed = archived(GRAPHICS);
    let document = open(&completed);
    let mut maps = 0;
    for (_, object) in objects(&document) {
        let font = object.as_dictionary().filter(|_| is_type(&object, "Font"));
        let is_type_3 = font
            .and_then(|font| font.get("Subtype"))
            .is_some_and(|kind| kind.is_name("Type3"));
        if let Some(map) = font.filter(|_| is_type_3).and_then(|font| font.get("ToUnicode")) {
            let map = String::from_utf8(data(&document, map)).expect("ASCII");
            assert_eq!(map.matches("<00> <FFFD>").count(), 1, "{map}");
            maps += 1;
        }
    }
    assert!(maps > 0);
}

#[test]
fn links_say_where_they_lead() {
    let printed = completed(LINKS, &facts(), OutputFormat::Pdf);
    let (printed, completed) = (open(&printed), archived(LINKS));
    let document = open(&completed);
    let (mut outer, mut inner) = (0, 0);
    for (_, object) in objects(&document) {
        let Some(link) = object.as_dictionary().filter(|_| is_type(&object, "Annot")) else {
            continue;
        };
        let action = document.resolve_dictionary(link, "A").expect("an action");
        let description = link.get("Contents").and_then(Object::as_string).expect("a description");
        match (action.get("URI").and_then(Object::as_string), link.get("Dest")) {
            (Some(address), None) => {
                assert_eq!(description, address);
                outer += 1;
            }
            // A name that was too long remains unchanged in the description.
            (None, Some(Object::Name(name))) => {
                assert!(description[0] == b'#' && (&description[1..] == name.as_ref() || description.len() > 127));
                inner += 1;
            }
            _ => panic!("{link:?}"),
        }
    }
    for (_, object) in objects(&printed) {
        let dictionary = object.as_dictionary().filter(|_| is_type(&object, "Annot"));
        assert!(dictionary.is_none_or(|link| link.get("Contents").is_none()));
    }
    assert!(outer > 0 && inner > 0);
}

#[test]
fn what_has_neither_text_nor_pictures_is_decoration() {
    let completed = archived(EMPTY);
    let document = open(&completed);
    let catalog = catalog(&document);
    let marks = document.resolve_dictionary(&catalog, "MarkInfo").expect("marks");
    assert_eq!(marks.get("Marked"), Some(&Object::Boolean(true)));
    let structure = document.resolve_dictionary(&catalog, "StructTreeRoot").expect("a tree");
    assert!(structure.get("K").and_then(Object::as_reference).is_some());
    let page = list_pages(&document, document.root().expect("a catalog")).expect("pages")[0];
    let page = document.get_dictionary(page, "a page").expect("a page");
    let content = page.items("Contents").first().map(|content| data(&document, content));
    assert_eq!(content.as_deref(), Some(b"".as_slice()));
}

#[test]
fn header_of_a_cover_without_text_is_an_artifact_if_the_browser_drew_one() {
    let cover = include_bytes!("../../../tests/fixtures/cover.pdf");
    let headers = |has_running_text| {
        let facts = PageFacts {
            has_running_text,
            ..facts()
        };
        let completed = completed(cover, &facts, OutputFormat::PdfA2b);
        let document = open(&completed);
        let pages = list_pages(&document, document.root().expect("a catalog")).expect("pages");
        let count = |page| {
            let page = document.get_dictionary(page, "a page").expect("a page");
            let content = page
                .items("Contents")
                .iter()
                .flat_map(|content| data(&document, content));
            let content = String::from_utf8_lossy(&content.collect::<Vec<u8>>()).into_owned();
            content.matches("/Artifact <</Type /Pagination>>").count()
        };
        let untagged: Vec<String> = completed.findings.iter().map(ToString::to_string).collect();
        (pages.into_iter().map(count).collect::<Vec<_>>(), untagged)
    };
    assert_eq!(headers(true), (vec![2, 2], vec![]));
    let (marked, untagged) = headers(false);
    assert_eq!(marked, [0, 2], "text of a page is never hidden");
    assert!(
        untagged.len() == 1 && untagged[0].contains("7.1-3; page 1"),
        "{untagged:?}"
    );
}
