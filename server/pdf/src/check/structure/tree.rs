//! Reads the structure tree (ISO 32000-1, 14.7.2) in document order.

use std::borrow::Cow;
use std::rc::Rc;

use super::attributes::{Attributes, KnownAttributes};
use super::roles::{Roles, is_transparent};
use crate::PdfError;
use crate::check::levels::{Element as Place, LevelFindings};
use crate::check::marks::check_language;
use crate::check::rules;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::parse::Entries;

/// Index of no element: the parent of the root's kids.
pub(super) const ROOT: u32 = u32::MAX;

/// Types whose elements are blocks of text, or short parts of them with a meaning of their own.
const TEXT_BLOCKS: [&str; 14] = [
    "P", "H", "H1", "H2", "H3", "H4", "H5", "H6", "TH", "TD", "LBody", "Lbl", "Caption", "Link",
];

/// The elements of a document, each before its kids.
#[derive(Default)]
pub(in crate::check) struct Tree {
    pub(super) elements: Vec<Element>,
    /// Marked content in the order of the tree.
    pub(super) contents: Vec<Content>,
    /// Annotations in the order of the tree, each with the index of its element.
    pub(super) objects: Vec<(u32, ObjectNumber)>,
    /// Index of each element by object number; [`ROOT`] for other objects.
    index: Vec<u32>,
    /// Types as written, each with the number of its elements.
    kinds: Vec<(Vec<u8>, u32)>,
    /// Whether the document has a language.
    has_language: bool,
}

/// A structure element.
pub(super) struct Element {
    pub(super) number: ObjectNumber,
    /// Standard type, after role mapping; `None` if it has none.
    pub(super) kind: Option<&'static str>,
    /// Index in the list of types as written.
    pub(super) written_kind: u16,
    /// Number of earlier elements of this type.
    preceding: u32,
    /// Index of the parent; [`ROOT`] for kids of the root.
    pub(super) parent: u32,
    /// Index after the last descendant.
    pub(super) end: u32,
    /// Object number of the page that `/Pg` names, or that of an ancestor.
    pub(super) page: Option<ObjectNumber>,
    pub(super) texts: Texts,
    /// Whether the language is known from the element or an ancestor.
    pub(super) has_language: bool,
    /// `/ID` of header cells and notes.
    pub(super) identifier: Option<Vec<u8>>,
    /// Attributes of a table cell or a form field.
    pub(super) attributes: Option<Rc<Attributes>>,
}

/// Texts that stand for the content of an element.
#[derive(Clone, Copy, Default)]
pub(super) struct Texts {
    pub(super) alternative: Alternative,
    pub(super) actual_text: bool,
    pub(super) expansion: bool,
}

/// `/Alt` of an element.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Alternative {
    #[default]
    Missing,
    Empty,
    Given,
}

/// Marked content that an element contains.
#[derive(Clone, Copy)]
pub(in crate::check) struct Content {
    /// Index of the element.
    pub(super) element: u32,
    /// Object number of the page or form whose stream contains it.
    pub(in crate::check) owner: ObjectNumber,
    pub(in crate::check) identifier: i64,
    /// Object number of the page that shows it; that of the form if the page is unknown.
    pub(in crate::check) page: ObjectNumber,
}

impl Tree {
    /// Reads the tree under its root. `has_language` is whether the document has a language. Elements that are reached
    /// twice are read once.
    pub(super) fn read(
        document: &Document,
        root: &Dictionary,
        root_number: ObjectNumber,
        has_language: bool,
        roles: &mut Roles,
        findings: &mut LevelFindings,
    ) -> Result<Self, PdfError> {
        let mut tree = Self {
            index: vec![ROOT; document.size() as usize],
            has_language,
            ..Self::default()
        };
        let mut waiting: Vec<(Object, u32)> = Vec::new();
        let mut known = KnownAttributes::default();
        let mut kids = Vec::new();
        waiting.extend(root.items("K").iter().rev().map(|kid| (kid.clone(), ROOT)));
        while let Some((kid, parent)) = waiting.pop() {
            let page = tree.elements.get(parent as usize).and_then(|element| element.page);
            let number = kid.as_reference().unwrap_or_default();
            if let Some(entries) = ElementEntries::read(document, number, &mut known, &mut kids)? {
                let index = tree.elements.len() as u32;
                match tree.index.get_mut(number as usize) {
                    Some(place) if *place == ROOT => *place = index,
                    _ => {
                        findings.object(&rules::ELEMENT_TWICE, number, None);
                        continue;
                    }
                }
                let expected = tree
                    .elements
                    .get(parent as usize)
                    .map_or(root_number, |parent| parent.number);
                let is_expected = entries.parent == Some(expected);
                tree.add_element(number, entries, parent, roles, findings);
                if !is_expected {
                    tree.note(&rules::WRONG_PARENT, index, findings);
                }
                waiting.extend(kids.drain(..).rev().map(|kid| (kid, index)));
                continue;
            }
            let kid = match kid {
                Object::Reference(number) => document.get(number)?,
                direct => direct,
            };
            match kid {
                Object::Integer(identifier) => tree.add_content(parent, (page, page), identifier, findings),
                Object::Array(kids) => waiting.extend(kids.into_iter().rev().map(|kid| (kid, parent))),
                Object::Dictionary(dictionary) => match dictionary.get("Type") {
                    Some(value) if value.is_name("MCR") => tree.add_reference(parent, page, &dictionary, findings),
                    Some(value) if value.is_name("OBJR") => match dictionary.reference("Obj") {
                        Some(object) => tree.objects.push((parent, object)),
                        None => findings.document(&rules::DAMAGED_TREE),
                    },
                    // Elements are indirect objects.
                    _ => findings.object(&rules::ELEMENT_TWICE, number, None),
                },
                _ => findings.document(&rules::DAMAGED_TREE),
            }
        }
        tree.set_ends();
        Ok(tree)
    }

    fn add_element(
        &mut self,
        number: ObjectNumber,
        entries: ElementEntries,
        parent: u32,
        roles: &mut Roles,
        findings: &mut LevelFindings,
    ) {
        let parent_element = self.elements.get(parent as usize);
        let written = &*entries.kind;
        let page = entries.page.or(parent_element.and_then(|parent| parent.page));
        let has_language = parent_element.map_or(self.has_language, |parent| parent.has_language);
        let kind = roles.resolve(written);
        let mut element = Element {
            number,
            kind,
            written_kind: 0,
            preceding: 0,
            parent,
            end: 0,
            page,
            texts: entries.texts,
            has_language: has_language || entries.language.is_some(),
            identifier: None,
            attributes: None,
        };
        (element.written_kind, element.preceding) = self.count_kind(written);
        if matches!(kind, Some("TH" | "Note")) {
            let identifier = entries.identifier.as_ref().and_then(Object::as_string);
            element.identifier = identifier.map(<[u8]>::to_vec);
        }
        if matches!(kind, Some("TH" | "TD" | "Form")) {
            element.attributes = entries.attributes;
        }
        if let Some(language) = entries.language
            && let Err(rule) = check_language(language.as_string().unwrap_or(b"_"))
        {
            findings.element(rule, self.place_of(&element), element.page);
        }
        self.elements.push(element);
    }

    /// Counts an element of a type. Returns the type's index, and the number of earlier elements.
    fn count_kind(&mut self, kind: &[u8]) -> (u16, u32) {
        let known = self.kinds.iter().position(|(known, _)| known == kind);
        let index = known.unwrap_or_else(|| {
            self.kinds.push((kind.to_vec(), 0));
            self.kinds.len() - 1
        });
        let count = &mut self.kinds[index].1;
        *count += 1;
        (u16::try_from(index).unwrap_or(u16::MAX), *count - 1)
    }

    fn add_reference(
        &mut self,
        element: u32,
        page: Option<ObjectNumber>,
        reference: &Dictionary,
        findings: &mut LevelFindings,
    ) {
        let page = reference.reference("Pg").or(page);
        let owner = reference.reference("Stm").or(page);
        match reference.get("MCID").and_then(Object::as_integer) {
            Some(identifier) => self.add_content(element, (owner, page), identifier, findings),
            None => findings.document(&rules::DAMAGED_TREE),
        }
    }

    fn add_content(
        &mut self,
        element: u32,
        (owner, page): (Option<ObjectNumber>, Option<ObjectNumber>),
        identifier: i64,
        findings: &mut LevelFindings,
    ) {
        match owner {
            Some(owner) if element != ROOT => self.contents.push(Content {
                element,
                owner,
                identifier,
                page: page.unwrap_or(owner),
            }),
            _ => findings.document(&rules::DAMAGED_TREE),
        }
    }

    fn set_ends(&mut self) {
        for index in (0..self.elements.len()).rev() {
            let element = &mut self.elements[index];
            element.end = element.end.max(index as u32 + 1);
            let (end, parent) = (element.end, element.parent);
            if let Some(parent) = self.elements.get_mut(parent as usize) {
                parent.end = parent.end.max(end);
            }
        }
    }

    /// Returns the index of the element with an object number.
    pub(super) fn find(&self, number: ObjectNumber) -> Option<u32> {
        self.index.get(number as usize).copied().filter(|index| *index != ROOT)
    }

    /// Returns the marked content of an element and its descendants.
    pub(in crate::check) fn contents_of(&self, number: ObjectNumber) -> Vec<Content> {
        let Some(index) = self.find(number) else {
            return Vec::new();
        };
        let range = index..self.elements[index as usize].end;
        let contents = self.contents.iter().filter(|content| range.contains(&content.element));
        contents.copied().collect()
    }

    /// Returns the closest element around marked content that has a meaning of its own, by the page or form that contains
    /// the content, and its identifier. `None` if that is the document.
    pub(in crate::check) fn element_with(&self, content: (ObjectNumber, i64)) -> Option<Place> {
        let is_sought = |candidate: &&Content| (candidate.owner, candidate.identifier) == content;
        let index = self.contents.iter().find(is_sought)?.element;
        let mut around = self.around(index).filter(|element| !is_transparent(element.kind));
        let meaningful = around.next().filter(|element| element.kind != Some("Document"));
        meaningful.map(|element| self.place_of(element))
    }

    /// Returns whether an element or one around it has a text that stands for its content, or is a figure or formula, which
    /// must have one.
    pub(super) fn has_alternative(&self, index: u32) -> bool {
        let mut around = self.around(index);
        around.any(|Element { kind, texts, .. }| {
            texts.alternative == Alternative::Given || texts.actual_text || matches!(kind, Some("Figure" | "Formula"))
        })
    }

    /// Returns the index of the block of text that an element is part of; its own if it isn't part of one.
    pub(super) fn text_block(&self, index: u32) -> u32 {
        let block = self.around(index).find(|element| !is_transparent(element.kind));
        let block = block.filter(|block| block.kind.is_some_and(|kind| TEXT_BLOCKS.contains(&kind)));
        block.and_then(|block| self.find(block.number)).unwrap_or(index)
    }

    /// Returns an element, and those around it from the inside out.
    fn around(&self, index: u32) -> impl Iterator<Item = &Element> {
        let element = |index: u32| self.elements.get(index as usize);
        std::iter::successors(element(index), move |inner| element(inner.parent))
    }

    /// Returns the number of elements with the type of an element.
    pub(in crate::check) fn count_like(&self, number: ObjectNumber) -> u32 {
        let element = self.find(number).map(|index| &self.elements[index as usize]);
        let kind = element.and_then(|element| self.kinds.get(usize::from(element.written_kind)));
        kind.map_or(0, |(_, count)| *count)
    }

    /// Returns the indexes of the kids that are elements. Those of transparent kids take their place.
    pub(super) fn kids(&self, parent: u32) -> Vec<u32> {
        let end = self.elements[parent as usize].end;
        let mut kids = Vec::new();
        let mut next = parent + 1;
        while next < end {
            let kid = &self.elements[next as usize];
            if is_transparent(kid.kind) {
                next += 1;
            } else {
                kids.push(next);
                next = kid.end;
            }
        }
        kids
    }

    /// Returns the elements among whose kids an element is: its transparent ancestors, and the closest other one.
    pub(super) fn containers(&self, index: u32) -> impl Iterator<Item = u32> {
        let parent = |index: &u32| Some(self.elements.get(*index as usize)?.parent).filter(|parent| *parent != ROOT);
        let mut is_last = false;
        std::iter::successors(parent(&index), parent).take_while(move |container| {
            let is_contained = !is_last;
            is_last = !is_transparent(self.elements[*container as usize].kind);
            is_contained
        })
    }

    /// Returns the standard type of the closest ancestor that is not transparent.
    pub(super) fn parent_kind(&self, index: u32) -> Option<&'static str> {
        let parent = self.elements[self.containers(index).last()? as usize].kind;
        parent.filter(|_| !is_transparent(parent))
    }

    /// Adds a finding for an element.
    pub(super) fn note(&self, rule: &'static rules::Rule, index: u32, findings: &mut LevelFindings) {
        if let Some(element) = self.elements.get(index as usize) {
            findings.element(rule, self.place_of(element), element.page);
        }
    }

    fn place_of(&self, element: &Element) -> Place {
        let kind = self.kinds.get(usize::from(element.written_kind));
        Place {
            object: element.number,
            kind: kind.map_or_else(String::new, |(kind, _)| String::from_utf8_lossy(kind).into_owned()),
            preceding: element.preceding,
            count: 0,
            part: None,
            selector: None,
        }
    }
}

/// Entries of a structure element. There may be tens of thousands, most of whose entries aren't needed.
#[derive(Default)]
struct ElementEntries<'a> {
    /// `/S`
    kind: Cow<'a, [u8]>,
    /// `/P`
    parent: Option<ObjectNumber>,
    /// `/Pg`
    page: Option<ObjectNumber>,
    texts: Texts,
    language: Option<Object<'a>>,
    identifier: Option<Object<'a>>,
    /// `/A`
    attributes: Option<Rc<Attributes>>,
}

impl<'a> ElementEntries<'a> {
    /// Reads an object of the file, and its `/K` into `kids`. Returns `None` if it is no structure element.
    fn read(
        document: &Document<'a>,
        number: ObjectNumber,
        known: &mut KnownAttributes<'a>,
        kids: &mut Vec<Object<'a>>,
    ) -> Result<Option<Self>, PdfError> {
        kids.clear();
        let lexer = document.lexer(number);
        let Some(mut entries) = lexer.map(Entries::begin).transpose()?.flatten() else {
            return Ok(None);
        };
        let mut read = Self::default();
        while let Some(key) = entries.next_key()? {
            match key.as_ref() {
                // As nearly all are written.
                b"Type" if entries.skip_text(b"/StructElem\n") => {}
                b"Type" => {
                    let value = entries.value()?;
                    if value.is_name("MCR") || value.is_name("OBJR") {
                        return Ok(None);
                    }
                }
                b"S" => {
                    if let Object::Name(kind) = entries.value()? {
                        read.kind = kind;
                    }
                }
                b"P" => read.parent = entries.value()?.as_reference(),
                b"Pg" => read.page = entries.value()?.as_reference(),
                b"K" => entries.items(|kid| kids.push(kid))?,
                b"A" => read.attributes = Some(known.read(document, &mut entries)?),
                b"ID" => read.identifier = Some(entries.value()?),
                b"Lang" => read.language = Some(entries.value()?),
                b"Alt" => {
                    read.texts.alternative = match entries.value()?.as_string() {
                        None | Some([]) => Alternative::Empty,
                        Some(_) => Alternative::Given,
                    };
                }
                b"ActualText" => {
                    read.texts.actual_text = true;
                    entries.skip()?;
                }
                b"E" => {
                    read.texts.expansion = true;
                    entries.skip()?;
                }
                _ => entries.skip()?,
            }
        }
        Ok(Some(read))
    }
}
