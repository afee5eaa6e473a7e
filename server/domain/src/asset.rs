//! Assets: pictures, style sheets, fonts and data that pages refer to by name.

pub mod font_sheet;
pub mod properties;
pub mod tags;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use data_encoding::HEXLOWER;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use time::{OffsetDateTime, serde::rfc3339};
use unicode_normalization::UnicodeNormalization;

use crate::{
    asset::properties::{AssetProperties, FontFace},
    ids::{AssetId, TemplateId},
    page,
    template::identity::TemplateKind,
    validation::{
        Problem, Problems,
        json::{self, Body, Layout},
        schema::RequestBody,
    },
};

/// Maximum number of assets of a request, as in the schema.
pub const MOST_ASSETS: usize = 100;
/// Maximum size of an asset of an account, in bytes.
pub const LARGEST_ASSET: usize = 10 << 20;
/// Maximum number of files that an [`UploadReport`] names.
const MOST_LEFT_OUT: usize = 20;
/// Number of templates that a sentence names.
const MOST_NAMED_USERS: usize = 5;
/// JSON pointer of a name in the body of a request.
pub const NAME: &str = "/asset/name";
/// JSON pointer of a file in the body of a request.
pub const CONTENT: &str = "/asset/content";
/// JSON pointer of the tags in the body of a request.
const TAGS: &str = "/asset/tags";
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

/// An asset of an account, without its content, as the API serializes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asset {
    pub id: AssetId,
    /// Unique within the account.
    pub name: String,
    /// Value of `Content-Type`.
    pub content_type: String,
    /// Size of the content.
    pub bytes: i32,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    /// In alphabetical order.
    pub tags: Vec<String>,
    #[serde(with = "rfc3339")]
    pub inserted_at: OffsetDateTime,
    /// When the content was stored.
    #[serde(with = "rfc3339")]
    pub updated_at: OffsetDateTime,
    /// The content before the last replacement by another one.
    pub replaced: Option<ReplacedContent>,
    /// Those of a picture or font; `None` for other types, and for content that an earlier release stored.
    #[serde(flatten)]
    pub properties: Option<AssetProperties>,
}

impl Asset {
    /// Returns whether the content is a font.
    pub fn is_font(&self) -> bool {
        self.content_type.starts_with("font/")
    }

    /// Returns the font, if the content is one whose properties are known.
    pub fn font(&self) -> Option<&FontFace> {
        match &self.properties {
            Some(AssetProperties::Font(font)) => Some(font),
            _ => None,
        }
    }

    /// Returns the name without its folders.
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the name of the font's family: its own, or else the name of the file.
    pub fn family(&self) -> &str {
        let file = self.file_name();
        let file = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        self.font().and_then(|font| font.family.as_deref()).unwrap_or(file)
    }
}

/// Content that an asset no longer has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplacedContent {
    /// Its size.
    pub bytes: i32,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
    /// When it was stored.
    #[serde(with = "rfc3339")]
    pub updated_at: OffsetDateTime,
}

/// A template whose published version names an asset or a folder that contains it, itself or by a partial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AssetUser {
    pub id: TemplateId,
    pub name: String,
    pub kind: TemplateKind,
}

/// The templates that name an asset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssetUsers {
    /// The first ones that were found, in alphabetical order.
    pub listed: Vec<AssetUser>,
    /// Whether there are more.
    pub has_more: bool,
}

impl AssetUsers {
    /// Returns the names of the first ones as part of a sentence, such as `“Invoice”, “Letter” and others`.
    pub fn names(&self) -> String {
        let first = self.listed.iter().take(MOST_NAMED_USERS);
        let names: Vec<_> = first.map(|user| format!("“{}”", user.name)).collect();
        let others = if self.has_more || self.listed.len() > names.len() {
            " and others"
        } else {
            ""
        };
        names.join(", ") + others
    }
}

/// A valid request to create an asset.
pub struct AssetCreation {
    pub name: String,
    /// Value of `Content-Type`.
    pub content_type: &'static str,
    pub content: Vec<u8>,
    pub tags: Vec<String>,
}

impl AssetCreation {
    /// Checks a file. The error says what is allowed.
    pub fn of_file(name: &str, content: Vec<u8>) -> Result<Self, String> {
        let name = composed_name(name)?;
        check_size(&content)?;
        let content_type = content_type(&name, &content)?;
        Ok(Self {
            name,
            content_type,
            content,
            tags: Vec::new(),
        })
    }

    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Problem>> {
        let (body, mut problems) = parse(body, RequestBody::AssetCreation)?;
        let name = body["asset"]["name"].as_str().unwrap_or_default();
        if let Some(problem) = name_problem(name) {
            problems.add(Problem::invalid(NAME, problem));
        }
        let content = content(&body["asset"]["content"]);
        let content = content.and_then(|content| Ok((content_type(name, &content)?, content)));
        let content = problems.valid(CONTENT, content);
        let tags = problems.valid(TAGS, tags::of_array(&body["asset"]["tags"]));
        match (content, tags) {
            (Some((content_type, content)), Some(tags)) if problems.is_empty() => Ok(Self {
                name: name.to_owned(),
                content_type,
                content,
                tags,
            }),
            _ => Err(problems.sorted(&body)),
        }
    }
}

/// The result of an upload of several files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadReport {
    /// Number of assets that were created or replaced.
    pub stored: usize,
    /// Files that can't be assets, with the reasons; the first [`MOST_LEFT_OUT`].
    pub left_out: Vec<(String, String)>,
    /// Number of all files that were left out.
    pub left_out_count: usize,
    /// Why nothing was stored, if the upload was refused as a whole.
    pub refused: Option<String>,
}

impl UploadReport {
    /// Adds a file that was left out.
    pub fn leave_out(&mut self, name: &str, reason: String) {
        self.left_out_count += 1;
        if self.left_out.len() < MOST_LEFT_OUT {
            let name = name.chars().take(LONGEST_NAME).collect();
            self.left_out.push((name, reason));
        }
    }
}

/// Which assets a list contains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssetFilter {
    /// Part of the name, in upper or lower case.
    pub name: Option<String>,
    /// One of the tags.
    pub tag: Option<String>,
}

impl AssetFilter {
    /// Parses `tag` of a query string. Fails with a validation error at the parameter's name.
    pub fn parse(query: &str) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let tag = page::parameter(query, "tag", &mut problems, tags::tag);
        if problems.is_empty() {
            Ok(Self { name: None, tag })
        } else {
            Err(problems)
        }
    }
}

/// A valid request to replace the content of an asset, its tags, or both.
pub struct AssetReplacement {
    pub content: Option<Vec<u8>>,
    pub tags: Option<Vec<String>>,
}

impl AssetReplacement {
    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Problem>> {
        let (body, mut problems) = parse(body, RequestBody::AssetReplacement)?;
        let asset = &body["asset"];
        let content = asset.get("content").map(content);
        let content = content.and_then(|content| problems.valid(CONTENT, content));
        let tags = asset.get("tags").map(tags::of_array);
        let tags = tags.and_then(|tags| problems.valid(TAGS, tags));
        if problems.is_empty() {
            Ok(Self { content, tags })
        } else {
            Err(problems.sorted(&body))
        }
    }
}

/// Returns a body that is valid by its schema, and no problems yet.
fn parse(body: &[u8], schema: RequestBody) -> Result<(Value, Problems), Vec<Problem>> {
    let mut problems = Problems::default();
    let Some(Body { value: body, .. }) = json::parse(body, &Layout::PLAIN, &mut problems) else {
        return Err(problems.sorted(&Value::Null));
    };
    schema.check(&body, &mut problems);
    if problems.is_empty() {
        Ok((body, problems))
    } else {
        Err(problems.sorted(&body))
    }
}

/// Returns the content in the body of a request.
fn content(encoded: &Value) -> Result<Vec<u8>, String> {
    let content = decode(encoded.as_str().unwrap_or_default())?;
    check_size(&content).map(|()| content)
}

fn check_size(content: &[u8]) -> Result<(), String> {
    if content.len() > LARGEST_ASSET {
        return Err(format!(
            "Assets have at most {LARGEST_ASSET} bytes; this one has {}",
            content.len()
        ));
    }
    Ok(())
}

/// Decodes base64 (RFC 4648, section 4). The error says what is allowed.
pub fn decode(content: &str) -> Result<Vec<u8>, String> {
    BASE64_STANDARD
        .decode(content)
        .map_err(|error| format!("Must be base64 with padding and without line breaks (RFC 4648, section 4): {error}"))
}

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

/// Returns the name of the asset for a file: its path, composed (Unicode Normalization Form C), as HTML is typed, because
/// macOS decomposes names of files. The error says what is allowed.
pub fn composed_name(path: &str) -> Result<String, String> {
    let name: String = path.nfc().collect();
    match name_problem(&name) {
        Some(problem) => Err(problem),
        None => Ok(name),
    }
}

/// Returns the SHA-256 of content, in hexadecimal.
pub fn sha256(content: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(content))
}

/// Returns the asset, or the folder with its slash, that an address `asset:…` names, given without the scheme; `None` if no
/// asset can have the name. The base address `asset:` itself names nothing.
pub fn named_by(address: &str) -> Option<String> {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let name = percent_decode_str(path).decode_utf8().ok()?;
    let without_slash = name.strip_suffix('/').unwrap_or(&name);
    name_problem(without_slash).is_none().then(|| name.into_owned())
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
    fn addresses_name_assets_and_folders() {
        for (address, name) in [
            ("logo.svg", "logo.svg"),
            ("icons.svg#mail", "icons.svg"),
            ("a%20b.png?v=2", "a b.png"),
            ("letter/", "letter/"),
        ] {
            assert_eq!(named_by(address).as_deref(), Some(name));
        }
        for address in ["", "/", "{{ logo }}", "../a.png", "%ff"] {
            assert_eq!(named_by(address), None, "{address}");
        }
    }

    #[test]
    fn the_first_users_are_named() {
        let user = |name: &str| AssetUser {
            id: TemplateId::generate(),
            name: name.to_owned(),
            kind: TemplateKind::Document,
        };
        let users = |names: &[&str], has_more| AssetUsers {
            listed: names.iter().copied().map(user).collect(),
            has_more,
        };
        assert_eq!(users(&["Invoice", "Letter"], false).names(), "“Invoice”, “Letter”");
        assert_eq!(users(&["Invoice"], true).names(), "“Invoice” and others");
        let many = users(&["a", "b", "c", "d", "e", "f"], false);
        assert_eq!(many.names(), "“a”, “b”, “c”, “d”, “e” and others");
    }

    #[test]
    fn names_of_files_are_composed() {
        let file = AssetCreation::of_file("gro\u{308}\u{df}e.csv", Vec::new());
        assert_eq!(file.map(|file| file.name), Ok("gr\u{f6}\u{df}e.csv".to_owned()));
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
