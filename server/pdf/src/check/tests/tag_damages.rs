//! Small damages of an accessible document: tags, languages, the parent tree, artifacts, headings, tables, lists,
//! figures, links. Each has the clause that it violates.

use super::tag_edits::{
    add, all_texts, catalog, change_data, content, drawn_form, element, find, first_map, insert, late_caption, link,
    no_language, nth, parent_tree, parents, remove_map, role_map, set, tagged_pattern, wrap,
};
use crate::document::Document;
use crate::object::Object;

/// Name, clause, and change of the archive of `letter.html`. A clause without veraPDF's number of the test is one that
/// veraPDF doesn't check.
pub(super) type TagDamage = (&'static str, &'static str, fn(&mut Document));

#[rustfmt::skip]
pub(super) const TAG_DAMAGES: &[TagDamage] = &[
    // Text.
    ("no unicode map", "7.21.7-1", |d| { let map = first_map(d); remove_map(d, map) }),
    ("no unicode", "7.21.7-1", |d| change_data(d, first_map(d), |map| map.replace(" beginbf", " beginno"))),
    ("nul", "7.21.7-2", |d| all_texts(d, "0000")),
    ("byte order mark", "6.2.11.7.2-2", |d| all_texts(d, "FEFF")),
    ("no character", "7.21.7-2", |d| all_texts(d, "FFFE")),
    ("private use", "6.2.11.7.3-1", |d| all_texts(d, "E001")),

    // The document.
    ("not marked", "6.2-1", |d| catalog(d, "MarkInfo", "<</Marked false>>")),
    ("no mark information", "6.7.2.2-1", |d| catalog(d, "MarkInfo", "")),
    ("no structure", "7.1-11", |d| catalog(d, "StructTreeRoot", "")),
    ("title not shown", "7.1-10", |d| catalog(d, "ViewerPreferences", "<</DisplayDocTitle false>>")),
    ("no preferences", "7.1-10", |d| catalog(d, "ViewerPreferences", "")),
    ("no language", "7.2-33", |d| catalog(d, "Lang", "")),
    ("no language of text", "7.2-34", no_language),
    ("no language of the outline", "7.2-2", |d| catalog(d, "Lang", "")),
    ("no language of links", "7.2-24", |d| catalog(d, "Lang", "")),
    ("no language of a figure", "7.2-22", no_language),
    ("bad language", "7.2-29", |d| catalog(d, "Lang", "(en_US)")),
    ("empty language", "7.2-29", |d| catalog(d, "Lang", "()")),
    ("bad language of an element", "6.7.4-1", |d| element(d, "P", 0, "Lang", "(english (UK))")),
    ("empty language of an element", "7.2-29", |d| element(d, "P", 0, "Lang", "()")),
    ("bad language in content", "7.2-29", |d| insert(d, "/Span <</Lang (en_US)>> BDC EMC\n")),
    ("bad language under an escaped key", "7.2-29", |d| insert(d, "/Span <</L#61ng (en_US)>> BDC EMC\n")),
    ("no language of actual text", "7.2-21", |d| { no_language(d); element(d, "P", 0, "ActualText", "(a)") }),
    ("no language of an expansion", "7.2-23", |d| { no_language(d); element(d, "P", 0, "E", "(a)") }),
    ("no language of a span", "7.2-30", |d| {
        catalog(d, "Lang", "");
        insert(d, "/Span <</ActualText (a)>> BDC EMC\n");
    }),

    // Content.
    ("untagged path", "7.1-3", |d| insert(d, "0 0 5 5 re f\n")),
    ("untagged stroke", "7.1-3", |d| insert(d, "0 0 m 5 5 l S\n")),
    ("untagged path in a span", "7.1-3", |d| insert(d, "/Span BMC 0 0 5 5 re f EMC\n")),
    ("untagged text", "7.1-3", |d| content(d, "/NonStruct <</MCID", "/P <</MCIX")),
    ("artifact in a tag", "7.1-1", |d| content(d, "BDC", "BDC /Artifact BMC EMC")),
    ("tag in an artifact", "7.1-2", |d| content(d, "/NonStruct <</MCID", "/Artifact BMC EMC /Artifact BMC /NonStruct <</MCID")),
    ("artifact with an identifier", "7.1-1", |d| content(d, "/NonStruct <</MCID", "/Artifact <</MCID")),
    ("tag in a tag", "7.1", |d| content(d, "BDC", "BDC /NonStruct <</MCID 99>> BDC EMC")),
    ("tag in a pattern", "7.1", tagged_pattern),
    ("unbalanced", "7.1", |d| insert(d, "/Artifact BMC\n")),
    ("unbalanced end", "7.1", |d| insert(d, "EMC\n")),
    ("form drawn twice", "7.20-2", |d| {
        let name = drawn_form(d);
        insert(d, &format!("/{name} Do\n"));
    }),
    ("tagged form in an artifact", "7.1-2", |d| {
        let name = drawn_form(d);
        content(d, &format!("/{name} Do"), &format!("/Artifact BMC /{name} Do EMC"));
    }),

    // Agreement of the tree with the parent tree and content.
    ("identifier beyond the parent tree", "7.1-3", |d| content(d, "/NonStruct <</MCID ", "/NonStruct <</MCID 9")),
    ("identifier twice", "7.1", |d| insert(d, "/NonStruct <</MCID 0>> BDC EMC\n")),
    ("page without its key", "7.1-3", |d| set(d, find(d, "Type", "Page", 0), "StructParents", "")),
    ("page with another key", "7.1", |d| set(d, find(d, "Type", "Page", 0), "StructParents", "1")),
    ("form without its key", "7.1-3", |d| set(d, find(d, "Subtype", "Form", 0), "StructParents", "")),
    ("orphaned entry", "7.1", |d| {
        let other = nth(d, "P", 0);
        parent_tree(d, |entries| entries.extend([Object::Integer(99), Object::Reference(other)]));
    }),
    ("orphaned array", "7.1", |d| {
        let other = nth(d, "P", 0);
        let array = Object::Array(vec![Object::Reference(other)]);
        parent_tree(d, |entries| entries.extend([Object::Integer(99), array]));
    }),
    ("missing entry", "7.1-3", |d| parent_tree(d, |entries| { entries.drain(..2); })),
    ("key twice", "7.1", |d| {
        let other = nth(d, "P", 0);
        let array = Object::Array(vec![Object::Reference(other)]);
        parent_tree(d, |entries| entries.extend([Object::Integer(0), array]));
    }),
    ("longer array", "7.1", |d| parents(d, |parents| parents.push(parents[0].clone()))),
    ("null in an array", "7.1-3", |d| parents(d, |parents| parents[0] = Object::Null)),
    ("parents exchanged", "7.1", |d| parents(d, |parents| parents.swap(0, 1))),
    ("parent outside of the tree", "7.1", |d| {
        let root = nth(d, "Document", 0);
        let outsider = add(d, "P", root);
        parents(d, |parents| parents[0] = Object::Reference(outsider));
    }),
    ("next key too small", "7.1", |d| set(d, find(d, "Type", "StructTreeRoot", 0), "ParentTreeNextKey", "0")),
    ("no parent tree", "7.1-3", |d| set(d, find(d, "Type", "StructTreeRoot", 0), "ParentTree", "")),
    ("element without its content", "7.1", |d| element(d, "NonStruct", 0, "K", "")),
    ("element with more content", "7.1", |d| element(d, "NonStruct", 0, "K", "[0 77]")),
    ("content of two elements", "7.1", |d| element(d, "P", 0, "K", "[0 1 2 3]")),
    ("element with content of another page", "7.1", |d| element(d, "NonStruct", 0, "Pg", "1 0 R")),
    ("element reached twice", "7.1", |d| {
        let (first, second) = (nth(d, "P", 0), nth(d, "P", 1));
        set(d, second, "K", &format!("[{first} 0 R]"));
    }),
    ("tree with a circle", "7.1", |d| {
        let (paragraph, root) = (nth(d, "P", 0), nth(d, "Document", 0));
        set(d, paragraph, "K", &format!("[{root} 0 R]"));
    }),
    ("wrong parent", "7.1", |d| {
        let other = nth(d, "H1", 0);
        element(d, "P", 0, "P", &format!("{other} 0 R"));
    }),
    ("empty tree", "7.1", |d| set(d, find(d, "Type", "StructTreeRoot", 0), "K", "")),

    // Types.
    ("unknown type", "7.1-5", |d| element(d, "P", 0, "S", "/Paragraph")),
    ("type in other letters", "6.7.3.4-1", |d| element(d, "P", 0, "S", "/p")),
    ("circular role", "7.1-6", |d| { element(d, "P", 0, "S", "/A"); role_map(d, "<</A /B /B /A>>") }),
    ("circular role of another", "6.7.3.4-2", |d| { element(d, "P", 0, "S", "/A"); role_map(d, "<</A /A>>") }),
    ("standard role", "7.1-7", |d| role_map(d, "<</P /Span>>")),
    ("role of no standard type", "7.1-5", |d| { element(d, "P", 0, "S", "/A"); role_map(d, "<</A /B>>") }),

    // Figures, formulas, headings, notes, forms.
    ("figure without a text", "7.3-1", |d| element(d, "Figure", 0, "Alt", "")),
    ("figure with an empty text", "7.3-1", |d| element(d, "Figure", 0, "Alt", "()")),
    ("mapped figure", "7.3-1", |d| { role_map(d, "<</Picture /Figure>>"); element(d, "P", 0, "S", "/Picture") }),
    ("formula without a text", "7.7-1", |d| element(d, "P", 0, "S", "/Formula")),
    ("first heading", "7.4.2-1", |d| element(d, "H1", 0, "S", "/H2")),
    ("skipped heading", "7.4.2-1", |d| element(d, "H2", 0, "S", "/H3")),
    ("h after h1", "7.4.4-2", |d| element(d, "H2", 0, "S", "/H")),
    ("h1 after h", "7.4.4-3", |d| { element(d, "H1", 0, "S", "/H"); element(d, "H2", 0, "S", "/H1") }),
    ("h twice", "7.4.4-1", |d| { element(d, "H1", 0, "S", "/H"); element(d, "H2", 0, "S", "/H") }),
    ("note without an identifier", "7.9-1", |d| element(d, "P", 0, "S", "/Note")),
    ("note with an empty identifier", "7.9-1", |d| { element(d, "P", 0, "ID", "()"); element(d, "P", 0, "S", "/Note") }),
    ("notes with one identifier", "7.9-2", |d| for _ in 0..2 {
        element(d, "P", 0, "ID", "(n)");
        element(d, "P", 0, "S", "/Note");
    }),
    ("form without a role", "7.18.4-2", |d| element(d, "P", 0, "S", "/Form")),

    // Tables.
    ("table in place of a row", "7.2-3", |d| element(d, "TR", 1, "S", "/P")),
    ("row outside", "7.2-4", |d| element(d, "P", 0, "S", "/TR")),
    ("head outside", "7.2-5", |d| element(d, "P", 0, "S", "/THead")),
    ("body outside", "7.2-6", |d| element(d, "P", 0, "S", "/TBody")),
    ("foot outside", "7.2-7", |d| element(d, "P", 0, "S", "/TFoot")),
    ("header outside", "7.2-8", |d| element(d, "P", 0, "S", "/TH")),
    ("cell outside", "7.2-9", |d| element(d, "P", 0, "S", "/TD")),
    ("no cell in a row", "7.2-10", |d| element(d, "TD", 0, "S", "/P")),
    ("two heads", "7.2-11", |d| { wrap(d, "TR", 0, "THead"); wrap(d, "TR", 1, "THead") }),
    ("two feet", "7.2-12", |d| { wrap(d, "TR", 0, "TFoot"); wrap(d, "TR", 1, "TFoot") }),
    ("foot without a body", "7.2-13", |d| wrap(d, "TR", 1, "TFoot")),
    ("head without a body", "7.2-14", |d| wrap(d, "TR", 0, "THead")),
    ("head with a cell", "7.2-36", |d| { wrap(d, "TR", 0, "THead"); wrap(d, "TR", 0, "TH") }),
    ("body with a list", "7.2-37", |d| { wrap(d, "TR", 0, "TBody"); wrap(d, "TR", 0, "L") }),
    ("foot with a list", "7.2-38", |d| { wrap(d, "TR", 0, "TFoot"); wrap(d, "TR", 0, "L") }),
    ("caption between rows", "7.2-16", |d| {
        let (table, first, second) = (nth(d, "Table", 0), nth(d, "TR", 0), nth(d, "TR", 1));
        let caption = add(d, "Caption", table);
        set(d, table, "K", &format!("[{first} 0 R {caption} 0 R {second} 0 R]"));
    }),
    ("two captions", "7.2-39", |d| {
        let (table, row) = (nth(d, "Table", 0), nth(d, "TR", 0));
        let captions = [add(d, "Caption", table), add(d, "Caption", table)];
        set(d, table, "K", &format!("[{} 0 R {row} 0 R {} 0 R]", captions[0], captions[1]));
    }),
    ("long row", "7.2-42", |d| element(d, "TD", 0, "A", "<</O /Table /ColSpan 2>>")),
    ("short row", "7.2-43", |d| {
        let cell = nth(d, "TD", 0);
        element(d, "TR", 1, "K", &format!("[{cell} 0 R]"));
    }),
    ("long column", "7.2-41", |d| element(d, "TD", 1, "A", "<</O /Table /RowSpan 2>>")),
    ("many columns and rows for few cells", "7.2", |d| {
        element(d, "TH", 0, "A", "<</O /Table /Scope /Column /ColSpan 10000>>");
        element(d, "TD", 0, "A", "<</O /Table /ColSpan 10000>>");
    }),
    ("overlapping cells", "7.2-15", |d| {
        element(d, "TH", 1, "A", "<</O /Table /Scope /Column /RowSpan 2>>");
        element(d, "TD", 0, "A", "<</O /Table /ColSpan 2>>");
    }),
    ("no scope and no headers", "7.5-1", |d| {
        element(d, "TH", 0, "A", "<</O /Table>>");
        element(d, "TD", 0, "A", "<</O /Table>>");
    }),
    ("unknown header", "7.5-2", |d| {
        element(d, "TH", 0, "A", "<</O /Table>>");
        element(d, "TD", 0, "A", "<</O /Table /Headers [(nowhere)]>>");
    }),

    // Lists and tables of contents.
    ("item outside", "7.2-17", |d| element(d, "P", 0, "S", "/LI")),
    ("list body outside", "7.2-18", |d| element(d, "P", 0, "S", "/LBody")),
    ("paragraph in a list", "7.2-19", |d| wrap(d, "P", 0, "L")),
    ("paragraph in an item", "7.2-20", |d| { wrap(d, "P", 0, "LI"); wrap(d, "LI", 0, "L") }),
    ("late caption of a list", "7.2-40", |d| late_caption(d, "L", "LI")),
    ("entry outside", "7.2-26", |d| element(d, "P", 0, "S", "/TOCI")),
    ("paragraph in contents", "7.2-27", |d| wrap(d, "P", 0, "TOC")),
    ("late caption of contents", "7.2-28", |d| late_caption(d, "TOC", "TOCI")),

    // Links.
    ("link outside", "7.18.5-1", |d| element(d, "Link", 0, "S", "/Span")),
    ("link without an element", "7.18.5-1", |d| link(d, "StructParent", "")),
    ("link with the entry of a page", "7.18.5-1", |d| link(d, "StructParent", "0")),
    ("link with another entry", "7.18.5", |d| {
        let other = d.get_dictionary(find(d, "Subtype", "Link", 1), "a link").expect("a link");
        let key = other.get("StructParent").and_then(Object::as_integer).expect("a key");
        link(d, "StructParent", &key.to_string());
    }),
    ("link without a description", "7.18.5-2", |d| link(d, "Contents", "")),
    ("link with an empty description", "7.18.5-2", |d| link(d, "Contents", "()")),
    ("link of no page", "7.18.5", |d| set(d, find(d, "Type", "Page", 0), "Annots", "")),
    ("no tab order", "7.18.3-1", |d| set(d, find(d, "Type", "Page", 0), "Tabs", "")),
];
