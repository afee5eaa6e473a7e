//! The structure tree.

use super::Presence::{Optional, Required};
use super::Value::{AnyName, Array, Boolean, Dictionary, Elsewhere, Integer, Name, Null, Number, Text};
use super::{INTEGERS, Shape};

pub(super) static STRUCTURE_TREE: Shape = Shape::dictionary("structure tree", "6.7").entries(&[
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
]);

static STRUCTURE_ELEMENT: Shape = Shape::dictionary("structure element", "6.7").entries(&[
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
]);

/// Marked content, or an annotation, that belongs to an element.
static MARKED_CONTENT: Shape = Shape::dictionary("marked-content or object reference", "6.7").entries(&[
    ("Type", Required, &[Name(&["MCR", "OBJR"])]),
    ("Pg", Optional, &[Elsewhere]),
    ("Stm", Optional, &[Elsewhere]),
    ("MCID", Optional, &[Integer]),
    ("Obj", Optional, &[Elsewhere]),
]);

static ATTRIBUTES: Shape = Shape::dictionary("attributes", "6.7")
    .entries(&[("O", Required, &[AnyName])])
    .others(&[Boolean, Number, Text, AnyName, Array(&[Number, Text, AnyName])]);

static PARENT_TREE: Shape = Shape::dictionary("parent tree", "6.7").entries(&[
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
]);

static IDENTIFIER_TREE: Shape = Shape::dictionary("identifier tree", "6.7").entries(&[
    ("Names", Optional, &[Array(&[Text, Elsewhere])]),
    ("Kids", Optional, &[Array(&[Dictionary(&[&IDENTIFIER_TREE])])]),
    ("Limits", Optional, &[Array(&[Text])]),
]);

static ROLE_MAP: Shape = Shape::dictionary("role map", "6.7").others(&[AnyName]);
