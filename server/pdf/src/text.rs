//! Text strings (ISO 32000-1, 7.9.2): plain bytes for ASCII, UTF-16 with a byte-order mark for everything else.

use time::OffsetDateTime;

/// Longest string in bytes (ISO 19005-2, 6.1.13).
pub(crate) const MAX_STRING: usize = 32_767;

const BYTE_ORDER_MARK: [u8; 2] = [0xFE, 0xFF];

/// Removes characters that XML 1.0 does not allow (2.2, `Char`) and collapses white space, so that the document
/// information and XMP can contain the same text. Returns `None` if nothing is left.
pub(crate) fn clean(text: &str) -> Option<String> {
    let kept: String = text.chars().filter(|character| is_xml(*character)).collect();
    let words: Vec<&str> = kept.split_ascii_whitespace().collect();
    if words.is_empty() { None } else { Some(words.join(" ")) }
}

/// Returns the longest beginning of a text that fits into a PDF string.
pub(crate) fn fit(text: &str) -> &str {
    if text.is_ascii() {
        return &text[..text.len().min(MAX_STRING)];
    }
    let mut length = BYTE_ORDER_MARK.len();
    for (index, character) in text.char_indices() {
        length += 2 * character.len_utf16();
        if length > MAX_STRING {
            return &text[..index];
        }
    }
    text
}

pub(crate) fn encode(text: &str) -> Vec<u8> {
    if text.is_ascii() {
        return text.into();
    }
    let units = text.encode_utf16().flat_map(u16::to_be_bytes);
    BYTE_ORDER_MARK.into_iter().chain(units).collect()
}

/// Decodes a text string. Without a byte-order mark, bytes outside ASCII are decoded as Latin-1, which is close to
/// PDF's own encoding and good enough for messages.
pub(crate) fn decode(bytes: &[u8]) -> String {
    match bytes.strip_prefix(&BYTE_ORDER_MARK) {
        Some(units) => decode_utf16(units),
        None => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

fn decode_utf16(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    char::decode_utf16(units)
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// Cuts an encoded text string to the longest length that is allowed, at a character boundary.
pub(crate) fn fit_encoded(bytes: &[u8]) -> &[u8] {
    if bytes.len() <= MAX_STRING {
        return bytes;
    }
    if !bytes.starts_with(&BYTE_ORDER_MARK) {
        return &bytes[..MAX_STRING];
    }
    let mut length = MAX_STRING / 2 * 2;
    // A high surrogate at the end has lost its other half.
    if matches!(bytes[length - 2], 0xD8..=0xDB) {
        length -= 2;
    }
    &bytes[..length]
}

/// Returns at most `limit` characters of a text, followed by an ellipsis if it was cut.
pub(crate) fn abbreviate(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns whether XML 1.0 allows a character (2.2, `Char`).
pub(crate) fn is_xml(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// Returns whether a tag has the form of BCP 47: letters, then letters and digits, in groups of one to eight.
pub(crate) fn is_language_tag(tag: &[u8]) -> bool {
    tag.split(|byte| *byte == b'-').enumerate().all(|(index, group)| {
        let allowed = if index == 0 {
            u8::is_ascii_alphabetic
        } else {
            u8::is_ascii_alphanumeric
        };
        (1..=8).contains(&group.len()) && group.iter().all(allowed)
    })
}

/// Formats an instant, which must be in UTC, for the document information (ISO 32000-1, 7.9.4).
pub(crate) fn information_date(at: OffsetDateTime) -> String {
    let (date, (hour, minute, second)) = (at.date(), at.to_hms());
    let (year, month, day) = (date.year(), u8::from(date.month()), date.day());
    format!("D:{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}+00'00'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleans_text_for_xml() {
        assert_eq!(
            clean(" a\u{0}\u{B}b \n\t c\u{FFFE}\u{FFFF}\u{1F469}\u{A0}"),
            Some("ab c\u{1F469}\u{A0}".into())
        );
        assert_eq!(clean(" \n\u{1}"), None);
    }

    #[test]
    fn cuts_at_a_whole_character() {
        let long = "a".repeat(40_000);
        assert_eq!(fit(&long).len(), 32_767);
        // A mark, 16,381 letters and one half of a pair would make 32,766 bytes.
        let pairs = format!("{}\u{1F469}{}", "é".repeat(16_381), "é".repeat(100));
        assert_eq!(fit(&pairs), "é".repeat(16_381));
        assert_eq!(fit_encoded(&encode(&pairs)), encode(&"é".repeat(16_381)));
        assert_eq!(fit("short é"), "short é");
        assert_eq!(fit_encoded(&encode(fit(&long))), fit(&long).as_bytes());
    }

    #[test]
    fn text_survives_its_encoding() {
        for text in ["plain (ASCII)", "Grüße 你好 \u{1F469}"] {
            assert_eq!(decode(&encode(text)), text);
        }
    }

    #[test]
    fn tells_language_tags_by_their_form() {
        for tag in ["en", "pt-BR", "zh-Hant-TW", "de-CH-1996", "x-klingon"] {
            assert!(is_language_tag(tag.as_bytes()), "{tag}");
        }
        for tag in ["", "en_US", "english (UK)", "1en", "en-", "abcdefghi", "é"] {
            assert!(!is_language_tag(tag.as_bytes()), "{tag}");
        }
    }
}
