//! Characters that no font has.

use super::*;

#[test]
fn missing_glyphs_are_drawn_by_a_stand_in() {
    let completed = archived(MISSING_GLYPHS);
    assert_eq!(codes(&completed), ["missing_glyph"]);
    let message = &completed.warnings[0].message;
    for expected in ["page 1", "U+E124", "U+E125", "U+E126"] {
        assert!(message.contains(expected), "{expected} in {message}");
    }

    let document = open(&completed);
    let mut users = 0;
    for (number, object) in objects(&document) {
        let Some(dictionary) = object.as_dictionary() else {
            continue;
        };
        let resources = document.resolve_dictionary(dictionary, "Resources").expect("resources");
        let fonts = document.resolve_dictionary(&resources, "Font").expect("fonts");
        let content = if is_type(&object, "Page") {
            dictionary.get("Contents").cloned()
        } else {
            Some(object.clone())
        };
        let Some(content) = content.filter(|_| !fonts.entries.is_empty()) else {
            continue;
        };
        let content = data(&document, &content);
        let composite_fonts = fonts.entries.iter().filter_map(|(name, font)| {
            let number = font.as_reference().expect("a reference");
            let is_composite = is_composite(&document, number).expect("a font");
            is_composite.then(|| (name.to_vec(), number))
        });
        let left = repair(&content, &composite_fonts.collect()).expect("valid");
        assert!(left.is_none(), "object {number}");
        for (name, font) in fonts
            .entries
            .iter()
            .filter(|(name, _)| name.starts_with(b"PlatenMissing"))
        {
            users += 1;
            let used = [b"/".as_slice(), name, b" "].concat();
            assert!(
                content.windows(used.len()).any(|window| window == used),
                "object {number}"
            );
            let font = document.resolve(font).expect("a font");
            let font = font.as_dictionary().expect("a font");
            let procedures = document.resolve_dictionary(font, "CharProcs").expect("procedures");
            let procedure = String::from_utf8(data(&document, procedures.get("missing").expect("a procedure")));
            let procedure = procedure.expect("ASCII");
            // Liberation Serif's box: an outer and an inner rectangle.
            let width = font
                .get("Widths")
                .and_then(Object::as_array)
                .and_then(|widths| widths[0].as_number());
            assert!(
                procedure.starts_with(&format!("{} 0 ", width.expect("a width"))),
                "{procedure}"
            );
            assert_eq!(procedure.matches(" m\n").count(), 2, "{procedure}");
            assert!(procedure.ends_with("h\nf\n"), "{procedure}");
        }
    }
    // The page, and the form XObject of the half-transparent paragraph.
    assert_eq!(users, 2);
}
