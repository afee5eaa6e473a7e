//! The text of a filled template, with the lines of the template that made it.
//!
//! The engine writes text of the template without copying it. So output that lies in the memory of the template is text
//! of the template, and its address tells the place. All other output is the value of an expression, or of a block that
//! the engine has collected first, such as a macro; it counts as made by the tag after the preceding text.

use serde::{Deserialize, Serialize};

/// Maximum number of words.
pub(crate) const MOST_WORDS: usize = 5000;
/// Maximum number of places that are recorded while a template is filled.
const MOST_PLACES: usize = 100_000;
/// Words are cut at this length, in characters. The words of PDFs are, too.
const LONGEST_WORD: usize = 64;
/// Elements whose content isn't printed.
const HIDDEN: [&str; 4] = ["script", "style", "template", "title"];
/// Elements within a line: their tags don't separate words.
const INLINE: [&str; 26] = [
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q",
    "s", "samp", "small", "span", "strong", "sub", "sup", "u", "var",
];
/// Names of characters that templates usually contain. Others stay as they are written.
const NAMED: [(&str, &str); 20] = [
    ("amp", "&"),
    ("apos", "'"),
    ("bull", "•"),
    ("copy", "©"),
    ("euro", "€"),
    ("gt", ">"),
    ("hellip", "…"),
    ("laquo", "«"),
    ("ldquo", "“"),
    ("lsquo", "‘"),
    ("lt", "<"),
    ("mdash", "—"),
    ("middot", "·"),
    ("nbsp", " "),
    ("ndash", "–"),
    ("quot", "\""),
    ("raquo", "»"),
    ("rdquo", "”"),
    ("rsquo", "’"),
    ("times", "×"),
];

/// Longest name or number of a character.
const LONGEST_NAME: usize = 9;

/// Words that one line of the template has made, in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceText {
    /// Line of the template, from 1.
    pub line: usize,
    /// Words, separated by spaces.
    pub text: String,
}

/// Where text of the template begins in the output: offset in the output, offset in the template, and length.
pub(crate) type Mark = (usize, usize, usize);

/// Records which output is text of the template.
pub(crate) struct Places {
    /// Address and length of the template.
    address: usize,
    length: usize,
    pub(crate) marks: Vec<Mark>,
}

impl Places {
    pub(crate) fn of(template: &str) -> Self {
        Self {
            address: template.as_ptr().addr(),
            length: template.len(),
            marks: Vec::new(),
        }
    }

    /// Records output at this offset.
    pub(crate) fn note(&mut self, output: usize, bytes: &[u8]) {
        let Some(offset) = bytes.as_ptr().addr().checked_sub(self.address) else {
            return;
        };
        if offset + bytes.len() <= self.length && !bytes.is_empty() && self.marks.len() < MOST_PLACES {
            self.marks.push((output, offset, bytes.len()));
        }
    }
}

/// Returns the words of a filled template. `original` converts offsets in the template that was filled into those of
/// `template`, which its author knows.
pub(crate) fn source_texts(
    html: &str,
    template: &str,
    marks: &[Mark],
    original: impl Fn(usize) -> usize,
) -> Vec<SourceText> {
    let starts: Vec<usize> = template.match_indices('\n').map(|(offset, _)| offset + 1).collect();
    let line_of = |offset: usize| {
        let before = marks.partition_point(|(output, ..)| *output <= offset);
        let place = before.checked_sub(1).and_then(|index| marks.get(index));
        let place = place.map_or(0, |(output, place, length)| place + (offset - output).min(*length));
        let place = original(place);
        starts.partition_point(|start| *start <= place) + 1
    };
    let mut texts: Vec<SourceText> = Vec::new();
    for (count, (offset, word)) in Words::of(html).enumerate() {
        if count == MOST_WORDS {
            break;
        }
        let line = line_of(offset);
        match texts.last_mut() {
            Some(last) if last.line == line => {
                last.text.push(' ');
                last.text.push_str(&word);
            }
            _ => texts.push(SourceText { line, text: word }),
        }
    }
    texts
}

/// The visible words of an HTML document, each with its offset.
struct Words<'h> {
    html: &'h str,
    position: usize,
}

impl<'h> Words<'h> {
    fn of(html: &'h str) -> Self {
        Self { html, position: 0 }
    }

    /// Skips a tag, comment or hidden element. Returns whether it separates words.
    fn skip(&mut self) -> bool {
        let rest = &self.html[self.position..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            self.position += comment.find("-->").map_or(rest.len(), |end| end + 7);
            return false;
        }
        let is_end = rest.starts_with("</");
        let name = &rest[if is_end { 2 } else { 1 }..];
        let length = name.find(|character: char| !character.is_ascii_alphanumeric());
        let name = name[..length.unwrap_or(name.len())].to_ascii_lowercase();
        self.position += end_of_tag(rest);
        if !is_end && HIDDEN.contains(&name.as_str()) {
            let content = &self.html[self.position..];
            let end = find_end(content, &name).unwrap_or(content.len());
            self.position += end;
            return true;
        }
        !INLINE.contains(&name.as_str())
    }

    /// Returns the character at the position, and passes it.
    fn character(&mut self) -> Option<Decoded> {
        let rest = &self.html[self.position..];
        let first = rest.chars().next()?;
        if first == '&'
            && let Some(length) = rest.bytes().skip(1).take(LONGEST_NAME).position(|byte| byte == b';')
            && let Some(decoded) = decode(&rest[1..=length])
        {
            self.position += length + 2;
            return Some(decoded);
        }
        self.position += first.len_utf8();
        Some(Decoded::Character(first))
    }
}

/// A character, or the text of a name.
enum Decoded {
    Character(char),
    Text(&'static str),
}

impl Iterator for Words<'_> {
    type Item = (usize, String);

    fn next(&mut self) -> Option<Self::Item> {
        let mut word = String::new();
        let mut start = self.position;
        let mut length = 0;
        while self.position < self.html.len() {
            if is_markup(&self.html[self.position..]) {
                if self.skip() && !word.is_empty() {
                    break;
                }
                continue;
            }
            let offset = self.position;
            let (character, text) = match self.character()? {
                Decoded::Character(character) => (character, None),
                Decoded::Text(text) => (text.chars().next()?, Some(text)),
            };
            if character.is_whitespace() {
                if word.is_empty() {
                    continue;
                }
                break;
            }
            // Soft hyphens and joiners are not drawn.
            if matches!(character, '\u{AD}' | '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}') {
                continue;
            }
            if word.is_empty() {
                start = offset;
            }
            match text {
                Some(text) => word.push_str(text),
                None => word.push(character),
            }
            length += 1;
            if length == LONGEST_WORD {
                break;
            }
        }
        (!word.is_empty()).then_some((start, word))
    }
}

/// Returns whether a tag or comment begins here, and not text with `<`.
fn is_markup(rest: &str) -> bool {
    let mut characters = rest.chars();
    characters.next() == Some('<')
        && characters
            .next()
            .is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'))
}

/// Returns the length of a tag. Quoted values may contain `>`.
fn end_of_tag(tag: &str) -> usize {
    let mut quote = None;
    for (offset, byte) in tag.bytes().enumerate() {
        match (byte, quote) {
            (b'>', None) => return offset + 1,
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    tag.len()
}

/// Returns the offset of the end tag of an element in its content.
fn find_end(content: &str, name: &str) -> Option<usize> {
    let mut ends = content.match_indices("</").map(|(offset, _)| offset);
    ends.find(|offset| {
        let found = content.get(offset + 2..offset + 2 + name.len());
        let next = content.as_bytes().get(offset + 2 + name.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(name)) && !next.is_some_and(u8::is_ascii_alphanumeric)
    })
}

fn decode(name: &str) -> Option<Decoded> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        return char::from_u32(code.ok()?).map(Decoded::Character);
    }
    let named = NAMED.iter().find(|(known, _)| *known == name);
    named.map(|(_, text)| Decoded::Text(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(html: &str) -> Vec<String> {
        Words::of(html).map(|(_, word)| word).collect()
    }

    #[test]
    fn words_are_what_is_printed() {
        let html = "<!doctype html><head><title>No</title></head><style>p > a {}</style><p class='a>b'>One<b>T</b>wo <br>3<!-- no \
                    -->4</p>5 < 6 &amp; &#x27;a&#39;&nbsp;&unknown; so\u{AD}ft<script>'<p>no'</script>";
        let expected = ["OneTwo", "34", "5", "<", "6", "&", "'a'", "&unknown;", "soft"];
        assert_eq!(words(html), expected);
        assert_eq!(words("<p unclosed"), Vec::<String>::new());
        assert_eq!(words("<style>never closed"), Vec::<String>::new());
        assert_eq!(
            words(&"x".repeat(130)).iter().map(String::len).collect::<Vec<_>>(),
            [64, 64, 2]
        );
    }
}
