//! Inventory of a document's invisible structure, read with `qpdf`.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Map, Value};

use super::tools;

/// Counts of structures that must be preserved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Inventory {
    pub(super) pages: Vec<PageInventory>,
    pub(super) outline_entries: usize,
    /// Elements, without those that are merged into their parents.
    pub(super) tags: usize,
    pub(super) language: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PageInventory {
    /// External links.
    pub(super) outer_links: usize,
    /// Links within the document.
    pub(super) inner_links: usize,
    /// Marked content sequences that tags refer to.
    pub(super) marked: usize,
}

impl Inventory {
    pub(super) fn of(file: &Path) -> Self {
        let json = tools::output("qpdf", &["--json", "--json-key=qpdf"], file, &[]);
        let json: Value = serde_json::from_slice(&json).unwrap();
        let objects = Objects(json["qpdf"][1].as_object().unwrap());
        let catalog = objects.resolve(&objects.0["trailer"]["value"]["/Root"]);
        let mut inventory = Self {
            language: text(&catalog["/Lang"]),
            ..Self::default()
        };
        let mut marked: BTreeMap<&str, usize> = BTreeMap::new();
        for object in objects.0.values() {
            // An empty element only satisfies the format, in a document without tags.
            if object["value"]["/Type"] == "/StructElem" && !object["value"]["/K"].is_null() {
                inventory.tags += usize::from(!objects.is_only_kid_without_meaning(&object["value"]));
                count_marked(&object["value"]["/K"], &object["value"]["/Pg"], &mut marked);
            } else if object["value"]["/Title"].is_string() && object["value"]["/Parent"].is_string() {
                inventory.outline_entries += 1;
            }
        }
        objects.visit_pages(&catalog["/Pages"], &mut |reference, page| {
            let mut found = PageInventory {
                marked: marked.get(reference).copied().unwrap_or_default(),
                ..PageInventory::default()
            };
            for link in objects.resolve(&page["/Annots"]).as_array().into_iter().flatten() {
                let is_inner = objects.resolve(link)["/A"].is_null();
                *if is_inner {
                    &mut found.inner_links
                } else {
                    &mut found.outer_links
                } += 1;
            }
            inventory.pages.push(found);
        });
        inventory
    }

    /// Returns the differences of the completed document, one sentence each. It may have more tags and more marked
    /// content, because completion tags what Chromium leaves untagged.
    pub(super) fn differences(&self, completed: &Self) -> Vec<String> {
        let mut other = completed.clone();
        other.tags = other.tags.min(self.tags);
        for (before, after) in self.pages.iter().zip(&mut other.pages) {
            after.marked = after.marked.min(before.marked);
        }
        let mut differences = Vec::new();
        let whole = |inventory: &Self| (inventory.outline_entries, inventory.tags, inventory.language.clone());
        let (before, after) = (whole(self), whole(&other));
        if before != after {
            differences.push(format!("outline, tags and language are {after:?}, not {before:?}"));
        }
        if self.pages.len() != other.pages.len() {
            differences.push(format!("{} pages, not {}", other.pages.len(), self.pages.len()));
        }
        for ((before, after), number) in self.pages.iter().zip(&other.pages).zip(1..) {
            if before != after {
                differences.push(format!("page {number} has {after:?}, not {before:?}"));
            }
        }
        differences
    }
}

struct Objects<'a>(&'a Map<String, Value>);

impl<'a> Objects<'a> {
    /// Resolves a reference; returns any other value unchanged.
    fn resolve(&self, value: &'a Value) -> &'a Value {
        let object = value.as_str().and_then(|text| self.0.get(&format!("obj:{text}")));
        object.map_or(value, |object| &object["value"])
    }

    /// Returns whether an element is a `NonStruct` that has only content and is the only kid of an element of its own meaning.
    fn is_only_kid_without_meaning(&self, element: &'a Value) -> bool {
        let parent = self.resolve(&element["/P"]);
        let kids = element["/K"]
            .as_array()
            .map_or(std::slice::from_ref(&element["/K"]), Vec::as_slice);
        let may_have_content = [
            "/P", "/H", "/H1", "/H2", "/H3", "/H4", "/H5", "/H6", "/TH", "/TD", "/Span", "/Lbl", "/LBody", "/Code",
        ];
        element["/S"] == "/NonStruct"
            && kids.iter().all(|kid| !kid.is_string())
            && parent["/K"].is_string()
            && parent["/S"]
                .as_str()
                .is_some_and(|name| may_have_content.contains(&name))
    }

    /// Calls `see` with each page and its reference, in page order.
    fn visit_pages(&self, node: &'a Value, see: &mut impl FnMut(&'a str, &'a Value)) {
        let object = self.resolve(node);
        match object["/Kids"].as_array() {
            Some(kids) => kids.iter().for_each(|kid| self.visit_pages(kid, see)),
            None => see(node.as_str().unwrap(), object),
        }
    }
}

/// Counts, by page, the kids of a tag that are content. Kids without a page are on `page`, that of the tag.
fn count_marked<'a>(kids: &'a Value, page: &'a Value, marked: &mut BTreeMap<&'a str, usize>) {
    let page = match kids {
        Value::Array(kids) => return kids.iter().for_each(|kid| count_marked(kid, page, marked)),
        Value::Number(_) => page,
        Value::Object(kid) if kid["/Type"] == "/MCR" => kid.get("/Pg").unwrap_or(page),
        _ => return,
    };
    *marked.entry(page.as_str().unwrap_or_default()).or_default() += 1;
}

fn text(value: &Value) -> Option<String> {
    Some(value.as_str()?.strip_prefix("u:")?.to_owned())
}
