//! The objects of ISO 32000-1, 7.3, borrowed from the file if they are unchanged.

use std::borrow::Cow;

/// Largest number of indirect objects in a file (ISO 19005-2, 6.1.13).
pub(crate) const MAX_OBJECTS: usize = 8_388_607;
/// Longest name in bytes (ISO 19005-2, 6.1.13).
pub(crate) const MAX_NAME: usize = 127;

/// Number of an indirect object. Its generation is always 0: neither Chromium nor Platen writes another one.
pub(crate) type ObjectNumber = u32;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Object<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Real(f64),
    /// Without its slash, `#xx` decoded.
    Name(Cow<'a, [u8]>),
    /// Decoded: without parentheses, brackets and escapes.
    String(Cow<'a, [u8]>),
    Array(Vec<Object<'a>>),
    Dictionary(Dictionary<'a>),
    Stream(Stream<'a>),
    Reference(ObjectNumber),
}

impl<'a> Object<'a> {
    /// Returns an integer object for a number of bytes or objects.
    pub(crate) fn count(count: usize) -> Self {
        Self::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }

    pub(crate) fn name(name: &'a str) -> Self {
        Self::Name(Cow::Borrowed(name.as_bytes()))
    }

    pub(crate) fn is_name(&self, name: &str) -> bool {
        matches!(self, Self::Name(bytes) if bytes.as_ref() == name.as_bytes())
    }

    pub(crate) fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Real(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn as_string(&self) -> Option<&[u8]> {
        match self {
            Self::String(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Object<'a>]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_reference(&self) -> Option<ObjectNumber> {
        match self {
            Self::Reference(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the dictionary itself, or that of a stream.
    pub(crate) fn as_dictionary(&self) -> Option<&Dictionary<'a>> {
        match self {
            Self::Dictionary(dictionary) => Some(dictionary),
            Self::Stream(stream) => Some(&stream.dictionary),
            _ => None,
        }
    }

    /// Visits the number of every object that this one refers to.
    pub(crate) fn for_each_reference(&self, visit: &mut impl FnMut(ObjectNumber)) {
        match self {
            Self::Reference(number) => visit(*number),
            Self::Array(items) => items.iter().for_each(|item| item.for_each_reference(visit)),
            _ => {
                let entries = self.as_dictionary().map(|dictionary| &dictionary.entries);
                for (_, value) in entries.into_iter().flatten() {
                    value.for_each_reference(visit);
                }
            }
        }
    }

    /// Replaces the numbers in all references. A reference whose new number is 0 becomes null.
    pub(crate) fn renumber(&mut self, number_of: &impl Fn(ObjectNumber) -> ObjectNumber) {
        match self {
            Self::Reference(number) => {
                *self = match number_of(*number) {
                    0 => Self::Null,
                    number => Self::Reference(number),
                }
            }
            Self::Array(items) => items.iter_mut().for_each(|item| item.renumber(number_of)),
            _ => {
                let entries = self.as_dictionary_mut().map(|dictionary| &mut dictionary.entries);
                for (_, value) in entries.into_iter().flatten() {
                    value.renumber(number_of);
                }
            }
        }
    }

    pub(crate) fn as_dictionary_mut(&mut self) -> Option<&mut Dictionary<'a>> {
        match self {
            Self::Dictionary(dictionary) => Some(dictionary),
            Self::Stream(stream) => Some(&mut stream.dictionary),
            _ => None,
        }
    }
}

impl<'a> FromIterator<Object<'a>> for Object<'a> {
    fn from_iter<T: IntoIterator<Item = Object<'a>>>(items: T) -> Self {
        Self::Array(items.into_iter().collect())
    }
}

/// A dictionary in the order in which it was written. Dictionaries are short, so a linear search is fastest.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Dictionary<'a> {
    pub(crate) entries: Vec<(Cow<'a, [u8]>, Object<'a>)>,
}

impl<'a> Dictionary<'a> {
    pub(crate) fn new<const N: usize>(entries: [(&'a str, Object<'a>); N]) -> Self {
        let entries = entries.map(|(key, value)| (Cow::Borrowed(key.as_bytes()), value));
        Self {
            entries: entries.into(),
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Object<'a>> {
        self.get_bytes(key.as_bytes())
    }

    pub(crate) fn get_bytes(&self, key: &[u8]) -> Option<&Object<'a>> {
        let entry = self.entries.iter().find(|(found, _)| found.as_ref() == key)?;
        Some(&entry.1)
    }

    /// Returns the items of the array under a key, or the only item if its value is no array.
    pub(crate) fn items(&self, key: &str) -> &[Object<'a>] {
        match self.get(key) {
            Some(Object::Array(items)) => items,
            Some(item) => std::slice::from_ref(item),
            None => &[],
        }
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Object<'a>> {
        let entry = self
            .entries
            .iter_mut()
            .find(|(found, _)| found.as_ref() == key.as_bytes())?;
        Some(&mut entry.1)
    }

    pub(crate) fn insert(&mut self, key: impl Into<Cow<'a, [u8]>>, value: Object<'a>) {
        let key = key.into();
        match self.entries.iter_mut().find(|(found, _)| *found == key) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((key, value)),
        }
    }

    pub(crate) fn reference(&self, key: &str) -> Option<ObjectNumber> {
        self.get(key).and_then(Object::as_reference)
    }

    pub(crate) fn set(&mut self, key: &'a str, value: Object<'a>) {
        self.insert(key.as_bytes(), value);
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Object<'a>> {
        let index = self
            .entries
            .iter()
            .position(|(found, _)| found.as_ref() == key.as_bytes())?;
        Some(self.entries.remove(index).1)
    }
}

/// A stream. Its data is as in the file, with the filters still applied.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stream<'a> {
    /// `/Length` may be stale; it is written from the data.
    pub(crate) dictionary: Dictionary<'a>,
    pub(crate) data: Cow<'a, [u8]>,
}

impl<'a> Stream<'a> {
    /// Returns a stream without a filter.
    pub(crate) fn plain(dictionary: Dictionary<'a>, data: impl Into<Cow<'a, [u8]>>) -> Self {
        Self {
            dictionary,
            data: data.into(),
        }
    }
}
