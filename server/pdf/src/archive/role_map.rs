//! Maps Chromium's newer types of structure elements for readers that know only those of PDF 1.7 (ISO 32000-1, 14.7.3;
//! ISO 19005-2, 6.7.3.4).

use crate::PdfError;
use crate::document::Document;
use crate::object::Object;

/// Types of PDF 2.0 that Chromium writes, and the closest ones of PDF 1.7.
const ROLES: [(&str, &str); 7] = [
    ("Aside", "Div"),
    ("DocumentFragment", "Div"),
    ("Em", "Span"),
    ("FENote", "Note"),
    ("Strong", "Span"),
    ("Sub", "Span"),
    ("Title", "P"),
];

/// Adds a map of all these types to the structure tree, if there is one. Finding out which ones are needed would cost
/// more than it saves.
pub(super) fn add_role_map(document: &mut Document) -> Result<(), PdfError> {
    let catalog = document.get_dictionary(document.root()?, "expected a catalog")?;
    let Some(number) = catalog.reference("StructTreeRoot") else {
        return Ok(());
    };
    let mut structure = document.get_dictionary(number, "expected a structure tree")?;
    let mut roles = document.resolve_dictionary(&structure, "RoleMap")?;
    for (kind, role) in ROLES {
        roles.set(kind, Object::name(role));
    }
    structure.set("RoleMap", Object::Dictionary(roles));
    document.set(number, Object::Dictionary(structure));
    Ok(())
}
