//! Joins the structure trees (ISO 32000-1, 14.7): a `Document` element whose kids are the parts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::PdfError;
use crate::document::Document;
use crate::join::PartFacts;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::part::Part;
use crate::text::encode;
use crate::trees::{TreeKind, read_tree, write_tree};

/// Makes keys of the parent tree and identifiers of elements unique across files.
pub(super) fn separate_keys(document: &mut Document) -> Result<(), PdfError> {
    let counts = document.parts().iter().map(|part| count_keys(document, part));
    let counts: Vec<i64> = counts.collect::<Result<_, _>>()?;
    let mut first_key = 0_i64;
    for (index, (part, count)) in document.parts_mut().iter_mut().zip(counts).enumerate() {
        part.first_key = first_key;
        part.identifier_prefix = format!("{}-", index + 1);
        first_key = first_key.saturating_add(count);
    }
    Ok(())
}

/// Returns how many keys of the parent tree a file takes, which must be unchanged.
pub(crate) fn count_keys(document: &Document, part: &Part) -> Result<i64, PdfError> {
    let catalog = document.get_dictionary(Document::root_of(part)?, "expected a catalog")?;
    let structure = document.resolve_dictionary(&catalog, "StructTreeRoot")?;
    let next = structure.get("ParentTreeNextKey").and_then(Object::as_integer);
    let entries = read_tree(document, &structure, "ParentTree", TreeKind::Numbers)?;
    let highest = entries.iter().filter_map(|(key, _)| key.as_integer()).max();
    Ok(next
        .unwrap_or_default()
        .max(highest.map_or(0, |key| key.saturating_add(1))))
}

/// Entries of the parent tree and of the identifier tree, and roles.
#[derive(Default)]
pub(crate) struct StructureEntries<'a> {
    pub(crate) keys: BTreeMap<i64, Object<'a>>,
    pub(crate) identifiers: BTreeMap<Cow<'a, [u8]>, Object<'a>>,
    pub(crate) roles: BTreeMap<Cow<'a, [u8]>, Object<'a>>,
}

impl<'a> StructureEntries<'a> {
    /// Adds those of a part with this root of the structure tree. The first of several roles of a type applies.
    pub(crate) fn read(
        &mut self,
        document: &Document<'a>,
        part: &Part<'a>,
        structure: &Dictionary<'a>,
    ) -> Result<(), PdfError> {
        for (key, value) in read_tree(document, structure, "ParentTree", TreeKind::Numbers)? {
            if let Some(key) = key.as_integer() {
                self.keys.insert(key.saturating_add(part.first_key), value);
            }
        }
        for (identifier, value) in read_tree(document, structure, "IDTree", TreeKind::Names)? {
            if let Object::String(identifier) = identifier {
                self.identifiers.insert(part.identifier(identifier), value);
            }
        }
        for (role, standard) in document.resolve_dictionary(structure, "RoleMap")?.entries {
            self.roles.entry(role).or_insert(standard);
        }
        Ok(())
    }
}

pub(super) fn join_structure(document: &mut Document, parts: &[PartFacts]) -> Result<(), PdfError> {
    let tree_number = document.add(Object::Null);
    let document_number = document.add(Object::Null);
    let mut kids = Vec::new();
    let mut entries = StructureEntries::default();
    for (index, facts) in parts.iter().enumerate() {
        let part = &document.parts()[index];
        let catalog = document.catalog_of(part)?;
        let structure = document.resolve_dictionary(&catalog, "StructTreeRoot")?;
        entries.read(document, part, &structure)?;
        let (elements, of_browser) = (structure.items("K"), catalog.get("Lang"));
        let elements = adopt_elements(document, elements, document_number, facts, of_browser)?;
        kids.extend(elements.into_iter().map(Object::Reference));
    }
    let StructureEntries {
        keys,
        identifiers,
        roles,
    } = entries;
    if kids.is_empty() {
        return document.change_catalog(|catalog| {
            catalog.remove("StructTreeRoot");
        });
    }
    document.set(document_number, document_element(tree_number, kids));
    let next_key = keys.last_key_value().map_or(0, |(key, _)| key.saturating_add(1));
    let keys = keys.into_iter().map(|(key, value)| (Object::Integer(key), value));
    let parent_tree = write_tree(document, TreeKind::Numbers, keys);
    let identifier_tree = (!identifiers.is_empty()).then(|| {
        let identifiers = identifiers
            .into_iter()
            .map(|(identifier, value)| (Object::String(identifier), value));
        write_tree(document, TreeKind::Names, identifiers)
    });
    let trees = StructureTrees {
        parent_tree,
        next_key,
        identifier_tree,
    };
    document.set(tree_number, structure_root(document_number, &trees, roles));
    document.change_catalog(|catalog| declare_structure(catalog, tree_number))
}

/// Makes the outermost elements of a part kids of `owner`, with the part's facts, and returns their numbers.
pub(crate) fn adopt_elements<'a>(
    document: &mut Document<'a>,
    elements: &[Object<'a>],
    owner: ObjectNumber,
    facts: &PartFacts,
    of_browser: Option<&Object>,
) -> Result<Vec<ObjectNumber>, PdfError> {
    let numbers: Vec<ObjectNumber> = elements.iter().filter_map(Object::as_reference).collect();
    for number in &numbers {
        let mut element = document.get_dictionary(*number, "expected a structure element")?;
        element.set("P", Object::Reference(owner));
        if element.get("S").is_some_and(|kind| kind.is_name("Document")) {
            element.set("S", Object::name("Part"));
        }
        set_language(&mut element, facts.language.as_deref(), of_browser);
        if let Some(title) = &facts.title {
            element.set("T", Object::String(encode(title).into()));
        }
        document.set(*number, Object::Dictionary(element));
    }
    Ok(numbers)
}

/// Returns the element that contains all parts.
pub(crate) fn document_element(tree: ObjectNumber, kids: Vec<Object>) -> Object {
    Object::Dictionary(Dictionary::new([
        ("Type", Object::name("StructElem")),
        ("S", Object::name("Document")),
        ("P", Object::Reference(tree)),
        ("K", Object::Array(kids)),
    ]))
}

/// The trees that the root of a structure tree refers to.
pub(crate) struct StructureTrees {
    pub(crate) parent_tree: ObjectNumber,
    /// The first key of the parent tree that is free.
    pub(crate) next_key: i64,
    pub(crate) identifier_tree: Option<ObjectNumber>,
}

/// Returns the root of a structure tree.
pub(crate) fn structure_root<'a>(
    document_element: ObjectNumber,
    trees: &StructureTrees,
    roles: BTreeMap<Cow<'a, [u8]>, Object<'a>>,
) -> Object<'a> {
    let mut root = Dictionary::new([
        ("Type", Object::name("StructTreeRoot")),
        ("K", Object::Reference(document_element)),
        ("ParentTree", Object::Reference(trees.parent_tree)),
        ("ParentTreeNextKey", Object::Integer(trees.next_key)),
    ]);
    if let Some(identifier_tree) = trees.identifier_tree {
        root.set("IDTree", Object::Reference(identifier_tree));
    }
    if !roles.is_empty() {
        let entries = roles.into_iter().collect();
        root.set("RoleMap", Object::Dictionary(Dictionary { entries }));
    }
    Object::Dictionary(root)
}

/// Declares in the catalog that the document is tagged.
pub(crate) fn declare_structure(catalog: &mut Dictionary, tree: ObjectNumber) {
    catalog.set("StructTreeRoot", Object::Reference(tree));
    let is_marked = Dictionary::new([("Marked", Object::Boolean(true))]);
    catalog.set("MarkInfo", Object::Dictionary(is_marked));
}

/// Sets the part's language, or removes that of the browser if the part has none.
fn set_language(element: &mut Dictionary, language: Option<&str>, of_browser: Option<&Object>) {
    match language {
        Some(language) => element.set("Lang", Object::String(language.as_bytes().to_vec().into())),
        None if element.get("Lang") == of_browser => drop(element.remove("Lang")),
        None => {}
    }
}
