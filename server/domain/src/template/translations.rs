//! Translations of a template: a catalogue of texts for each language.

mod texts;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, iter};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    template::{sample_sets::indented, translations::texts::read_texts, written_bytes},
    validation::{
        Problem, Problems,
        json::{self, Layout, Unreadable},
        member, quote,
        schema::type_of,
    },
};

/// Maximum number of languages.
pub const MOST_LANGUAGES: usize = 50;
/// Maximum number of texts of a language; plural forms are one text.
pub const MOST_TEXTS: usize = 2000;
/// Maximum length of a text, in characters.
pub const LONGEST_TEXT: usize = 10_000;
/// Maximum length of a key, in characters.
pub const LONGEST_KEY: usize = 200;
/// Maximum number of levels of groups.
pub const MOST_LEVELS: usize = 5;
/// Maximum size of all catalogues as JSON without whitespace, in bytes.
pub const MOST_BYTES: usize = 512 << 10;
/// Maximum length of a language tag, in characters.
const LONGEST_TAG: usize = 35;
/// Maximum length of a part of a language tag, in characters.
const LONGEST_SUBTAG: usize = 8;

/// The texts of a language by their keys, such as `invoice.total`.
pub type Texts = BTreeMap<String, Text>;

/// A text of a catalogue. In it, `{name}` stands for the argument `name`, and doubled braces for single ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// The same text for all numbers.
    Plain(String),
    /// Texts by plural category, among them `other`, or exact number such as `=0`.
    Plural(BTreeMap<String, String>),
}

/// Catalogues by language, of which the first one is that of the template. They are stored and returned as their author wrote
/// them, with groups of texts.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "Value")]
pub struct Translations {
    written: Map<String, Value>,
    /// Texts without groups, by language tag in its canonical case.
    catalogues: BTreeMap<String, Texts>,
}

impl Translations {
    /// Parses the object at a JSON pointer, whose members are language tags with catalogues. Adds each error at its member,
    /// and returns `None` if there are any.
    ///
    /// Members of a catalogue are texts, groups of members, whose names are joined with dots, and plural forms: objects
    /// whose members are plural categories or exact numbers, with the text `other`.
    pub fn parse(written: &Value, pointer: &str, problems: &mut Problems) -> Option<Self> {
        let mut found = Found {
            problems,
            is_valid: true,
        };
        let catalogues = read_catalogues(written, pointer, &mut found);
        let (Value::Object(written), true) = (written, found.is_valid) else {
            return None;
        };
        let written = written.clone();
        Some(Self { written, catalogues })
    }

    /// Returns whether there is no language.
    pub fn is_empty(&self) -> bool {
        self.catalogues.is_empty()
    }

    /// Returns the catalogues as their author wrote them.
    pub fn written(&self) -> &Map<String, Value> {
        &self.written
    }

    /// Returns the catalogues as indented JSON; an empty text if there are none.
    pub fn indented(&self) -> String {
        if self.is_empty() {
            String::new()
        } else {
            indented(&self.written)
        }
    }

    /// Returns the texts without groups, by language tag in its canonical case.
    pub fn catalogues(&self) -> &BTreeMap<String, Texts> {
        &self.catalogues
    }

    /// Returns the language tag of the first catalogue, in its canonical case.
    fn first_language(&self) -> Option<String> {
        self.written.keys().next().and_then(|tag| canonical_tag(tag))
    }
}

/// Why the text of translations can't be read.
#[derive(Debug)]
pub enum TextProblem {
    /// It is not JSON.
    Malformed(serde_json::Error),
    /// It has a member twice, or exceeds a limit.
    Invalid(Problem),
}

/// Reads the JSON of translations as an author has typed it, within the limits of request bodies. An empty text has none.
pub fn read_text(text: &str) -> Result<Value, TextProblem> {
    if text.trim().is_empty() {
        return Ok(Map::new().into());
    }
    let (repeated, body) = json::read(text.as_bytes(), &Layout::PLAIN).map_err(|unreadable| match unreadable {
        Unreadable::Malformed(error) => TextProblem::Malformed(error),
        Unreadable::Excess(problem) => TextProblem::Invalid(problem),
    })?;
    match repeated.sorted(&body.value).into_iter().next() {
        Some(problem) => Err(TextProblem::Invalid(problem)),
        None => Ok(body.value),
    }
}

/// Returns the languages in which a text is looked up, in their order, as far as a template or one of its partials has
/// catalogues of them: the requested one and its truncations (RFC 4647: `de-AT-1996`, `de-AT`, `de`), then the first one of the
/// template, and those of the partials. So there is always one, unless there are no catalogues. The case of tags doesn't matter.
pub fn languages_in_order(all: &[&Translations], requested: Option<&str>) -> Vec<String> {
    let requested = requested.and_then(canonical_tag);
    let first = all.iter().filter_map(|translations| translations.first_language());
    let mut languages = Vec::new();
    for tag in requested.into_iter().chain(first) {
        for tag in iter::successors(Some(tag.as_str()), |tag| truncated(tag)) {
            let exists = || all.iter().any(|translations| translations.catalogues.contains_key(tag));
            if !languages.iter().any(|known| known == tag) && exists() {
                languages.push(tag.to_owned());
            }
        }
    }
    languages
}

/// Compares the order of the languages, too, because the first one is that of the template.
impl PartialEq for Translations {
    fn eq(&self, other: &Self) -> bool {
        self.written.iter().eq(&other.written)
    }
}

/// Stored translations, which are valid.
impl TryFrom<Value> for Translations {
    type Error = String;

    fn try_from(written: Value) -> Result<Self, String> {
        let mut problems = Problems::default();
        Self::parse(&written, "", &mut problems).ok_or_else(|| {
            let first = problems.sorted(&written).into_iter().next();
            first.map_or_else(String::new, |Problem { pointer, detail, .. }| {
                format!("{pointer}: {detail}")
            })
        })
    }
}

impl Serialize for Translations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.written.serialize(serializer)
    }
}

/// Returns a language tag in its canonical case, as in `pt-BR` and `zh-Hant` (RFC 5646, section 2.1.1). Returns `None` if it
/// isn't one of at most 35 characters.
pub fn canonical_tag(tag: &str) -> Option<String> {
    let is_first = |index: usize| index == 0;
    let is_subtag = |(index, subtag): (usize, &str)| {
        let allowed: fn(&u8) -> bool = if is_first(index) {
            u8::is_ascii_alphabetic
        } else {
            u8::is_ascii_alphanumeric
        };
        (1..=LONGEST_SUBTAG).contains(&subtag.len()) && subtag.as_bytes().iter().all(allowed)
    };
    if tag.len() > LONGEST_TAG || !tag.split('-').enumerate().all(is_subtag) {
        return None;
    }
    let mut canonical = String::with_capacity(tag.len());
    // After a single character, as in `x-private`, all is in lower case.
    let mut in_extension = false;
    for (index, subtag) in tag.split('-').enumerate() {
        if !is_first(index) {
            canonical.push('-');
        }
        let plain = is_first(index) || in_extension;
        match subtag.len() {
            2 if !plain => canonical.push_str(&subtag.to_ascii_uppercase()),
            4 if !plain => {
                canonical.push_str(&subtag[..1].to_ascii_uppercase());
                canonical.push_str(&subtag[1..].to_ascii_lowercase());
            }
            _ => canonical.push_str(&subtag.to_ascii_lowercase()),
        }
        in_extension |= subtag.len() == 1;
    }
    Some(canonical)
}

/// Returns a tag without its last part, and without a single character that would then be the last part.
fn truncated(tag: &str) -> Option<&str> {
    let (shorter, _) = tag.rsplit_once('-')?;
    match shorter.rsplit_once('-') {
        Some((shortest, last)) if last.len() == 1 => Some(shortest),
        _ => Some(shorter),
    }
}

/// Errors, with the fact that there are any.
struct Found<'p> {
    problems: &'p mut Problems,
    is_valid: bool,
}

impl Found<'_> {
    fn add(&mut self, pointer: &str, detail: impl FnOnce() -> String) {
        self.is_valid = false;
        self.problems.add_with(|| Problem::invalid(pointer, detail()));
    }
}

fn read_catalogues(written: &Value, pointer: &str, found: &mut Found) -> BTreeMap<String, Texts> {
    let mut catalogues = BTreeMap::new();
    let Value::Object(languages) = written else {
        found.add(pointer, || {
            format!(
                "Must be an object of language tags with their texts; got {}",
                type_of(written)
            )
        });
        return catalogues;
    };
    let bytes = written_bytes(languages).unwrap_or(usize::MAX);
    if bytes > MOST_BYTES {
        found.add(pointer, || {
            format!("Must have at most {MOST_BYTES} bytes as JSON; has {bytes}")
        });
        return catalogues;
    }
    if languages.len() > MOST_LANGUAGES {
        let came = languages.len();
        found.add(pointer, || {
            format!("Must have at most {MOST_LANGUAGES} languages; has {came}")
        });
        return catalogues;
    }
    for (tag, members) in languages {
        let pointer = member(pointer, tag);
        let Some(canonical) = canonical_tag(tag) else {
            found.add(&pointer, || {
                format!(
                    "Must be named by a language tag such as en or pt-BR (BCP 47); got {}",
                    quote(tag)
                )
            });
            continue;
        };
        if catalogues.contains_key(&canonical) {
            found.add(&pointer, || {
                format!(
                    "Must be named by a language tag that differs from the others, in lower case, too; got {}",
                    quote(tag)
                )
            });
            continue;
        }
        catalogues.insert(canonical, read_texts(members, &pointer, found));
    }
    catalogues
}
