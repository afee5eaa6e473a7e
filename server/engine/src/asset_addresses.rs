//! Addresses of the form `asset:NAME`, by which HTML and CSS refer to the assets of a render.

use std::{cell::RefCell, collections::BTreeSet};

use lol_html::{RewriteStrSettings, element, html_content::ContentType, rewrite_str, text};
use memchr::memchr_iter;
use platen_egress::assets::ASSET_DOMAIN;

use crate::ascii_case::ends_with;

/// Attributes with addresses of resources, apart from `style`.
pub(crate) const ADDRESS_ATTRIBUTES: [&str; 7] =
    ["src", "srcset", "href", "xlink:href", "data", "poster", "background"];

const SCHEME: &str = "asset:";

/// What surrounds an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    /// An attribute that holds one address.
    Address,
    /// The attribute `srcset`.
    SourceSet,
    /// A style sheet, or the attribute `style`.
    Css,
}

/// How a page uses the asset at an address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// As a picture or font, or, in CSS, as a style sheet, wherever its content comes from.
    Content,
    /// In a way in which its address may matter.
    Resource,
}

/// Returns whether a text may hold an address of an asset.
pub fn may_be_in(text: &str) -> bool {
    colons(text).next().is_some()
}

/// Returns HTML in which the addresses of assets are replaced by those that `address_of` returns for their names. An
/// address remains if there is none. Links (`<a href>`) are not resources, so they remain, too. Returns `None` if the HTML
/// names no asset or can't be rewritten.
pub(crate) fn replace_in_html(html: &str, address_of: &dyn Fn(&str, Use) -> Option<String>) -> Option<String> {
    if !may_be_in(html) {
        return None;
    }
    let settings = RewriteStrSettings::new()
        .append_element_content_handler(element!("*", |element| {
            let tag = element.tag_name();
            let is_link = matches!(tag.as_str(), "a" | "area");
            let is_picture = matches!(tag.as_str(), "img" | "image");
            for attribute in ADDRESS_ATTRIBUTES.into_iter().chain(["style"]) {
                let Some(value) = element.get_attribute(attribute) else {
                    continue;
                };
                let syntax = match attribute {
                    "style" => Syntax::Css,
                    "srcset" => Syntax::SourceSet,
                    "href" if is_link => continue,
                    _ => Syntax::Address,
                };
                let usage = match syntax {
                    Syntax::Css => Use::Content,
                    Syntax::Address if is_picture => Use::Content,
                    Syntax::Address | Syntax::SourceSet => Use::Resource,
                };
                if let Some(replaced) = replace(&value, syntax, &|name| address_of(name, usage)) {
                    element.set_attribute(attribute, &replaced)?;
                }
            }
            Ok(())
        }))
        .append_element_content_handler(text!("style", |rules| {
            if let Some(replaced) = replace(rules.as_str(), Syntax::Css, &|name| address_of(name, Use::Content)) {
                rules.replace(&replaced, ContentType::Html);
            }
            Ok(())
        }));
    rewrite_str(html, settings).ok()
}

/// Returns the names of the assets whose addresses HTML contains, in `<base href>` those of folders, which end with a slash.
/// Names are as they are written, so they may be invalid.
pub fn names_in_html(html: &str) -> BTreeSet<String> {
    let names = RefCell::new(BTreeSet::new());
    replace_in_html(html, &|name, _| {
        names.borrow_mut().insert(name.to_owned());
        None
    });
    names.into_inner()
}

/// Returns a style sheet, itself an asset, in which addresses of assets are those at which the proxy serves them.
/// Relative addresses need no change: they lead to assets in the same folder.
pub fn served_in_style_sheet(css: &str) -> String {
    replace(css, Syntax::Css, &|name| Some(format!("/{name}"))).unwrap_or_else(|| css.to_owned())
}

/// Returns an address as the author of a page writes it.
pub(crate) fn written(name: &str) -> String {
    format!("{SCHEME}{name}")
}

/// Returns the address at which the session's proxy serves an asset of this host.
pub(crate) fn served(host: &str, name: &str) -> String {
    format!("http://{host}/{name}")
}

/// Returns an address as the author of a page has written it.
pub(crate) fn as_written(address: String) -> String {
    let host_and_path = address.strip_prefix("http://").and_then(|rest| rest.split_once('/'));
    match host_and_path {
        Some((host, name)) if host.split_once('.').is_some_and(|(_, domain)| domain == ASSET_DOMAIN) => written(name),
        _ => address,
    }
}

/// Returns whether an address names an asset, as written.
pub(crate) fn is_of_asset(address: &str) -> bool {
    address.starts_with(SCHEME)
}

/// Returns `None` if nothing is replaced.
fn replace(text: &str, syntax: Syntax, address_of: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut replaced = String::new();
    let (mut seen, mut copied) = (0, 0);
    for colon in colons(text) {
        let (start, name_start) = (colon + 1 - SCHEME.len(), colon + 1);
        if start < seen || !begins_address(&text[..start], syntax) {
            continue;
        }
        let length = match syntax {
            Syntax::Address => text[name_start..].trim_ascii_end().len(),
            Syntax::SourceSet => length_before(&text[name_start..], |c| c.is_ascii_whitespace() || c == ','),
            Syntax::Css => match text[..start].chars().next_back() {
                Some(quote @ ('"' | '\'')) => length_before(&text[name_start..], |c| c == quote),
                _ => length_before(&text[name_start..], |c| c.is_ascii_whitespace() || c == ')'),
            },
        };
        let end = name_start + length;
        seen = end;
        if let Some(address) = address_of(&text[name_start..end]) {
            replaced.push_str(&text[copied..start]);
            replaced.push_str(&address);
            copied = end;
        }
    }
    if copied == 0 {
        return None;
    }
    replaced.push_str(&text[copied..]);
    Some(replaced)
}

/// Returns whether an address may begin after this text. In CSS, these are the function `url()` and the at-rule
/// `@import`; other strings are not addresses.
fn begins_address(before: &str, syntax: Syntax) -> bool {
    match syntax {
        Syntax::Address => before.trim_ascii().is_empty(),
        Syntax::SourceSet => before.is_empty() || before.ends_with(|c: char| c.is_ascii_whitespace() || c == ','),
        Syntax::Css => {
            let unquoted = before.strip_suffix(['"', '\'']);
            let before = unquoted.unwrap_or(before).trim_ascii_end().as_bytes();
            ends_with(before, b"url(") || (unquoted.is_some() && ends_with(before, b"@import"))
        }
    }
}

fn length_before(text: &str, is_end: impl Fn(char) -> bool) -> usize {
    text.find(is_end).unwrap_or(text.len())
}

/// Returns the offsets of the colons that end the scheme.
fn colons(text: &str) -> impl Iterator<Item = usize> {
    let scheme = &SCHEME.as_bytes()[..SCHEME.len() - 1];
    memchr_iter(b':', text.as_bytes()).filter(move |colon| ends_with(&text.as_bytes()[..*colon], scheme))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn replaced(html: &str) -> String {
        replace_in_html(html, &|name, _| (name != "missing").then(|| format!("/{name}"))).unwrap()
    }

    #[test]
    fn resources_are_replaced_wherever_html_names_them() {
        for (html, expected) in [
            ("<img src=asset:a.png>", "<img src=\"/a.png\">"),
            ("<img src=' Asset:a b.png '>", "<img src=\" /a b.png \">"),
            (
                "<img srcset='asset:a.png 1x,asset:b.png 2x'>",
                "<img srcset=\"/a.png 1x,/b.png 2x\">",
            ),
            (
                "<link rel=stylesheet href=asset:a.css>",
                "<link rel=stylesheet href=\"/a.css\">",
            ),
            (
                "<svg><image xlink:href='asset:a.svg'/></svg>",
                "<svg><image xlink:href=\"/a.svg\" /></svg>",
            ),
            (
                "<p style=\"background: url('asset:a b.png')\">",
                "<p style=\"background: url('/a b.png')\">",
            ),
            (
                "<style>@import \"asset:a.css\"; p { background: URL( asset:b.png ), url(asset:c.png) }</style>",
                "<style>@import \"/a.css\"; p { background: URL( /b.png ), url(/c.png) }</style>",
            ),
        ] {
            assert_eq!(replaced(html), expected);
        }
    }

    #[test]
    fn everything_else_stays() {
        for html in [
            "<p>asset:a.png, url(asset:a.png)</p>",
            "<a href=asset:a.pdf>x</a>",
            "<img src=asset:missing>",
            "<img alt=asset:a.png src=myasset:x>",
            "<img src=data:text/plain,asset:x>",
            "<style>p::before { content: 'asset:a.png' }</style>",
            "<script>const x = 'url(asset:a.png)'</script>",
        ] {
            assert_eq!(replaced(html), html);
        }
    }

    #[test]
    fn style_sheets_lead_to_assets_by_their_full_names() {
        let css = "@import url(asset:fonts/a.css); p { background: url(b.png) }";
        assert_eq!(
            served_in_style_sheet(css),
            "@import url(/fonts/a.css); p { background: url(b.png) }"
        );
    }

    #[test]
    fn long_style_sheets_take_linear_time() {
        let rules = "url(asset:".repeat(500_000);
        let start = Instant::now();
        assert_eq!(replace(&rules, Syntax::Css, &|_| None), None);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }

    #[test]
    fn addresses_are_reported_as_written() {
        assert_eq!(as_written(served("x.asset.invalid", "a/b.png")), "asset:a/b.png");
        assert_eq!(
            as_written("http://asset.invalid.example/x".to_owned()),
            "http://asset.invalid.example/x"
        );
        assert!(may_be_in("<img src=ASSET:x>") && !may_be_in("assets: x"));
    }
}
