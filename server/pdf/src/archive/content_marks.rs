//! Marks the content of one stream after the other: artifacts, generated text, and forms drawn more than once.

use std::collections::{BTreeMap, BTreeSet};

use super::artifacts::{is_running, write_marks};
use super::external_objects::ExternalObjects;
use super::generated_text::{TaggedText, tag_texts};
use super::repeated_forms::RepeatedForms;
use super::silent_text::{SilentText, SilentTexts};
use super::structure_tree::StructureTree;
use super::unicode_maps::PrivateCodes;
use super::untagged::{Drawn, Operators, PageSetup, Text, Untagged, find_untagged};
use crate::PdfError;
use crate::document::Document;
use crate::lexer::decode_name;
use crate::object::{Dictionary, Object, ObjectNumber};

/// Where a content stream is drawn.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// A page with this `/MediaBox`.
    Page(Option<[f64; 4]>),
    /// A form, drawn outside of marked content.
    Untagged,
    /// Within marked content, or in a pattern or a mask.
    Other,
}

#[derive(Default)]
pub(super) struct Marker<'s, 'a> {
    structure: Option<&'s mut StructureTree<'a>>,
    /// See [`PageFacts::has_running_text`](crate::PageFacts::has_running_text); of all pages.
    pub(super) has_running_text: bool,
    external_objects: ExternalObjects,
    /// Forms that are drawn outside of marked content and not marked yet, and those drawn within.
    forms: Vec<ObjectNumber>,
    marked_forms: BTreeSet<ObjectNumber>,
    /// Tagged forms that have been drawn.
    drawn: BTreeSet<ObjectNumber>,
    repeated: RepeatedForms,
    silent: SilentTexts,
    /// The page or form that draws a form; `None` for a form that is drawn more than once.
    drawers: BTreeMap<ObjectNumber, Option<ObjectNumber>>,
    /// Pages and forms with text that belongs to no element.
    with_loose_text: BTreeSet<ObjectNumber>,
}

impl<'s, 'a> Marker<'s, 'a> {
    /// `private_codes` are those of the whole document.
    pub(super) fn new(structure: Option<&'s mut StructureTree<'a>>, private_codes: PrivateCodes) -> Self {
        Self {
            structure,
            silent: SilentTexts::new(private_codes),
            ..Self::default()
        }
    }

    /// Returns a form that is drawn in a stream marked so far, and whose content is to be marked; `None` at the end.
    pub(super) fn next_form(&mut self) -> Option<ObjectNumber> {
        while let Some(number) = self.forms.pop() {
            if !self.marked_forms.contains(&number) {
                return Some(number);
            }
        }
        None
    }

    /// Returns the forms that were added as copies of others.
    pub(super) fn copies(&self) -> Vec<ObjectNumber> {
        self.repeated.copies()
    }

    /// Returns the pages and forms with text that belongs to no element, each with its page. Forms that are drawn more
    /// than once are left out.
    pub(super) fn loose_text(&self) -> BTreeMap<ObjectNumber, ObjectNumber> {
        let page = |number: &ObjectNumber| {
            let mut page = *number;
            // Forms in a cycle are drawn more than once, so this ends.
            while let Some(drawer) = self.drawers.get(&page) {
                page = (*drawer)?;
            }
            Some((*number, page))
        };
        self.with_loose_text.iter().filter_map(page).collect()
    }

    /// Marks a stream, whose resources are those of `owner`, the page or form of this number. Returns `None` if nothing
    /// changes.
    pub(super) fn mark(
        &mut self,
        document: &mut Document<'a>,
        content: &[u8],
        (owner_number, owner): (ObjectNumber, &mut Dictionary<'a>),
        place: Place,
    ) -> Result<Option<Vec<u8>>, PdfError> {
        let setup = match place {
            Place::Page(media_box) => media_box.map(|media_box| PageSetup {
                media_box,
                has_running_text: self.has_running_text,
            }),
            Place::Untagged => None,
            Place::Other => return Ok(None),
        };
        let mut resources = document.resolve_dictionary(owner, "Resources")?;
        let mut objects = document.resolve_dictionary(&resources, "XObject")?;
        let number = |name: &&[u8]| objects.get_bytes(&decode_name(name))?.as_reference();
        let mut drawn = |name: &[u8]| number(&name).map_or(Drawn::Decoration, |number| self.drawn(document, number));
        let mut untagged = find_untagged(content, setup, &mut drawn)?;
        self.forms.extend(untagged.tagged_forms.iter().filter_map(number));
        for (name, range) in &untagged.text_forms {
            if is_running(&untagged, range) {
                self.marked_forms.extend(number(name));
            } else {
                self.forms.extend(number(name));
            }
        }
        self.marked_forms
            .extend(untagged.marked_forms.iter().filter_map(number));
        let texts = untagged.text_forms.iter().map(|(name, _)| name);
        let drawn = texts.chain(&untagged.tagged_forms).chain(&untagged.marked_forms);
        for form in drawn.filter_map(number) {
            let drawer = self.drawers.entry(form);
            drawer.and_modify(|drawer| *drawer = None).or_insert(Some(owner_number));
        }
        let repeated = untagged.repeated_forms.iter().filter_map(|(name, _)| number(name));
        let repeated: Vec<ObjectNumber> = repeated.collect();
        let fonts = document.resolve_dictionary(&resources, "Font")?;
        if self.silent.may_find_icons() {
            let icons = self.silent_texts(document, &fonts, content, (&untagged, &[]), SilentText::Icons)?;
            let is_icon = |text: &Text| icons.binary_search_by_key(&text.range.start, |icon| icon.start).is_ok();
            untagged.texts.retain(|text| !is_icon(text));
            untagged.decoration.extend(icons);
        }
        let tagged = self.tag_texts(document, owner, &untagged)?;
        let texts = (&untagged, tagged.as_slice());
        let mut blank = self.silent_texts(document, &fonts, content, texts, SilentText::Spaces)?;
        let is_running = |text: &&Text| is_running(&untagged, &text.range);
        if untagged.texts.iter().filter(|text| !is_running(text)).count() > tagged.len() + blank.len() {
            self.with_loose_text.insert(owner_number);
        }
        untagged.decoration.append(&mut blank);
        let mut copies = Vec::new();
        for number in repeated {
            let copy = self.repeated.copy(document, &mut self.external_objects, number)?;
            let name = format!("PlatenCopy{number}");
            objects.insert(name.clone().into_bytes(), Object::Reference(copy));
            copies.push(name);
        }
        if !copies.is_empty() {
            resources.set("XObject", Object::Dictionary(objects));
            owner.set("Resources", Object::Dictionary(resources));
        }
        Ok(write_marks(content, &untagged, &tagged, &copies))
    }

    fn drawn(&mut self, document: &Document, number: ObjectNumber) -> Drawn {
        match self.external_objects.drawn(document, number) {
            Drawn::Tagged if !self.drawn.insert(number) => Drawn::Repeated,
            drawn => drawn,
        }
    }

    fn tag_texts(
        &mut self,
        document: &mut Document<'a>,
        owner: &Dictionary,
        untagged: &Untagged,
    ) -> Result<Vec<TaggedText>, PdfError> {
        let texts = untagged.texts.iter().filter(|text| !is_running(untagged, &text.range));
        let texts: Vec<&Text> = texts.collect();
        let key = owner.get("StructParents").and_then(Object::as_integer);
        match (&mut self.structure, key) {
            (Some(structure), Some(key)) if !texts.is_empty() => tag_texts(document, structure, key, &texts),
            _ => Ok(Vec::new()),
        }
    }

    /// Returns texts of one kind that were not tagged.
    fn silent_texts(
        &mut self,
        document: &Document,
        fonts: &Dictionary,
        content: &[u8],
        (untagged, tagged): (&Untagged, &[TaggedText]),
        kind: SilentText,
    ) -> Result<Vec<Operators>, PdfError> {
        let tagged: BTreeSet<usize> = tagged.iter().map(|text| text.range.start).collect();
        let mut found = Vec::new();
        for Text { range, .. } in &untagged.texts {
            let is_left = !tagged.contains(&range.start) && !is_running(untagged, range);
            let content = &content[..range.end];
            if is_left && self.silent.find(document, fonts, content, range.start)? == Some(kind) {
                found.push(range.clone());
            }
        }
        Ok(found)
    }
}
