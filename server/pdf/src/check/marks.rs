//! Marked content of a content stream (ISO 32000-1, 14.6 and 14.7.4): what is tagged, an artifact, or neither.

use super::rules::{self, Rule};
use crate::lexer::{Lexer, Token, decode_hex_string, decode_literal_string, decode_name, only_content_identifier};
use crate::object::ObjectNumber;
use crate::parse::parse_number;
use crate::text::is_language_tag;

/// What content belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Surrounding {
    /// Nothing in its stream; it belongs to what the stream belongs to where that is drawn.
    #[default]
    Nothing,
    Artifact,
    /// A structure element.
    Tagged,
}

/// Marks of one content stream.
#[derive(Default)]
pub(super) struct StreamMarks {
    /// `/StructParents` of the page or form.
    pub(super) key: Option<i64>,
    /// Whether the stream can't contain tagged content: that of a pattern, or of glyphs.
    pub(super) is_hidden: bool,
    /// Sequences with an identifier.
    pub(super) contents: Vec<MarkedContent>,
    /// Forms that the stream draws.
    pub(super) drawn: Vec<(ObjectNumber, Surrounding)>,
    pub(super) outside: Outside,
    /// Rules that the stream violates wherever it is drawn, each once.
    pub(super) violated: Vec<&'static Rule>,
    /// Whether there is replacement text without a language of its own.
    pub(super) has_replacement: bool,
    open: Vec<Open>,
}

/// What a stream contains outside of its own tags and artifacts.
#[derive(Default)]
pub(super) struct Outside {
    pub(super) text: bool,
    pub(super) graphics: bool,
    pub(super) artifacts: bool,
}

/// A sequence that belongs to a structure element.
pub(super) struct MarkedContent {
    pub(super) identifier: i64,
    pub(super) has_text: bool,
    pub(super) has_language: bool,
    /// Whether it shows a character whose text is unknown, without a replacement text.
    pub(super) has_icon: bool,
}

/// A sequence that has begun.
#[derive(Clone, Copy, Default)]
struct Open {
    surrounding: Surrounding,
    /// Index of the sequence with an identifier, if there is one around.
    content: Option<usize>,
    /// Whether there is a replacement text for it.
    is_replaced: bool,
}

impl StreamMarks {
    /// `key` is the `/StructParents` of the page or form.
    pub(super) fn new(key: Option<i64>) -> Self {
        Self { key, ..Self::default() }
    }

    /// Records `BMC` or `BDC` with the entries of its property list.
    pub(super) fn begin(&mut self, tag: &[u8], properties: &[u8]) {
        let properties = Properties::read(properties);
        let mut open = self.open.last().copied().unwrap_or_default();
        let around = open.surrounding;
        if tag == b"Artifact" {
            if around == Surrounding::Tagged || properties.identifier.is_some() {
                self.note(&rules::ARTIFACT_IN_TAG);
            }
            self.outside.artifacts |= around == Surrounding::Nothing;
            open.surrounding = Surrounding::Artifact;
            open.content = None;
        }
        if let Some(identifier) = properties.identifier {
            match around {
                Surrounding::Nothing => {}
                Surrounding::Artifact => self.note(&rules::TAG_IN_ARTIFACT),
                Surrounding::Tagged => self.note(&rules::NESTED_MARKS),
            }
            open.surrounding = Surrounding::Tagged;
            open.content = Some(self.contents.len());
            self.contents.push(MarkedContent {
                identifier,
                has_text: false,
                has_language: properties.language.is_some(),
                has_icon: false,
            });
        }
        if let Some(Err(rule)) = properties.language {
            self.note(rule);
        }
        open.is_replaced |= properties.has_replacement;
        self.has_replacement |= properties.has_replacement && properties.language.is_none();
        self.open.push(open);
    }

    /// Records `EMC`.
    pub(super) fn end(&mut self) {
        if self.open.pop().is_none() {
            self.note(&rules::UNBALANCED_MARKS);
        }
    }

    /// Records the end of the stream.
    pub(super) fn finish(&mut self) {
        if !std::mem::take(&mut self.open).is_empty() {
            self.note(&rules::UNBALANCED_MARKS);
        }
    }

    /// Records an operator that shows text.
    pub(super) fn text(&mut self) {
        match self.open.last() {
            None => self.outside.text = true,
            Some(open) => {
                self.outside.text |= open.surrounding == Surrounding::Nothing;
                if let Some(content) = open.content.and_then(|index| self.contents.get_mut(index)) {
                    content.has_text = true;
                }
            }
        }
    }

    /// Records a character whose text is unknown.
    pub(super) fn icon(&mut self) {
        let open = self.open.last().filter(|open| !open.is_replaced);
        let content = open.and_then(|open| self.contents.get_mut(open.content?));
        if let Some(content) = content {
            content.has_icon = true;
        }
    }

    /// Records an operator that paints a path or an image.
    pub(super) fn graphics(&mut self) {
        self.outside.graphics |= self.surrounding() == Surrounding::Nothing;
    }

    /// Records that a form is drawn.
    pub(super) fn form(&mut self, number: ObjectNumber) {
        self.drawn.push((number, self.surrounding()));
    }

    fn note(&mut self, rule: &'static Rule) {
        if !self.violated.contains(&rule) {
            self.violated.push(rule);
        }
    }

    fn surrounding(&self) -> Surrounding {
        self.open.last().map(|open| open.surrounding).unwrap_or_default()
    }
}

/// Entries of a property list that matter here.
#[derive(Default)]
pub(super) struct Properties {
    pub(super) identifier: Option<i64>,
    /// The rule that the language violates, if it does.
    language: Option<Result<(), &'static Rule>>,
    has_replacement: bool,
}

impl Properties {
    /// Reads the entries of a property list, which has been found to be valid.
    pub(super) fn read(entries: &[u8]) -> Self {
        let mut properties = Self::default();
        if let Some(identifier) = only_content_identifier(entries).and_then(|identifier| identifier.try_into().ok()) {
            properties.identifier = Some(identifier);
            return properties;
        }
        let mut lexer = Lexer::new(entries, 0);
        let mut depth = 0_usize;
        let mut key = None;
        while let Ok(Some((_, token))) = lexer.next_token() {
            match token {
                Token::DictionaryStart | Token::ArrayStart => depth += 1,
                Token::DictionaryEnd | Token::ArrayEnd => depth = depth.saturating_sub(1),
                _ if depth > 0 => continue,
                Token::Name(name) if key.is_none() => {
                    key = Some(decode_name(name));
                    continue;
                }
                _ => properties.add(key.as_deref().unwrap_or_default(), token),
            }
            if depth == 0 {
                key = None;
            }
        }
        properties
    }

    fn add(&mut self, key: &[u8], value: Token) {
        match (key, value) {
            (b"MCID", Token::Number(raw)) => {
                self.identifier = parse_number(raw).and_then(|number| number.as_integer()).or(Some(-1));
            }
            (b"Lang", Token::LiteralString(raw)) => {
                self.language = Some(check_language(&decode_literal_string(raw)));
            }
            (b"Lang", Token::HexString(raw)) => self.language = Some(check_language(&decode_hex_string(raw))),
            (b"Lang", _) => self.language = Some(Err(&rules::BAD_LANGUAGE)),
            (b"ActualText" | b"Alt" | b"E", _) => self.has_replacement = true,
            _ => {}
        }
    }
}

/// Returns the rule that a `/Lang` violates, if it does.
pub(super) fn check_language(language: &[u8]) -> Result<(), &'static Rule> {
    if language.is_empty() {
        Err(&rules::EMPTY_LANGUAGE)
    } else if is_language_tag(language) {
        Ok(())
    } else {
        Err(&rules::BAD_LANGUAGE)
    }
}
