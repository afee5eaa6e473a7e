//! File names for downloaded PDFs.

use std::fmt::Write;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

const LONGEST: usize = 100;
/// Everything but `attr-char` is escaped (RFC 8187, 3.2.1).
const NOT_ATTR_CHAR: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// Returns a `Content-Disposition` (RFC 6266) that displays the PDF inline and names it by its title, in ASCII for old
/// clients and in UTF-8 for all others.
pub(crate) fn content_disposition(title: Option<&str>) -> String {
    let name = title
        .map(stem)
        .filter(|stem| !stem.is_empty())
        .unwrap_or_else(|| "document".into());
    let ascii: String = name
        .chars()
        .map(|character| if character.is_ascii() { character } else { '_' })
        .collect();
    let ascii = if ascii.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        ascii
    } else {
        "document".into()
    };
    // The name contains neither quotation marks nor backslashes, so the quoted string needs no escapes.
    let mut header = format!("inline; filename=\"{ascii}.pdf\"; filename*=UTF-8''");
    let _ = write!(header, "{}.pdf", utf8_percent_encode(&name, NOT_ATTR_CHAR));
    header
}

/// Returns a title without characters that a path, a shell or a reader may misinterpret: separators, reserved
/// characters, control characters and marks that change the text direction. Whitespace is collapsed, and the length
/// limited to 100 characters.
fn stem(title: &str) -> String {
    let visible: String = title
        .chars()
        .filter(|character| !turns_or_hides(*character))
        .map(|character| match character {
            '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '%' => '-',
            character if character.is_control() => ' ',
            character => character,
        })
        .collect();
    let words = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = words
        .trim_start_matches(['.', ' ', '-', '~'])
        .chars()
        .take(LONGEST)
        .collect();
    cut.trim_end_matches(['.', ' ']).to_owned()
}

fn turns_or_hides(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let rows = [
            (None, "document", "document"),
            (Some(""), "document", "document"),
            (Some(" . "), "document", "document"),
            (Some("Invoice 42"), "Invoice 42", "Invoice%2042"),
            (Some("  a \n\t b\u{0}c "), "a b c", "a%20b%20c"),
            (Some("../../etc/passwd"), "etc-passwd", "etc-passwd"),
            (
                Some("a\"; filename=\"b.exe"),
                "a-; filename=-b.exe",
                "a-%3B%20filename%3D-b.exe",
            ),
            (
                Some("a\\b\r\nSet-Cookie: x"),
                "a-b Set-Cookie- x",
                "a-b%20Set-Cookie-%20x",
            ),
            (Some("Müller’s"), "M_ller_s", "M%C3%BCller%E2%80%99s"),
            (Some("請求書"), "document", "%E8%AB%8B%E6%B1%82%E6%9B%B8"),
            (Some("cod\u{202e}fdp.exe"), "codfdp.exe", "codfdp.exe"),
            (Some("100%"), "100-", "100-"),
        ];
        for (title, ascii, utf8) in rows {
            let expected = format!("inline; filename=\"{ascii}.pdf\"; filename*=UTF-8''{utf8}.pdf");
            assert_eq!(content_disposition(title), expected, "{title:?}");
        }
    }

    #[test]
    fn long_titles_are_cut_between_characters() {
        let header = content_disposition(Some(&"ä".repeat(1000)));
        assert_eq!(header.matches("%C3%A4").count(), 100);
        assert!(axum::http::HeaderValue::try_from(header).is_ok());
    }
}
