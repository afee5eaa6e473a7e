//! Icons of icon fonts.

use super::*;
use crate::inspect::structure::read_structure;

/// Returns the content of all pages and forms.
fn contents(document: &Document) -> String {
    let mut contents = String::new();
    for (_, object) in objects(document) {
        let is_form = object
            .as_dictionary()
            .is_some_and(|dictionary| dictionary.get("Subtype").is_some_and(|kind| kind.is_name("Form")));
        let content = match object.as_dictionary().and_then(|page| page.get("Contents")) {
            Some(content) if is_type(&object, "Page") => content.clone(),
            _ if is_form => object.clone(),
            _ => continue,
        };
        contents += &String::from_utf8_lossy(&data(document, &content));
    }
    contents
}

#[test]
fn hidden_and_generated_icons_are_artifacts() {
    let completed = archived(ICONS);
    assert_eq!(completed.conformance, [Conformance::PdfA2a, Conformance::PdfUa1]);
    let contents = contents(&open(&completed));
    // A hidden one and three generated ones, of which one is translucent and therefore in a form.
    assert_eq!(contents.matches("/Artifact BMC\nBT").count(), 4, "{contents}");

    let elements = read_structure(&completed.bytes).expect("a tree").elements;
    // The glyph of a ligature is of private use as well, but its text is known.
    assert_eq!(contents.matches("/ActualText (fi)").count(), 2);
    let texts: Vec<&str> = elements.iter().filter_map(|element| element.text.as_deref()).collect();
    let expected = [
        "Icons",
        "Hidden",
        "Generated",
        "within text",
        "Faded",
        "Named",
        "\u{FFFD}",
        "\u{FFFD}",
        "is tagged, and \u{FFFD}",
        "generated",
        "Exposed",
        "\u{FFFD}",
        "twice",
        "\u{FFFD}",
        "Paid",
        "\u{FFFD}",
    ];
    assert_eq!(texts, expected);
    let named = elements.iter().find(|element| element.alternative.is_some());
    assert_eq!(named.and_then(|named| named.alternative.as_deref()), Some("House"));
}
