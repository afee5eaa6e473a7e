//! Links: which ones are removed, and where the others lead.

use super::*;

#[test]
fn unsafe_links_leave_no_trace() {
    let completed = archived(LINKS);
    let messages: Vec<&str> = completed
        .warnings
        .iter()
        .filter(|warning| warning.code == "link_removed")
        .map(|warning| warning.message.as_str())
        .collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    for address in [
        "“file:///etc/passwd”",
        "“javascript:alert(1)”",
        "“https://example.com/?q=aaa",
    ] {
        let found = messages
            .iter()
            .find(|message| message.starts_with("Page 1: ") && message.contains(address));
        assert!(
            found.is_some_and(|message| message.len() < 250),
            "{address} in {messages:?}"
        );
    }
    for forbidden in [
        b"file:".as_slice(),
        b"javascript:",
        b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ] {
        assert!(
            !completed
                .bytes
                .windows(forbidden.len())
                .any(|window| window == forbidden)
        );
    }

    let document = open(&completed);
    let page = list_pages(&document, document.root().expect("a catalog")).expect("pages")[0];
    let page = document.get_dictionary(page, "a page").expect("a page");
    let annotations = page.get("Annots").and_then(Object::as_array).expect("the good links");
    let addresses: Vec<Vec<u8>> = annotations
        .iter()
        .filter_map(|annotation| {
            let annotation = document.resolve(annotation).expect("an annotation");
            let action = document
                .resolve_dictionary(annotation.as_dictionary()?, "A")
                .expect("an action");
            Some(action.get("URI")?.as_string()?.to_vec())
        })
        .collect();
    assert!(addresses.contains(&b"https://example.com/".to_vec()));
    assert!(addresses.contains(&b"mailto:someone@example.com".to_vec()));

    // The structure tree refers only to existing annotations, and so does the parent tree.
    let mut link_elements = 0;
    for (_, object) in objects(&document) {
        let Some(element) = object.as_dictionary().filter(|_| is_type(&object, "StructElem")) else {
            continue;
        };
        let kids = element.get("K").and_then(Object::as_array).unwrap_or_default();
        let references: Vec<&Object> = kids.iter().filter(|kid| is_type(kid, "OBJR")).collect();
        let is_link = element.get("S").is_some_and(|kind| kind.is_name("Link"));
        assert_eq!(is_link, !references.is_empty());
        link_elements += usize::from(is_link);
        for reference in references {
            let target = reference
                .as_dictionary()
                .and_then(|reference| reference.get("Obj"))
                .expect("a target");
            assert!(annotations.contains(target), "{target:?}");
        }
    }
    assert_eq!(link_elements, 3);
    let structure = document
        .resolve_dictionary(&catalog(&document), "StructTreeRoot")
        .expect("a structure tree");
    let tree = document
        .resolve_dictionary(&structure, "ParentTree")
        .expect("a parent tree");
    // The page and the annotations.
    assert_eq!(
        tree.get("Nums").and_then(Object::as_array).map(<[_]>::len),
        Some(2 * (1 + annotations.len()))
    );
}

#[test]
fn long_destination_names_are_shortened_alike_everywhere() {
    let completed = archived(LINKS);
    assert!(codes(&completed).contains(&"name_shortened"));
    let document = open(&completed);
    let destinations = document
        .resolve_dictionary(&catalog(&document), "Dests")
        .expect("destinations");
    let names: Vec<&[u8]> = destinations.entries.iter().map(|(name, _)| name.as_ref()).collect();
    assert!(names.iter().all(|name| name.len() <= 127));
    let targets: Vec<Object> = objects(&document)
        .into_iter()
        .filter(|(_, object)| is_type(object, "Annot"))
        .filter_map(|(_, object)| object.as_dictionary()?.get("Dest").cloned())
        .collect();
    assert!(!targets.is_empty());
    for target in targets {
        assert!(
            matches!(&target, Object::Name(name) if names.contains(&name.as_ref())),
            "{target:?}"
        );
    }
}
