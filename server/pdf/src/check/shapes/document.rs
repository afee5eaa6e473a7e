//! The document: trailer, catalog, metadata, pages, outline, links.

use super::Presence::{Optional, Required};
use super::Value::{Among, AnyName, Array, Boolean, Dictionary, Elsewhere, Integer, Name, Text};
use super::graphics::{COLOUR_PROFILE, CONTENT, GROUP, RESOURCES};
use super::structure::STRUCTURE_TREE;
use super::{DESTINATION, NUMBERS, Role, Shape, Value};

pub(in crate::check) static TRAILER: &[Value] = &[Dictionary(&[&TRAILER_DICTIONARY])];

static TRAILER_DICTIONARY: Shape = Shape::dictionary("trailer", "6.1.3").entries(&[
    ("Size", Required, &[Integer]),
    ("Root", Required, &[Dictionary(&[&CATALOG])]),
    ("Info", Optional, &[Dictionary(&[&INFORMATION])]),
    ("ID", Optional, &[Array(&[Text])]),
]);

static CATALOG: Shape = Shape::dictionary("catalog", "6.1").entries(&[
    ("Type", Required, &[Name(&["Catalog"])]),
    ("Pages", Required, &[Dictionary(&[&PAGES])]),
    ("Metadata", Required, &[Dictionary(&[&METADATA])]),
    ("OutputIntents", Required, &[Array(&[Dictionary(&[&OUTPUT_INTENT])])]),
    ("Lang", Optional, &[Text]),
    ("MarkInfo", Optional, &[Dictionary(&[&MARK_INFORMATION])]),
    ("StructTreeRoot", Optional, &[Dictionary(&[&STRUCTURE_TREE])]),
    ("ViewerPreferences", Optional, &[Dictionary(&[&VIEWER_PREFERENCES])]),
    ("Outlines", Optional, &[Dictionary(&[&OUTLINE])]),
    ("Dests", Optional, &[Dictionary(&[&DESTINATIONS])]),
]);

static INFORMATION: Shape = Shape::dictionary("document information", "6.6.3").entries(&[
    ("Title", Optional, &[Text]),
    ("Author", Optional, &[Text]),
    ("Subject", Optional, &[Text]),
    ("Keywords", Optional, &[Text]),
    ("Creator", Optional, &[Text]),
    ("Producer", Optional, &[Text]),
    ("CreationDate", Optional, &[Text]),
    ("ModDate", Optional, &[Text]),
]);

static METADATA: Shape = Shape::stream("metadata stream", "6.6.2.1").entries(&[
    ("Type", Required, &[Name(&["Metadata"])]),
    ("Subtype", Required, &[Name(&["XML"])]),
    ("Length", Required, &[Integer]),
]);

static OUTPUT_INTENT: Shape = Shape::dictionary("output intent", "6.2.3").entries(&[
    ("Type", Required, &[Name(&["OutputIntent"])]),
    ("S", Required, &[Name(&["GTS_PDFA1"])]),
    ("OutputConditionIdentifier", Required, &[Text]),
    ("Info", Optional, &[Text]),
    ("DestOutputProfile", Required, &[Dictionary(&[&COLOUR_PROFILE])]),
]);

static MARK_INFORMATION: Shape = Shape::dictionary("mark information", "6.7").entries(&[
    ("Type", Optional, &[Name(&["MarkInfo"])]),
    ("Marked", Required, &[Boolean]),
]);

static VIEWER_PREFERENCES: Shape = Shape::dictionary("viewer preferences", "6.1").entries(&[
    ("Type", Optional, &[Name(&["ViewerPreferences"])]),
    ("DisplayDocTitle", Optional, &[Boolean]),
]);

static OUTLINE: Shape = Shape::dictionary("outline", "6.1").entries(&[
    ("Type", Optional, &[Name(&["Outlines"])]),
    ("First", Optional, &[Dictionary(&[&OUTLINE_ITEM])]),
    ("Last", Optional, &[Elsewhere]),
    ("Count", Optional, &[Integer]),
]);

static OUTLINE_ITEM: Shape = Shape::dictionary("outline item", "6.5").entries(&[
    ("Title", Required, &[Text]),
    ("Parent", Required, &[Elsewhere]),
    ("Prev", Optional, &[Elsewhere]),
    ("Next", Optional, &[Dictionary(&[&OUTLINE_ITEM])]),
    ("First", Optional, &[Dictionary(&[&OUTLINE_ITEM])]),
    ("Last", Optional, &[Elsewhere]),
    ("Count", Optional, &[Integer]),
    ("Dest", Optional, &[DESTINATION, AnyName]),
    ("SE", Optional, &[Elsewhere]),
]);

static DESTINATIONS: Shape = Shape::dictionary("named destinations", "6.1").others(&[DESTINATION]);

static PAGES: Shape = Shape::dictionary("page tree node", "6.1")
    .role(Role::PageTreeNode)
    .entries(&[
        ("Type", Required, &[Name(&["Pages"])]),
        ("Kids", Required, &[Array(&[Dictionary(&[&PAGE, &PAGES])])]),
        ("Count", Required, &[Integer]),
        ("Parent", Optional, &[Elsewhere]),
    ]);

static PAGE: Shape = Shape::dictionary("page", "6.2").role(Role::Page).entries(&[
    ("Type", Required, &[Name(&["Page"])]),
    ("Parent", Required, &[Elsewhere]),
    ("MediaBox", Required, NUMBERS),
    ("Resources", Required, &[Dictionary(&[&RESOURCES])]),
    (
        "Contents",
        Optional,
        &[Dictionary(&[&CONTENT]), Array(&[Dictionary(&[&CONTENT])])],
    ),
    ("Annots", Optional, &[Array(&[Dictionary(&[&LINK])])]),
    ("StructParents", Optional, &[Integer]),
    ("Tabs", Optional, &[Name(&["S"])]),
    ("Group", Optional, &[Dictionary(&[&GROUP])]),
]);

static LINK: Shape = Shape::dictionary("annotation", "6.3").entries(&[
    ("Type", Required, &[Name(&["Annot"])]),
    ("Subtype", Required, &[Name(&["Link"])]),
    // Printed, and neither hidden nor invisible (6.3.2).
    ("F", Required, &[Among(&[4])]),
    ("Rect", Required, NUMBERS),
    ("Border", Optional, NUMBERS),
    ("Contents", Optional, &[Text]),
    ("Dest", Optional, &[DESTINATION, AnyName]),
    ("A", Optional, &[Dictionary(&[&ACTION])]),
    ("P", Optional, &[Elsewhere]),
    ("StructParent", Optional, &[Integer]),
]);

static ACTION: Shape = Shape::dictionary("action", "6.5.1").entries(&[
    ("S", Required, &[Name(&["URI"])]),
    ("Type", Optional, &[Name(&["Action"])]),
    ("URI", Required, &[Text]),
]);
