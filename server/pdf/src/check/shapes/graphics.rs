//! Resources of content streams: graphics states, patterns, forms, images.

use super::Form::{Either, Stream};
use super::Presence::{Optional, Required};
use super::Value::{Among, Array, Boolean, Dictionary, Integer, Name, Number};
use super::fonts::{COMPOSITE_FONT, TYPE_3_FONT};
use super::{BASE, FLATE, INTEGERS, NUMBERS, Role, Shape};

/// The content of a page, and glyphs of Type 3 fonts.
pub(super) static CONTENT: Shape = Shape {
    name: "content stream",
    clause: "6.2.2",
    form: Stream,
    entries: &[("Length", Required, &[Integer]), ("Filter", Optional, FLATE)],
    ..BASE
};

pub(super) static RESOURCES: Shape = Shape {
    name: "resources",
    clause: "6.2.2",
    entries: &[
        (
            "ProcSet",
            Optional,
            &[Array(&[Name(&["PDF", "Text", "ImageB", "ImageC", "ImageI"])])],
        ),
        ("ExtGState", Optional, &[Dictionary(&[&GRAPHICS_STATES])]),
        ("Font", Optional, &[Dictionary(&[&FONTS])]),
        ("Pattern", Optional, &[Dictionary(&[&PATTERNS])]),
        ("XObject", Optional, &[Dictionary(&[&X_OBJECTS])]),
    ],
    ..BASE
};

static GRAPHICS_STATES: Shape = Shape {
    name: "graphics states",
    clause: "6.2.5",
    others: &[Dictionary(&[&GRAPHICS_STATE])],
    ..BASE
};

static FONTS: Shape = Shape {
    name: "fonts",
    clause: "6.2.11.2",
    others: &[Dictionary(&[&COMPOSITE_FONT, &TYPE_3_FONT])],
    ..BASE
};

static PATTERNS: Shape = Shape {
    name: "patterns",
    clause: "6.2.2",
    others: &[Dictionary(&[&TILING_PATTERN, &SHADING_PATTERN])],
    ..BASE
};

static X_OBJECTS: Shape = Shape {
    name: "external objects",
    clause: "6.2.9",
    others: &[Dictionary(&[&FORM, &IMAGE])],
    ..BASE
};

static GRAPHICS_STATE: Shape = Shape {
    name: "graphics state",
    clause: "6.2.5",
    entries: &[
        ("Type", Optional, &[Name(&["ExtGState"])]),
        ("CA", Optional, &[Number]),
        ("ca", Optional, &[Number]),
        ("LC", Optional, &[Integer]),
        ("LJ", Optional, &[Integer]),
        ("LW", Optional, &[Number]),
        ("ML", Optional, &[Number]),
        ("SA", Optional, &[Boolean]),
        ("BM", Optional, &[Name(BLEND_MODES)]),
        ("SMask", Optional, &[Name(&["None"]), Dictionary(&[&SOFT_MASK])]),
    ],
    ..BASE
};

const BLEND_MODES: &[&str] = &[
    "Normal",
    "Multiply",
    "Screen",
    "Overlay",
    "Darken",
    "Lighten",
    "ColorDodge",
    "ColorBurn",
    "HardLight",
    "SoftLight",
    "Difference",
    "Exclusion",
    "Hue",
    "Saturation",
    "Color",
    "Luminosity",
];

static SOFT_MASK: Shape = Shape {
    name: "soft mask",
    clause: "6.2.10",
    entries: &[
        ("S", Required, &[Name(&["Alpha", "Luminosity"])]),
        ("Type", Optional, &[Name(&["Mask"])]),
        ("G", Required, &[Dictionary(&[&FORM])]),
        ("TR", Optional, &[Dictionary(&[&FUNCTION])]),
    ],
    ..BASE
};

pub(super) static GROUP: Shape = Shape {
    name: "transparency group",
    clause: "6.2.10",
    entries: &[
        ("S", Required, &[Name(&["Transparency"])]),
        ("Type", Optional, &[Name(&["Group"])]),
        ("CS", Optional, &[Name(&["DeviceRGB", "DeviceGray"])]),
        ("I", Optional, &[Boolean]),
        ("K", Optional, &[Boolean]),
    ],
    ..BASE
};

static FORM: Shape = Shape {
    name: "form",
    clause: "6.2.9",
    form: Stream,
    role: Role::Drawing,
    entries: &[
        ("Subtype", Required, &[Name(&["Form"])]),
        ("Type", Optional, &[Name(&["XObject"])]),
        ("FormType", Optional, &[Among(&[1])]),
        ("BBox", Required, NUMBERS),
        ("Matrix", Optional, NUMBERS),
        ("Resources", Optional, &[Dictionary(&[&RESOURCES])]),
        ("Group", Optional, &[Dictionary(&[&GROUP])]),
        ("StructParents", Optional, &[Integer]),
        ("Length", Required, &[Integer]),
        ("Filter", Optional, FLATE),
    ],
    ..BASE
};

static IMAGE: Shape = Shape {
    name: "image",
    clause: "6.2.8",
    form: Stream,
    entries: &[
        ("Subtype", Required, &[Name(&["Image"])]),
        ("Type", Optional, &[Name(&["XObject"])]),
        ("Width", Required, &[Integer]),
        ("Height", Required, &[Integer]),
        ("BitsPerComponent", Required, &[Among(&[1, 2, 4, 8, 16])]),
        (
            "ColorSpace",
            Required,
            &[
                Name(&["DeviceRGB", "DeviceGray"]),
                Array(&[Name(&["ICCBased"]), Dictionary(&[&COLOUR_PROFILE])]),
            ],
        ),
        ("SMask", Optional, &[Dictionary(&[&IMAGE])]),
        ("Decode", Optional, NUMBERS),
        ("ColorTransform", Optional, &[Integer]),
        ("Length", Required, &[Integer]),
        ("Filter", Required, &[Name(&["FlateDecode", "DCTDecode"])]),
    ],
    ..BASE
};

pub(super) static COLOUR_PROFILE: Shape = Shape {
    name: "colour profile",
    clause: "6.2.4.2",
    form: Stream,
    role: Role::ColourProfile,
    entries: &[
        ("N", Required, &[Among(&[1, 3])]),
        ("Length", Required, &[Integer]),
        ("Filter", Optional, FLATE),
    ],
    ..BASE
};

static TILING_PATTERN: Shape = Shape {
    name: "tiling pattern",
    clause: "6.2.2",
    form: Stream,
    role: Role::Drawing,
    entries: &[
        ("PatternType", Required, &[Among(&[1])]),
        ("Type", Optional, &[Name(&["Pattern"])]),
        ("PaintType", Required, &[Among(&[1])]),
        ("TilingType", Required, &[Integer]),
        ("BBox", Required, NUMBERS),
        ("XStep", Required, &[Number]),
        ("YStep", Required, &[Number]),
        ("Matrix", Optional, NUMBERS),
        ("Resources", Required, &[Dictionary(&[&RESOURCES])]),
        ("StructParents", Optional, &[Integer]),
        ("Length", Required, &[Integer]),
        ("Filter", Optional, FLATE),
    ],
    ..BASE
};

static SHADING_PATTERN: Shape = Shape {
    name: "shading pattern",
    clause: "6.2.4",
    entries: &[
        ("PatternType", Required, &[Among(&[2])]),
        ("Type", Optional, &[Name(&["Pattern"])]),
        ("Matrix", Optional, NUMBERS),
        ("Shading", Required, &[Dictionary(&[&SHADING])]),
    ],
    ..BASE
};

static SHADING: Shape = Shape {
    name: "shading",
    clause: "6.2.4",
    entries: &[
        ("ShadingType", Required, &[Among(&[1, 2, 3])]),
        ("ColorSpace", Required, &[Name(&["DeviceRGB", "DeviceGray"])]),
        ("Coords", Optional, NUMBERS),
        ("Domain", Optional, NUMBERS),
        ("Matrix", Optional, NUMBERS),
        ("Extend", Optional, &[Array(&[Boolean])]),
        ("Function", Required, &[Dictionary(&[&FUNCTION])]),
    ],
    ..BASE
};

static FUNCTION: Shape = Shape {
    name: "function",
    clause: "6.2.4",
    form: Either,
    entries: &[
        ("FunctionType", Required, &[Among(&[0, 2, 3, 4])]),
        ("Domain", Required, NUMBERS),
        ("Range", Optional, NUMBERS),
        ("Size", Optional, INTEGERS),
        ("BitsPerSample", Optional, &[Integer]),
        ("Encode", Optional, NUMBERS),
        ("Decode", Optional, NUMBERS),
        ("C0", Optional, NUMBERS),
        ("C1", Optional, NUMBERS),
        ("N", Optional, &[Number]),
        ("Functions", Optional, &[Array(&[Dictionary(&[&FUNCTION])])]),
        ("Bounds", Optional, NUMBERS),
        ("Length", Optional, &[Integer]),
        ("Filter", Optional, FLATE),
    ],
    ..BASE
};
