//! The rules of PDF/A-2u, PDF/A-2a and PDF/UA-1 beyond PDF/A-2b, and one that no level requires. Clauses have veraPDF's
//! number of the test; a clause without one is a rule that veraPDF doesn't check. Conditions are those of the Matterhorn
//! Protocol 1.1.

use super::Conformance::{PdfA2a, PdfA2u, PdfUa1};
use super::standards::Conformance;

/// A rule that a file can violate.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Standards that a violation prevents, each with its clause and veraPDF's number of the test: `7.1-3`. None if only
    /// WCAG requires the rule.
    pub prevents: &'static [(Conformance, &'static str)],
    /// Success criterion of WCAG 2.2, if a violation prevents no standard: `1.1.1`.
    pub criterion: Option<&'static str>,
    /// Failure condition of the Matterhorn Protocol: `01-005`.
    pub condition: Option<&'static str>,
    /// The violation, for authors: a sentence without its subject's page and text.
    pub message: &'static str,
}

const fn rule(
    prevents: &'static [(Conformance, &'static str)],
    condition: &'static str,
    message: &'static str,
) -> Rule {
    let condition = if condition.is_empty() { None } else { Some(condition) };
    Rule {
        prevents,
        criterion: None,
        condition,
        message,
    }
}

/// A rule that no level of PDF/A or PDF/UA requires.
const fn advice(criterion: &'static str, message: &'static str) -> Rule {
    Rule {
        prevents: &[],
        criterion: Some(criterion),
        condition: None,
        message,
    }
}

macro_rules! rules {
    ($($name:ident: [$($standard:ident $clause:literal),+] $condition:literal $message:literal;)+) => {
        $(pub(super) static $name: Rule = rule(&[$(($standard, $clause)),+], $condition, $message);)+

        /// All rules, for documentation and tests.
        #[cfg(test)]
        pub(super) static ALL: &[&Rule] = &[$(&$name),+, &ICON_ALTERNATIVE];
    };
}

/// PDF/UA requires only that each character has a Unicode value. That of an icon is U+FFFD, which says nothing.
pub(super) static ICON_ALTERNATIVE: Rule = advice("1.1.1", "The icon has no alternative text.");

rules! {
    // Text.
    NO_UNICODE: [PdfA2u "6.2.11.7.2-1", PdfUa1 "7.21.7-1"] "10-001" "A character of this font has no Unicode value.";
    NULL_CHARACTER: [PdfA2u "6.2.11.7.2-2", PdfUa1 "7.21.7-2"] "31-028"
        "A character of this font is mapped to U+0000.";
    NO_CHARACTER: [PdfA2u "6.2.11.7.2-2", PdfUa1 "7.21.7-2"] "31-029"
        "A character of this font is mapped to U+FEFF or U+FFFE.";
    PRIVATE_USE: [PdfA2a "6.2.11.7.3-1"] "" "A character of this font is mapped to the private use area.";

    // The document.
    NOT_MARKED: [PdfA2a "6.7.2.2-1", PdfUa1 "6.2-1"] "" "The document is not declared as tagged.";
    NO_STRUCTURE: [PdfA2a "6.7.3.3-1", PdfUa1 "7.1-11"] "" "The document has no structure tree.";
    NO_TITLE: [PdfUa1 "7.1-9"] "06-003" "The document has no title.";
    TITLE_NOT_SHOWN: [PdfUa1 "7.1-10"] "07-001" "The window would show the file name instead of the title.";
    BAD_LANGUAGE: [PdfA2a "6.7.4-1", PdfUa1 "7.2-29"] "" "The language is not a tag of BCP 47.";
    EMPTY_LANGUAGE: [PdfUa1 "7.2-29"] "" "The language is empty.";
    NO_LANGUAGE: [PdfUa1 "7.2-33"] "11-006" "The document has no language.";
    OUTLINE_LANGUAGE: [PdfUa1 "7.2-2"] "11-003" "The language of the outline is unknown.";
    TEXT_LANGUAGE: [PdfUa1 "7.2-34"] "11-001" "The language of this text is unknown.";
    ACTUAL_TEXT_LANGUAGE: [PdfUa1 "7.2-21"] "11-002" "The language of the replacement text is unknown.";
    ALTERNATIVE_LANGUAGE: [PdfUa1 "7.2-22"] "11-002" "The language of the alternative text is unknown.";
    EXPANSION_LANGUAGE: [PdfUa1 "7.2-23"] "11-002" "The language of the expansion is unknown.";
    SPAN_LANGUAGE: [PdfUa1 "7.2-30"] "11-002" "The language of the replacement text is unknown.";
    CONTENTS_LANGUAGE: [PdfUa1 "7.2-24"] "11-004" "The language of the link's description is unknown.";

    // Content.
    ARTIFACT_IN_TAG: [PdfUa1 "7.1-1"] "01-003" "An artifact is inside tagged content.";
    TAG_IN_ARTIFACT: [PdfUa1 "7.1-2"] "01-004" "Tagged content is inside an artifact.";
    UNTAGGED_TEXT: [PdfUa1 "7.1-3"] "01-005" "This text is neither tagged nor an artifact.";
    UNTAGGED_GRAPHICS: [PdfUa1 "7.1-3"] "01-005" "These graphics are neither tagged nor an artifact.";
    UNBALANCED_MARKS: [PdfA2a "6.7.2", PdfUa1 "7.1"] "" "Marked content doesn't begin and end in the same stream.";
    NESTED_MARKS: [PdfA2a "6.7.2", PdfUa1 "7.1"] "" "Tagged content is inside other tagged content.";
    HIDDEN_MARKS: [PdfA2a "6.7.2", PdfUa1 "7.1"] "" "Tagged content is in a pattern or a glyph.";
    SHARED_FORM: [PdfUa1 "7.20-2"] "30-002" "Graphics with tagged content are drawn more than once.";

    // Consistency of the tree with content.
    MARK_WITHOUT_ENTRY: [PdfA2a "6.7.3.3", PdfUa1 "7.1-3"] "01-005"
        "Tagged content has no element in the parent tree.";
    MARK_OF_ANOTHER: [PdfA2a "6.7.3.3", PdfUa1 "7.1"] "" "Tree and parent tree assign content to different elements.";
    MARK_TWICE: [PdfA2a "6.7.3.3", PdfUa1 "7.1"] "" "Two sequences of content have the same identifier.";
    ENTRY_WITHOUT_MARK: [PdfA2a "6.7.3.3", PdfUa1 "7.1"] "" "The parent tree has an entry without content.";
    KID_WITHOUT_MARK: [PdfA2a "6.7.3.3", PdfUa1 "7.1"] "" "The element contains content that doesn't exist.";
    KID_TWICE: [PdfA2a "6.7.3.3", PdfUa1 "7.1"] "" "Content belongs to two elements.";
    ELEMENT_TWICE: [PdfA2a "6.7.3.3", PdfUa1 "7.1"] "" "The element has two places in the tree.";
    WRONG_PARENT: [PdfA2a "6.7.3.3", PdfUa1 "7.1"] "" "The element names another parent than its own.";
    DAMAGED_TREE: [PdfA2a "6.7.3.3", PdfUa1 "7.1"] "" "The structure tree is damaged.";

    // Types.
    UNKNOWN_TYPE: [PdfA2a "6.7.3.4-1", PdfUa1 "7.1-5"] "02-001" "The type is neither standard nor mapped to one.";
    CIRCULAR_ROLE: [PdfA2a "6.7.3.4-2", PdfUa1 "7.1-6"] "02-003" "The role map maps a type to itself.";
    STANDARD_ROLE: [PdfA2a "6.7.3.4-3", PdfUa1 "7.1-7"] "02-004" "The role map changes a standard type.";

    // Figures, formulas, headings, notes, forms.
    FIGURE_ALTERNATIVE: [PdfUa1 "7.3-1"] "13-004" "The figure has no alternative text.";
    FORMULA_ALTERNATIVE: [PdfUa1 "7.7-1"] "17-002" "The formula has no alternative text.";
    FIRST_HEADING: [PdfUa1 "7.4.2-1"] "14-002" "The first heading is not H1.";
    HEADING_SKIPPED: [PdfUa1 "7.4.2-1"] "14-003" "The heading skips a level.";
    HEADING_TWICE: [PdfUa1 "7.4.4-1"] "14-006" "The element contains more than one H.";
    HEADING_H: [PdfUa1 "7.4.4-2"] "14-007" "The document has headings H and H1 to H6.";
    HEADING_HN: [PdfUa1 "7.4.4-3"] "14-007" "The document has headings H and H1 to H6.";
    NOTE_ID: [PdfUa1 "7.9-1"] "19-003" "The note has no identifier.";
    NOTE_ID_TWICE: [PdfUa1 "7.9-2"] "19-004" "The note has the identifier of another.";
    FORM_WITHOUT_FIELD: [PdfUa1 "7.18.4-2"] "" "The form field is no annotation and has no role.";

    // Tables.
    TABLE_KIDS: [PdfUa1 "7.2-3"] "09-004" "The table contains something else than rows, groups of rows and a caption.";
    ROW_PARENT: [PdfUa1 "7.2-4"] "09-004" "The row is not in a table.";
    HEAD_PARENT: [PdfUa1 "7.2-5"] "09-004" "The table head is not in a table.";
    BODY_PARENT: [PdfUa1 "7.2-6"] "09-004" "The table body is not in a table.";
    FOOT_PARENT: [PdfUa1 "7.2-7"] "09-004" "The table foot is not in a table.";
    HEADER_PARENT: [PdfUa1 "7.2-8"] "09-004" "The header cell is not in a row.";
    CELL_PARENT: [PdfUa1 "7.2-9"] "09-004" "The cell is not in a row.";
    ROW_KIDS: [PdfUa1 "7.2-10"] "09-004" "The row contains something else than cells.";
    HEADS: [PdfUa1 "7.2-11"] "09-004" "The table has more than one head.";
    FEET: [PdfUa1 "7.2-12"] "09-004" "The table has more than one foot.";
    FOOT_WITHOUT_BODY: [PdfUa1 "7.2-13"] "09-004" "The table has a foot without a body.";
    HEAD_WITHOUT_BODY: [PdfUa1 "7.2-14"] "09-004" "The table has a head without a body.";
    CELLS_OVERLAP: [PdfUa1 "7.2-15"] "" "The cell overlaps another.";
    CAPTION_INSIDE: [PdfUa1 "7.2-16"] "09-004" "The caption is neither first nor last in its table.";
    HEAD_KIDS: [PdfUa1 "7.2-36"] "09-004" "The table head contains something else than rows.";
    BODY_KIDS: [PdfUa1 "7.2-37"] "09-004" "The table body contains something else than rows.";
    FOOT_KIDS: [PdfUa1 "7.2-38"] "09-004" "The table foot contains something else than rows.";
    CAPTIONS: [PdfUa1 "7.2-39"] "09-004" "The table has more than one caption.";
    ROW_SPAN_TOO_LONG: [PdfUa1 "7.2-41"] "" "A cell spans more rows than the table has.";
    ROW_TOO_LONG: [PdfUa1 "7.2-42"] "" "A row has more columns than the first.";
    ROW_TOO_SHORT: [PdfUa1 "7.2-43"] "" "A row has fewer columns than the first.";
    TABLE_TOO_LARGE: [PdfUa1 "7.2"] "" "The table has too many columns and rows for its cells.";
    UNKNOWN_HEADER: [PdfUa1 "7.5-2"] "15-003" "The cell names a header that the table doesn't have.";
    NO_HEADER: [PdfUa1 "7.5-1"] "15-003" "No header applies to the cell.";

    // Lists and tables of contents.
    ITEM_PARENT: [PdfUa1 "7.2-17"] "09-005" "The list item is not in a list.";
    ITEM_BODY_PARENT: [PdfUa1 "7.2-18"] "09-005" "The list body is not in a list item.";
    LIST_KIDS: [PdfUa1 "7.2-19"] "09-005" "The list contains something else than items, lists and a caption.";
    ITEM_KIDS: [PdfUa1 "7.2-20"] "09-005" "The list item contains something else than label and body.";
    LIST_CAPTION: [PdfUa1 "7.2-40"] "09-005" "The caption is not the first in its list.";
    CONTENTS_ITEM_PARENT: [PdfUa1 "7.2-26"] "09-006" "The entry is not in a table of contents.";
    CONTENTS_KIDS: [PdfUa1 "7.2-27"] "09-006" "The table of contents contains something else than entries.";
    CONTENTS_CAPTION: [PdfUa1 "7.2-28"] "09-006" "The caption is not the first in its table of contents.";

    // Links.
    LINK_OUTSIDE: [PdfUa1 "7.18.5-1"] "28-011" "The link is not tagged as a link.";
    LINK_DESCRIPTION: [PdfUa1 "7.18.5-2"] "28-012" "The link has no description.";
    LINK_OF_ANOTHER: [PdfA2a "6.7.3.3", PdfUa1 "7.18.5"] "" "Tree and parent tree assign the link to different elements.";
    OBJECT_WITHOUT_LINK: [PdfA2a "6.7.3.3", PdfUa1 "7.18.5"] "" "The element contains a link that no page has.";
    TAB_ORDER: [PdfUa1 "7.18.3-1"] "28-008" "The tab order of the page doesn't follow its structure.";
}
