//! Resources of content streams: graphics states, patterns, forms, images.

use super::Presence::{Optional, Required};
use super::Value::{Among, Array, Boolean, Dictionary, Integer, Name, Number};
use super::fonts::{COMPOSITE_FONT, TYPE_3_FONT};
use super::{FLATE, INTEGERS, NUMBERS, Role, Shape};

/// The content of a page, and glyphs of Type 3 fonts.
pub(super) static CONTENT: Shape =
    Shape::stream("content stream", "6.2.2").entries(&[("Length", Required, &[Integer]), ("Filter", Optional, FLATE)]);

pub(super) static RESOURCES: Shape = Shape::dictionary("resources", "6.2.2").entries(&[
    (
        "ProcSet",
        Optional,
        &[Array(&[Name(&["PDF", "Text", "ImageB", "ImageC", "ImageI"])])],
    ),
    ("ExtGState", Optional, &[Dictionary(&[&GRAPHICS_STATES])]),
    ("Font", Optional, &[Dictionary(&[&FONTS])]),
    ("Pattern", Optional, &[Dictionary(&[&PATTERNS])]),
    ("XObject", Optional, &[Dictionary(&[&X_OBJECTS])]),
]);

static GRAPHICS_STATES: Shape = Shape::dictionary("graphics states", "6.2.5").others(&[Dictionary(&[&GRAPHICS_STATE])]);

static FONTS: Shape = Shape::dictionary("fonts", "6.2.11.2").others(&[Dictionary(&[&COMPOSITE_FONT, &TYPE_3_FONT])]);

static PATTERNS: Shape =
    Shape::dictionary("patterns", "6.2.2").others(&[Dictionary(&[&TILING_PATTERN, &SHADING_PATTERN])]);

static X_OBJECTS: Shape = Shape::dictionary("external objects", "6.2.9").others(&[Dictionary(&[&FORM, &IMAGE])]);

static GRAPHICS_STATE: Shape = Shape::dictionary("graphics state", "6.2.5").entries(&[
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
]);

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

static SOFT_MASK: Shape = Shape::dictionary("soft mask", "6.2.10").entries(&[
    ("S", Required, &[Name(&["Alpha", "Luminosity"])]),
    ("Type", Optional, &[Name(&["Mask"])]),
    ("G", Required, &[Dictionary(&[&FORM])]),
    ("TR", Optional, &[Dictionary(&[&FUNCTION])]),
]);

pub(super) static GROUP: Shape = Shape::dictionary("transparency group", "6.2.10").entries(&[
    ("S", Required, &[Name(&["Transparency"])]),
    ("Type", Optional, &[Name(&["Group"])]),
    ("CS", Optional, &[Name(&["DeviceRGB", "DeviceGray"])]),
    ("I", Optional, &[Boolean]),
    ("K", Optional, &[Boolean]),
]);

static FORM: Shape = Shape::stream("form", "6.2.9").role(Role::Drawing).entries(&[
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
]);

static IMAGE: Shape = Shape::stream("image", "6.2.8").entries(&[
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
]);

pub(super) static COLOUR_PROFILE: Shape = Shape::stream("colour profile", "6.2.4.2")
    .role(Role::ColourProfile)
    .entries(&[
        ("N", Required, &[Among(&[1, 3])]),
        ("Length", Required, &[Integer]),
        ("Filter", Optional, FLATE),
    ]);

static TILING_PATTERN: Shape = Shape::stream("tiling pattern", "6.2.2").role(Role::Drawing).entries(&[
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
]);

static SHADING_PATTERN: Shape = Shape::dictionary("shading pattern", "6.2.4").entries(&[
    ("PatternType", Required, &[Among(&[2])]),
    ("Type", Optional, &[Name(&["Pattern"])]),
    ("Matrix", Optional, NUMBERS),
    ("Shading", Required, &[Dictionary(&[&SHADING])]),
]);

static SHADING: Shape = Shape::dictionary("shading", "6.2.4").entries(&[
    ("ShadingType", Required, &[Among(&[1, 2, 3])]),
    ("ColorSpace", Required, &[Name(&["DeviceRGB", "DeviceGray"])]),
    ("Coords", Optional, NUMBERS),
    ("Domain", Optional, NUMBERS),
    ("Matrix", Optional, NUMBERS),
    ("Extend", Optional, &[Array(&[Boolean])]),
    ("Function", Required, &[Dictionary(&[&FUNCTION])]),
]);

static FUNCTION: Shape = Shape::dictionary_or_stream("function", "6.2.4").entries(&[
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
]);
