//! Rules for assets: pictures, style sheets, fonts and data that pages refer to by name.

/// Maximum number of assets of a request, as in the schema.
pub const MOST_ASSETS: usize = 100;
/// Maximum length of a name in bytes.
const LONGEST_NAME: usize = 200;
/// Characters of names apart from letters and digits. Others delimit addresses in HTML, CSS or URLs.
const NAME_CHARACTERS: &str = " +-._@~";

/// First bytes of binary files, with the offset at which they are, and their types.
const SIGNATURES: [(usize, &[u8], &str); 10] = [
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xFF\xD8\xFF", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftypavis", "image/avif"),
    (0, b"wOF2", "font/woff2"),
    (0, b"wOFF", "font/woff"),
    (0, b"\x00\x01\x00\x00", "font/ttf"),
    (0, b"OTTO", "font/otf"),
];
/// Extensions of text files, and their types.
const TEXTS: [(&str, &str); 4] = [
    (".css", "text/css; charset=utf-8"),
    (".csv", "text/csv; charset=utf-8"),
    (".json", "application/json"),
    (".svg", "image/svg+xml"),
];

/// Returns why an asset can't have this name. Names may contain folders: `fonts/inter.woff2`.
pub fn name_problem(name: &str) -> Option<String> {
    let is_allowed = |c: char| c.is_alphanumeric() || NAME_CHARACTERS.contains(c);
    if name.len() > LONGEST_NAME {
        Some(format!(
            "Names have at most {LONGEST_NAME} bytes; this one has {}",
            name.len()
        ))
    } else if name.split('/').any(|folder| matches!(folder.trim(), "" | "." | "..")) {
        Some("Names are relative paths such as fonts/inter.woff2, without empty folders, . and ..".to_owned())
    } else if !name.chars().all(|c| is_allowed(c) || c == '/') {
        Some(format!(
            "Names consist of letters, digits, spaces and any of {}/",
            NAME_CHARACTERS.trim()
        ))
    } else {
        None
    }
}

/// Returns the value of `Content-Type` for an asset: that of its first bytes or, for text in UTF-8, of its extension. The
/// error says what is allowed.
pub fn content_type(name: &str, content: &[u8]) -> Result<&'static str, &'static str> {
    let signed = SIGNATURES
        .into_iter()
        .find(|(offset, signature, _)| content.get(*offset..).is_some_and(|from| from.starts_with(signature)));
    if let Some((_, _, content_type)) = signed {
        return Ok(content_type);
    }
    let name = name.to_ascii_lowercase();
    let text = TEXTS.into_iter().find(|(extension, _)| name.ends_with(extension));
    match text {
        Some((_, content_type)) if std::str::from_utf8(content).is_ok() => Ok(content_type),
        _ => Err(
            "Must be a picture (PNG, JPEG, GIF, WebP, AVIF), a font (WOFF2, WOFF, TrueType, OpenType), or text in UTF-8 \
             whose name ends with .css, .svg, .json or .csv",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_paths() {
        for name in ["logo.svg", "fonts/Inter 1.woff2", "größe/図.png", "a@2x.png"] {
            assert_eq!(name_problem(name), None, "{name}");
        }
        let long = "x".repeat(LONGEST_NAME + 1);
        for name in [
            "", "/a", "a/", "a//b", "./a", "a/../b", "a?b", "a%20b", "a\"b", "a\nb", "a:b", "a\\b", &long,
        ] {
            assert!(name_problem(name).is_some(), "{name}");
        }
    }

    #[test]
    fn content_decides_the_type() {
        assert_eq!(content_type("a.css", b"\x89PNG\r\n\x1a\n..."), Ok("image/png"));
        assert_eq!(content_type("a", b"RIFF\0\0\0\0WEBPVP8 "), Ok("image/webp"));
        assert_eq!(content_type("a.ttf", b"\0\x01\0\0\0"), Ok("font/ttf"));
        assert_eq!(
            content_type("A.CSS", "p { content: 'ä' }".as_bytes()),
            Ok("text/css; charset=utf-8")
        );
        for (name, content) in [
            ("a.css", &b"\xFF"[..]),
            ("a.html", b"<p>"),
            ("a.png", b"<svg>"),
            ("a", b""),
        ] {
            assert!(content_type(name, content).is_err(), "{name}");
        }
    }
}
