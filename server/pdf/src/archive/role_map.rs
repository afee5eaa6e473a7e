//! Says what the newer of Chromium's types of structure elements mean to readers that know those of PDF 1.7 only
//! (ISO 32000-1, 14.7.3; ISO 19005-2, 6.7.3.4).

use crate::PdfError;
use crate::document::Document;
use crate::object::Object;

/// Types of PDF 2.0 that Chromium writes, and the nearest of PDF 1.7.
const ROLES: [(&str, &str); 7] = [
    ("Aside", "Div"),
    ("DocumentFragment", "Div"),
    ("Em", "Span"),
    ("FENote", "Note"),
    ("Strong", "Span"),
    ("Sub", "Span"),
    ("Title", "P"),
];

/// Gives the structure tree, if there is one, a map of all of them: to find out which are needed would cost more than
/// it saves.
pub(super) fn add_role_map(document: &mut Document) -> Result<(), PdfError> {
    let catalog = document.get_dictionary(document.root()?, "a catalog expected")?;
    let Some(number) = catalog.reference("StructTreeRoot") else {
        return Ok(());
    };
    let mut structure = document.get_dictionary(number, "a structure tree expected")?;
    let mut roles = document.resolve_dictionary(&structure, "RoleMap")?;
    for (kind, role) in ROLES {
        roles.set(kind, Object::name(role));
    }
    structure.set("RoleMap", Object::Dictionary(roles));
    document.set(number, Object::Dictionary(structure));
    Ok(())
}
