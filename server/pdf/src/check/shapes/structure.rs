//! The structure tree.

use super::Presence::{Optional, Required};
use super::Value::{AnyName, Array, Boolean, Dictionary, Elsewhere, Integer, Name, Null, Number, Text};
use super::{BASE, INTEGERS, Shape};

pub(super) static STRUCTURE_TREE: Shape = Shape {
    name: "structure tree",
    clause: "6.7",
    entries: &[
        ("Type", Required, &[Name(&["StructTreeRoot"])]),
        (
            "K",
            Optional,
            &[
                Dictionary(&[&STRUCTURE_ELEMENT]),
                Array(&[Dictionary(&[&STRUCTURE_ELEMENT])]),
            ],
        ),
        ("ParentTree", Optional, &[Dictionary(&[&PARENT_TREE])]),
        ("ParentTreeNextKey", Optional, &[Integer]),
        ("IDTree", Optional, &[Dictionary(&[&IDENTIFIER_TREE])]),
        ("RoleMap", Optional, &[Dictionary(&[&ROLE_MAP])]),
    ],
    ..BASE
};

static STRUCTURE_ELEMENT: Shape = Shape {
    name: "structure element",
    clause: "6.7",
    entries: &[
        ("Type", Required, &[Name(&["StructElem"])]),
        ("S", Required, &[AnyName]),
        ("P", Required, &[Elsewhere]),
        ("Pg", Optional, &[Elsewhere]),
        (
            "K",
            Optional,
            &[
                Integer,
                Dictionary(&[&STRUCTURE_ELEMENT, &MARKED_CONTENT]),
                Array(&[Integer, Dictionary(&[&STRUCTURE_ELEMENT, &MARKED_CONTENT])]),
            ],
        ),
        ("ID", Optional, &[Text]),
        (
            "A",
            Optional,
            &[Dictionary(&[&ATTRIBUTES]), Array(&[Dictionary(&[&ATTRIBUTES])])],
        ),
        ("T", Optional, &[Text]),
        ("Lang", Optional, &[Text]),
        ("Alt", Optional, &[Text]),
        ("ActualText", Optional, &[Text]),
        ("E", Optional, &[Text]),
    ],
    ..BASE
};

/// Marked content, or an annotation, that belongs to an element.
static MARKED_CONTENT: Shape = Shape {
    name: "marked-content or object reference",
    clause: "6.7",
    entries: &[
        ("Type", Required, &[Name(&["MCR", "OBJR"])]),
        ("Pg", Optional, &[Elsewhere]),
        ("Stm", Optional, &[Elsewhere]),
        ("MCID", Optional, &[Integer]),
        ("Obj", Optional, &[Elsewhere]),
    ],
    ..BASE
};

static ATTRIBUTES: Shape = Shape {
    name: "attributes",
    clause: "6.7",
    entries: &[("O", Required, &[AnyName])],
    others: &[Boolean, Number, Text, AnyName, Array(&[Number, Text, AnyName])],
    ..BASE
};

static PARENT_TREE: Shape = Shape {
    name: "parent tree",
    clause: "6.7",
    entries: &[
        ("Type", Optional, &[Name(&["ParentTree"])]),
        (
            "Nums",
            Optional,
            &[Array(&[
                Integer,
                Dictionary(&[&STRUCTURE_ELEMENT]),
                Array(&[Dictionary(&[&STRUCTURE_ELEMENT]), Null]),
            ])],
        ),
        ("Kids", Optional, &[Array(&[Dictionary(&[&PARENT_TREE])])]),
        ("Limits", Optional, INTEGERS),
    ],
    ..BASE
};

static IDENTIFIER_TREE: Shape = Shape {
    name: "identifier tree",
    clause: "6.7",
    entries: &[
        ("Names", Optional, &[Array(&[Text, Elsewhere])]),
        ("Kids", Optional, &[Array(&[Dictionary(&[&IDENTIFIER_TREE])])]),
        ("Limits", Optional, &[Array(&[Text])]),
    ],
    ..BASE
};

static ROLE_MAP: Shape = Shape {
    name: "role map",
    clause: "6.7",
    others: &[AnyName],
    ..BASE
};
