//! HTML and URLs with placeholders, which become the parts of each row's document.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;
use url::{Position, Url};

use crate::{
    batch::placeholders::{filled, member, names, not_a_text, number_text, required_text},
    html,
    validation::quote,
};

/// Characters of data that are encoded in URLs: all but the unreserved ones (RFC 3986, 2.3), so that data adds no segments, queries or
/// fragments.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Two braces as they are in the path of a parsed URL.
const OPENINGS: [&str; 2] = ["{{", "%7B%7B"];
const CLOSINGS: [&str; 2] = ["}}", "%7D%7D"];

/// Returns the names of the placeholders in HTML; or what is wrong with one.
pub fn names_in_html(html: &str) -> Result<Vec<String>, String> {
    let names = names(html).map_err(|reason| {
        format!(
            "{reason}. For two braces, write &#123;&#123;, or {{ {{ in scripts and styles. Expressions, conditions and loops need a template"
        )
    });
    Ok(names?.into_iter().map(ToOwned::to_owned).collect())
}

/// Returns the names of the placeholders in a URL; or what is wrong with one.
pub fn names_in_url(url: &Url) -> Result<Vec<String>, String> {
    let (origin, rest) = split(url);
    if OPENINGS.iter().any(|opening| origin.contains(opening)) {
        return Err("Placeholders must be in the path, the query or the fragment of a URL".to_owned());
    }
    Ok(names(&rest)?.into_iter().map(ToOwned::to_owned).collect())
}

/// Fills the placeholders of HTML with members of `row`, a JSON object, as the text of elements and of attributes in quotes: `<` becomes
/// `&lt;`. Null becomes an empty text. `room` is the number of bytes that the filled HTML may still have, from which its length is
/// subtracted. The error says which placeholder can't be filled, and why.
pub fn fill_html(pattern: &str, row: &Value, room: &mut usize) -> Result<String, String> {
    fill(pattern, room, |name| {
        let text = match member(row, name)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number_text(number, name)?,
            Value::Bool(value) => value.to_string(),
            Value::Null => String::new(),
            Value::Array(_) | Value::Object(_) => return Err(not_a_text(name)),
        };
        Ok(html::escaped(&text))
    })
}

/// As [`fill_html`], for a URL, with percent-encoding: `/` becomes `%2F`. Data chooses neither the host nor another path: it must not be
/// empty, and make no segment `.` or `..`.
pub fn fill_url(pattern: &Url, row: &Value, room: &mut usize) -> Result<Url, String> {
    let (origin, rest) = split(pattern);
    let filled = fill(&rest, room, |name| {
        let text = required_text(row, name)?;
        Ok(utf8_percent_encode(&text, ENCODED).to_string())
    })?;
    // Parsing resolves such segments, also encoded ones (URL standard, 4.1).
    let path = filled.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    if path
        .replace("%2e", ".")
        .split('/')
        .any(|segment| matches!(segment, "." | ".."))
    {
        return Err(format!(
            "{} has a segment . or .. with the data of the row",
            quote(pattern.as_str())
        ));
    }
    Url::parse(&format!("{origin}{filled}")).map_err(|error| error.to_string())
}

fn fill(pattern: &str, room: &mut usize, text: impl Fn(&str) -> Result<String, String>) -> Result<String, String> {
    let filled = filled(pattern, *room, text)?;
    let filled = filled.ok_or("The parts are too long with the data of the row; use a template")?;
    *room -= filled.len();
    Ok(filled)
}

/// Returns a URL up to its path, and its rest with placeholders as they were written: parsing encodes their braces in paths, and names
/// that aren't ASCII.
fn split(url: &Url) -> (&str, String) {
    let mut rest = &url[Position::BeforePath..];
    let mut decoded = String::with_capacity(rest.len());
    while let Some((before, from)) = split_at_first(rest, OPENINGS) {
        let (name, after) = split_at_first(from, CLOSINGS).map_or((from, None), |(name, after)| (name, Some(after)));
        decoded.extend([before, "{{", &percent_decode_str(name).decode_utf8_lossy()]);
        let Some(after) = after else {
            return (&url[..Position::BeforePath], decoded);
        };
        decoded.push_str("}}");
        rest = after;
    }
    decoded.push_str(rest);
    (&url[..Position::BeforePath], decoded)
}

/// Splits a text at the first of two marks.
fn split_at_first<'a>(text: &'a str, marks: [&str; 2]) -> Option<(&'a str, &'a str)> {
    let parts = marks.into_iter().filter_map(|mark| text.split_once(mark));
    parts.min_by_key(|(before, _)| before.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ROOM: usize = 1_000;

    #[test]
    fn data_is_text_in_html() {
        let row = json!({"number": 17, "customer": {"name": "<b>Ann's & \"Bob\"</b>"}, "paid": true, "note": null, "list": []});
        let mut room = ROOM;
        let filled = fill_html(
            "<p title='{{ customer.name }}'>{{number}}{{ paid }}{{ note }}",
            &row,
            &mut room,
        );
        let expected = "<p title='&lt;b&gt;Ann&#39;s &amp; &quot;Bob&quot;&lt;/b&gt;'>17true";
        assert_eq!(filled.as_deref(), Ok(expected));
        assert_eq!(room, ROOM - expected.len());
        for (html, word) in [
            ("{{ list }}", "text or a number"),
            ("{{ name }}", "no member"),
            ("{{ customer }}", "text"),
        ] {
            let reason = fill_html(html, &row, &mut ROOM.clone()).unwrap_err();
            assert!(reason.contains(word), "{reason}");
        }
        assert!(names_in_html("{{ number | upper }}").unwrap_err().contains("template"));
    }

    #[test]
    fn filled_html_is_bounded() {
        let row = json!({"text": "x".repeat(100)});
        let html = "{{ text }}".repeat(10);
        let mut room = ROOM;
        assert_eq!(fill_html(&html, &row, &mut room).map(|html| html.len()), Ok(1_000));
        assert_eq!(room, 0);
        assert!(fill_html("x", &row, &mut room).unwrap_err().contains("too long"));
    }

    #[test]
    fn data_is_encoded_in_urls() {
        let row = json!({"id": "a/b?c#d ä", "number": 17, "größe": "XL"});
        for (pattern, expected) in [
            (
                "https://example.com/{{id}}/print",
                "https://example.com/a%2Fb%3Fc%23d%20%C3%A4/print",
            ),
            (
                "https://example.com/?n={{number}}#{{ number }}",
                "https://example.com/?n=17#17",
            ),
            ("https://example.com/{{größe}}", "https://example.com/XL"),
            ("https://example.com/x", "https://example.com/x"),
            (
                "https://example.com/?f=%7B%22a%22%7D&n={{number}}",
                "https://example.com/?f=%7B%22a%22%7D&n=17",
            ),
        ] {
            let pattern = Url::parse(pattern).expect("a URL");
            assert!(names_in_url(&pattern).is_ok());
            let filled = fill_url(&pattern, &row, &mut ROOM.clone());
            assert_eq!(filled.map(String::from).as_deref(), Ok(expected));
        }
        for (path, text) in [
            ("{{id}}/", ""),
            ("{{id}}/", " "),
            ("{{id}}/", "."),
            ("x/{{id}}", ".."),
            ("x/{{id}}", "."),
            ("{{id}}", ".."),
            (".{{id}}/", "."),
        ] {
            let pattern = Url::parse(&format!("https://example.com/{path}")).expect("a URL");
            let filled = fill_url(&pattern, &json!({"id": text}), &mut ROOM.clone());
            assert!(filled.is_err(), "{path}, {text}: {filled:?}");
        }
    }

    #[test]
    fn data_does_not_choose_the_host() {
        for url in ["https://{{host}}/", "https://{{name}}@example.com/"] {
            let reason = names_in_url(&Url::parse(url).expect("a URL")).unwrap_err();
            assert!(reason.contains("path"), "{reason}");
        }
    }

    #[test]
    fn names_have_no_control_characters() {
        for url in ["https://example.com/{{a%00b}}", "https://example.com/?x={{a\u{0}b}}"] {
            let reason = names_in_url(&Url::parse(url).expect("a URL")).unwrap_err();
            assert!(reason.contains("name of a member"), "{reason}");
        }
        assert!(names_in_html("<p>{{ a\u{0}b }}").is_err());
    }
}
