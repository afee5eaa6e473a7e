//! What authors of HTML change so that a violation disappears.

/// Remedies by clause: of ISO 14289-1, or of ISO 19005-2 if a rule has no clause of the former (6.2.11.7.3), or by success
/// criterion of WCAG if it has neither. The first entry whose clause is the violated one, or an outer clause of it, applies.
const REMEDIES: &[(&str, &str)] = &[
    (
        "1.1.1",
        "Give the icon a text alternative with role=\"img\" and aria-label, or hide it with aria-hidden=\"true\" if it is \
         decorative.",
    ),
    (
        "1.4.3",
        "Choose a darker or lighter colour for the text or its background.",
    ),
    ("6.2.11.7.3", PRIVATE_USE),
    ("6.2", UNTAGGED),
    (
        "7.1-3",
        "Put the text into the page's own content, and don't hide it with aria-hidden or a presentational role.",
    ),
    ("7.1-9", TITLE),
    ("7.1-10", TITLE),
    ("7.1-11", UNTAGGED),
    ("7.1", STRUCTURE),
    ("7.2-2", LANGUAGE),
    ("7.2-3", TABLE_ELEMENTS),
    ("7.2-4", TABLE_ELEMENTS),
    ("7.2-5", TABLE_ELEMENTS),
    ("7.2-6", TABLE_ELEMENTS),
    ("7.2-7", TABLE_ELEMENTS),
    ("7.2-8", TABLE_ELEMENTS),
    ("7.2-9", TABLE_ELEMENTS),
    ("7.2-10", TABLE_ELEMENTS),
    ("7.2-11", TABLE_GROUPS),
    ("7.2-12", TABLE_GROUPS),
    ("7.2-13", TABLE_BODY),
    ("7.2-14", TABLE_BODY),
    ("7.2-15", TABLE_CELLS),
    ("7.2-16", "Put the caption first or last in the table."),
    ("7.2-17", LIST_ELEMENTS),
    ("7.2-18", LIST_ELEMENTS),
    ("7.2-19", LIST_ELEMENTS),
    ("7.2-20", LIST_ELEMENTS),
    ("7.2-21", LANGUAGE),
    ("7.2-22", LANGUAGE),
    ("7.2-23", LANGUAGE),
    ("7.2-24", LANGUAGE),
    ("7.2-26", CONTENTS_ELEMENTS),
    ("7.2-27", CONTENTS_ELEMENTS),
    ("7.2-28", CONTENTS_ELEMENTS),
    ("7.2-29", LANGUAGE_TAG),
    ("7.2-30", LANGUAGE),
    ("7.2-33", LANGUAGE),
    ("7.2-34", LANGUAGE),
    ("7.2-36", TABLE_ELEMENTS),
    ("7.2-37", TABLE_ELEMENTS),
    ("7.2-38", TABLE_ELEMENTS),
    ("7.2-39", TABLE_GROUPS),
    ("7.2-40", LIST_ELEMENTS),
    ("7.2-41", TABLE_CELLS),
    ("7.2-42", TABLE_CELLS),
    ("7.2-43", TABLE_CELLS),
    ("7.2", TABLE_SPANS),
    (
        "7.3",
        "Add an alt attribute to the picture, or alt=\"\" if it is decorative; give an svg a title or aria-label, and a figure a \
         figcaption.",
    ),
    (
        "7.4.2",
        "Don't skip levels of headings: an h2 follows the h1, an h3 an h2. The first one is an h1.",
    ),
    (
        "7.4.4",
        "Use h1 to h6 for headings, instead of elements with a role without a level.",
    ),
    (
        "7.5",
        "Mark header cells as th, with scope=\"col\" or scope=\"row\", or name them in the headers of each td.",
    ),
    ("7.7", "Add an aria-label to the formula that reads it out."),
    ("7.9", "Give each note an id of its own."),
    (
        "7.18.5",
        "Give the link a text, or an aria-label if it shows only a picture.",
    ),
    ("7.21.7", UNICODE),
];

const UNICODE: &str =
    "Use a font that maps its glyphs to characters, or replace the text by a picture with an alt attribute.";
const PRIVATE_USE: &str =
    "Replace characters of the private use area, such as icon fonts, by pictures with an alt attribute.";
const STRUCTURE: &str =
    "Simplify the markup around this place: use elements of HTML for what they mean, and nest them as HTML allows.";
const UNTAGGED: &str = "Give the page text, or pictures with an alt attribute, so that it has content to be tagged.";
const TITLE: &str = "Give the page a title element.";
const TABLE_ELEMENTS: &str =
    "Use only thead, tbody, tfoot, tr, th, td and caption in the table, nested as HTML allows.";
const TABLE_GROUPS: &str = "Give the table one thead, one tfoot and one caption at most.";
const TABLE_BODY: &str = "Add a tbody to the table that has a thead or tfoot.";
/// Chromium doesn't tag cells without content.
const TABLE_CELLS: &str = "Give each row of the table the same number of cells, with colspan and rowspan counted, and \
                           put a dash or &nbsp; into empty cells.";
const LIST_ELEMENTS: &str = "Use only li in ul and ol, and only dt and dd in dl, without roles.";
const TABLE_SPANS: &str = "Reduce colspan and rowspan of the table's cells, and remove empty rows.";
const CONTENTS_ELEMENTS: &str = "Use only entries and nested lists in the table of contents.";
const LANGUAGE: &str = "Name the language of the page with <html lang>, or with the option language of the request.";
const LANGUAGE_TAG: &str = "Correct the lang attribute: it takes a language tag such as en or pt-BR (BCP 47).";
/// For violations that authors rarely cause.
const OTHER: &str = "Simplify the markup at this place; if the violation stays, report it to the operator of Platen \
                     with the render's id.";

/// Returns the remedy of a violation of a clause, such as `7.3-1`.
pub(super) fn remedy(clause: &str) -> &'static str {
    let entry = REMEDIES.iter().find(|(outer, _)| is_within(clause, outer));
    entry.map_or(OTHER, |(_, remedy)| remedy)
}

/// Returns whether a clause is `outer` or part of it.
fn is_within(clause: &str, outer: &str) -> bool {
    let rest = clause.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clause_itself_comes_before_an_outer_one() {
        for (clause, expected) in [
            ("7.2-20", LIST_ELEMENTS),
            ("7.2-29", LANGUAGE_TAG),
            ("7.2-43", TABLE_CELLS),
            ("7.2-24", LANGUAGE),
            ("7.2", TABLE_SPANS),
            ("7.1-10", TITLE),
            ("7.1-1", STRUCTURE),
            ("6.2.11.7.3-1", PRIVATE_USE),
            ("6.2-1", UNTAGGED),
            ("7.21.7-1", UNICODE),
            ("8.1-1", OTHER),
        ] {
            assert_eq!(remedy(clause), expected, "{clause}");
        }
        assert!(remedy("7.2-34").contains("<html lang>") && remedy("7.3-1").contains("alt=\"\""));
        assert!(remedy("1.1.1").contains("aria-hidden") && remedy("1.4.3").contains("colour"));
    }

    #[test]
    fn no_entry_hides_a_later_one() {
        for (index, (clause, _)) in REMEDIES.iter().enumerate() {
            let first = REMEDIES.iter().position(|(outer, _)| is_within(clause, outer));
            assert_eq!(first, Some(index), "{clause}");
        }
    }
}
