//! Fonts: TrueType programs with two-byte codes, and Type 3 for all others.

use super::Presence::{Optional, Required};
use super::Value::{AnyName, Array, Dictionary, Integer, Name, Number, Text};
use super::graphics::{CONTENT, RESOURCES};
use super::{FLATE, NUMBERS, Role, Shape};

pub(super) static COMPOSITE_FONT: Shape = Shape::dictionary("composite font", "6.2.11")
    .role(Role::CompositeFont)
    .entries(&[
        ("Subtype", Required, &[Name(&["Type0"])]),
        ("Type", Required, &[Name(&["Font"])]),
        ("BaseFont", Required, &[AnyName]),
        ("Encoding", Required, &[Name(&["Identity-H"])]),
        ("DescendantFonts", Required, &[Array(&[Dictionary(&[&CID_FONT])])]),
        ("ToUnicode", Optional, &[Dictionary(&[&CMAP])]),
    ]);

static CID_FONT: Shape = Shape::dictionary("CID font", "6.2.11").entries(&[
    ("Subtype", Required, &[Name(&["CIDFontType2"])]),
    ("Type", Required, &[Name(&["Font"])]),
    ("BaseFont", Required, &[AnyName]),
    ("CIDSystemInfo", Required, &[Dictionary(&[&CID_SYSTEM_INFORMATION])]),
    ("CIDToGIDMap", Required, &[Name(&["Identity"])]),
    ("FontDescriptor", Required, &[Dictionary(&[&FONT_DESCRIPTOR])]),
    ("DW", Optional, &[Number]),
    ("W", Optional, &[Array(&[Number, Array(&[Number])])]),
]);

static CID_SYSTEM_INFORMATION: Shape = Shape::dictionary("CID system information", "6.2.11.3").entries(&[
    ("Registry", Required, &[Text]),
    ("Ordering", Required, &[Text]),
    ("Supplement", Required, &[Integer]),
]);

static FONT_DESCRIPTOR: Shape = Shape::dictionary("font descriptor", "6.2.11").entries(&[
    ("Type", Required, &[Name(&["FontDescriptor"])]),
    ("FontName", Required, &[AnyName]),
    ("FontFamily", Optional, &[Text]),
    ("FontStretch", Optional, &[AnyName]),
    ("FontWeight", Optional, &[Number]),
    ("Flags", Required, &[Integer]),
    ("FontBBox", Optional, NUMBERS),
    ("ItalicAngle", Optional, &[Number]),
    ("Ascent", Optional, &[Number]),
    ("Descent", Optional, &[Number]),
    ("CapHeight", Optional, &[Number]),
    ("XHeight", Optional, &[Number]),
    ("StemV", Optional, &[Number]),
    ("FontFile2", Optional, &[Dictionary(&[&FONT_PROGRAM])]),
]);

static FONT_PROGRAM: Shape = Shape::stream("font program", "6.2.11.4").entries(&[
    ("Length", Required, &[Integer]),
    ("Length1", Required, &[Integer]),
    ("Filter", Optional, FLATE),
]);

static CMAP: Shape =
    Shape::stream("Unicode map", "6.2.11.7").entries(&[("Length", Required, &[Integer]), ("Filter", Optional, FLATE)]);

pub(super) static TYPE_3_FONT: Shape = Shape::dictionary("Type 3 font", "6.2.11")
    .role(Role::Type3Font)
    .entries(&[
        ("Subtype", Required, &[Name(&["Type3"])]),
        ("Type", Required, &[Name(&["Font"])]),
        ("FontBBox", Required, NUMBERS),
        ("FontMatrix", Required, NUMBERS),
        ("FirstChar", Required, &[Integer]),
        ("LastChar", Required, &[Integer]),
        ("Widths", Required, NUMBERS),
        ("Encoding", Required, &[Dictionary(&[&ENCODING])]),
        ("CharProcs", Required, &[Dictionary(&[&GLYPHS])]),
        ("Resources", Optional, &[Dictionary(&[&RESOURCES])]),
        ("ToUnicode", Optional, &[Dictionary(&[&CMAP])]),
        ("FontDescriptor", Optional, &[Dictionary(&[&FONT_DESCRIPTOR])]),
        // Has no meaning in a Type 3 font, but Chromium writes it.
        ("CIDToGIDMap", Optional, &[Name(&["Identity"])]),
    ]);

static ENCODING: Shape = Shape::dictionary("encoding", "6.2.11.6").entries(&[
    ("Type", Optional, &[Name(&["Encoding"])]),
    ("Differences", Required, &[Array(&[Integer, AnyName])]),
]);

static GLYPHS: Shape = Shape::dictionary("glyph procedures", "6.2.11").others(&[Dictionary(&[&CONTENT])]);
