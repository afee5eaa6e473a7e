//! Attributes of structure elements (ISO 32000-1, 14.8.5) that the checks need.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object};
use crate::parse::Entries;

/// Attributes of a table cell (14.8.5.7) and of a form field (14.8.5.6).
pub(super) struct Attributes {
    /// At least 1.
    pub(super) row_span: usize,
    /// At least 1.
    pub(super) column_span: usize,
    pub(super) scope: Option<Scope>,
    /// Identifiers of header cells.
    pub(super) headers: Vec<Vec<u8>>,
    /// Whether a form field has a role.
    pub(super) has_role: bool,
}

/// Cells that a header cell applies to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Row,
    Column,
    Both,
}

/// Most attributes that are known.
const MAX_KNOWN: usize = 8;

/// The attributes that were read last, with their texts: those of most cells are the same as in the row before.
#[derive(Default)]
pub(super) struct KnownAttributes<'a> {
    known: VecDeque<(&'a [u8], Rc<Attributes>)>,
}

impl<'a> KnownAttributes<'a> {
    /// Reads the value of `/A`.
    pub(super) fn read(
        &mut self,
        document: &Document<'a>,
        entries: &mut Entries<'a>,
    ) -> Result<Rc<Attributes>, PdfError> {
        if let Some((_, attributes)) = self.known.iter().find(|(text, _)| entries.skip_text(text)) {
            return Ok(Rc::clone(attributes));
        }
        let (value, text) = entries.value_with_text()?;
        let attributes = Rc::new(Attributes::read(document, &value)?);
        if let Object::Array(_) | Object::Dictionary(_) = value {
            self.known.truncate(MAX_KNOWN - 1);
            self.known.push_front((text, Rc::clone(&attributes)));
        }
        Ok(attributes)
    }
}

impl Default for Attributes {
    fn default() -> Self {
        Self {
            row_span: 1,
            column_span: 1,
            scope: None,
            headers: Vec::new(),
            has_role: false,
        }
    }
}

impl Attributes {
    /// Reads `/A`: a dictionary of attributes, or an array of such dictionaries.
    fn read(document: &Document, value: &Object) -> Result<Self, PdfError> {
        let mut attributes = Self::default();
        attributes.add_value(document, value)?;
        Ok(attributes)
    }

    fn add_value(&mut self, document: &Document, value: &Object) -> Result<(), PdfError> {
        match value {
            Object::Reference(_) => match document.resolve(value)? {
                Object::Array(items) => self.add_items(document, &items)?,
                single => self.add(&single),
            },
            Object::Array(items) => self.add_items(document, items)?,
            single => self.add(single),
        }
        Ok(())
    }

    fn add_items(&mut self, document: &Document, items: &[Object]) -> Result<(), PdfError> {
        for item in items {
            match item {
                Object::Reference(_) => self.add(&document.resolve(item)?),
                direct => self.add(direct),
            }
        }
        Ok(())
    }

    fn add(&mut self, attributes: &Object) {
        let Some(attributes) = attributes.as_dictionary() else {
            return;
        };
        let owner = attributes.get("O");
        if owner.is_some_and(|owner| owner.is_name("Table")) {
            self.add_table(attributes);
        } else if owner.is_some_and(|owner| owner.is_name("PrintField")) {
            self.has_role |= matches!(attributes.get("Role"), Some(Object::Name(_)));
        }
    }

    fn add_table(&mut self, attributes: &Dictionary) {
        for (key, value) in &attributes.entries {
            // A span that is no positive number makes the table irregular, as does a long one.
            let span = || {
                value
                    .as_integer()
                    .and_then(|span| usize::try_from(span).ok())
                    .filter(|span| *span > 0)
                    .unwrap_or(usize::MAX)
            };
            match (key.as_ref(), value) {
                (b"RowSpan", _) => self.row_span = span(),
                (b"ColSpan", _) => self.column_span = span(),
                (b"Scope", Object::Name(name)) => {
                    self.scope = match name.as_ref() {
                        b"Row" => Some(Scope::Row),
                        b"Column" => Some(Scope::Column),
                        b"Both" => Some(Scope::Both),
                        _ => None,
                    };
                }
                (b"Headers", Object::Array(headers)) => {
                    self.headers = headers
                        .iter()
                        .filter_map(Object::as_string)
                        .map(<[u8]>::to_vec)
                        .collect();
                }
                _ => {}
            }
        }
    }
}
