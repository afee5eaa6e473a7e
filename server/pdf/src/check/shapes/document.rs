//! The document: trailer, catalog, metadata, pages, outline, links.

use super::Form::Stream;
use super::Presence::{Optional, Required};
use super::Value::{Among, AnyName, Array, Boolean, Dictionary, Elsewhere, Integer, Name, Text};
use super::graphics::{COLOUR_PROFILE, CONTENT, GROUP, RESOURCES};
use super::structure::STRUCTURE_TREE;
use super::{BASE, DESTINATION, NUMBERS, Role, Shape, Value};

pub(in crate::check) static TRAILER: &[Value] = &[Dictionary(&[&TRAILER_DICTIONARY])];

static TRAILER_DICTIONARY: Shape = Shape {
    name: "trailer",
    clause: "6.1.3",
    entries: &[
        ("Size", Required, &[Integer]),
        ("Root", Required, &[Dictionary(&[&CATALOG])]),
        ("Info", Optional, &[Dictionary(&[&INFORMATION])]),
        ("ID", Optional, &[Array(&[Text])]),
    ],
    ..BASE
};

static CATALOG: Shape = Shape {
    name: "catalog",
    clause: "6.1",
    entries: &[
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
    ],
    ..BASE
};

static INFORMATION: Shape = Shape {
    name: "document information",
    clause: "6.6.3",
    entries: &[
        ("Title", Optional, &[Text]),
        ("Author", Optional, &[Text]),
        ("Subject", Optional, &[Text]),
        ("Keywords", Optional, &[Text]),
        ("Creator", Optional, &[Text]),
        ("Producer", Optional, &[Text]),
        ("CreationDate", Optional, &[Text]),
        ("ModDate", Optional, &[Text]),
    ],
    ..BASE
};

static METADATA: Shape = Shape {
    name: "metadata stream",
    clause: "6.6.2.1",
    form: Stream,
    entries: &[
        ("Type", Required, &[Name(&["Metadata"])]),
        ("Subtype", Required, &[Name(&["XML"])]),
        ("Length", Required, &[Integer]),
    ],
    ..BASE
};

static OUTPUT_INTENT: Shape = Shape {
    name: "output intent",
    clause: "6.2.3",
    entries: &[
        ("Type", Required, &[Name(&["OutputIntent"])]),
        ("S", Required, &[Name(&["GTS_PDFA1"])]),
        ("OutputConditionIdentifier", Required, &[Text]),
        ("Info", Optional, &[Text]),
        ("DestOutputProfile", Required, &[Dictionary(&[&COLOUR_PROFILE])]),
    ],
    ..BASE
};

static MARK_INFORMATION: Shape = Shape {
    name: "mark information",
    clause: "6.7",
    entries: &[
        ("Type", Optional, &[Name(&["MarkInfo"])]),
        ("Marked", Required, &[Boolean]),
    ],
    ..BASE
};

static VIEWER_PREFERENCES: Shape = Shape {
    name: "viewer preferences",
    clause: "6.1",
    entries: &[
        ("Type", Optional, &[Name(&["ViewerPreferences"])]),
        ("DisplayDocTitle", Optional, &[Boolean]),
    ],
    ..BASE
};

static OUTLINE: Shape = Shape {
    name: "outline",
    clause: "6.1",
    entries: &[
        ("Type", Optional, &[Name(&["Outlines"])]),
        ("First", Optional, &[Dictionary(&[&OUTLINE_ITEM])]),
        ("Last", Optional, &[Elsewhere]),
        ("Count", Optional, &[Integer]),
    ],
    ..BASE
};

static OUTLINE_ITEM: Shape = Shape {
    name: "outline item",
    clause: "6.5",
    entries: &[
        ("Title", Required, &[Text]),
        ("Parent", Required, &[Elsewhere]),
        ("Prev", Optional, &[Elsewhere]),
        ("Next", Optional, &[Dictionary(&[&OUTLINE_ITEM])]),
        ("First", Optional, &[Dictionary(&[&OUTLINE_ITEM])]),
        ("Last", Optional, &[Elsewhere]),
        ("Count", Optional, &[Integer]),
        ("Dest", Optional, &[DESTINATION, AnyName]),
        ("SE", Optional, &[Elsewhere]),
    ],
    ..BASE
};

static DESTINATIONS: Shape = Shape {
    name: "named destinations",
    clause: "6.1",
    others: &[DESTINATION],
    ..BASE
};

static PAGES: Shape = Shape {
    name: "page tree node",
    clause: "6.1",
    role: Role::PageTreeNode,
    entries: &[
        ("Type", Required, &[Name(&["Pages"])]),
        ("Kids", Required, &[Array(&[Dictionary(&[&PAGE, &PAGES])])]),
        ("Count", Required, &[Integer]),
        ("Parent", Optional, &[Elsewhere]),
    ],
    ..BASE
};

static PAGE: Shape = Shape {
    name: "page",
    clause: "6.2",
    role: Role::Page,
    entries: &[
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
    ],
    ..BASE
};

static LINK: Shape = Shape {
    name: "annotation",
    clause: "6.3",
    entries: &[
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
    ],
    ..BASE
};

static ACTION: Shape = Shape {
    name: "action",
    clause: "6.5.1",
    entries: &[
        ("S", Required, &[Name(&["URI"])]),
        ("Type", Optional, &[Name(&["Action"])]),
        ("URI", Required, &[Text]),
    ],
    ..BASE
};
