//! Embeds the assets of a render as `data:` URLs (RFC 2397): in header and footer, for which Chromium loads nothing, and in
//! HTML those that are small, because each request of a page takes milliseconds.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use platen_egress::assets::Asset;

use crate::{
    assembly::blocking,
    asset_addresses::{self, Use},
    error::RenderError,
    header_footer,
    job::{Part, RenderJob},
    render_log::NetworkRequest,
};

/// Maximum size of HTML, in bytes, in which assets are embedded. The requests of larger pages matter less.
const HTML_LIMIT: usize = 1 << 20;
/// Maximum size of all assets that are embedded in the parts of a render, in bytes, however often each is named.
const EMBEDDED_LIMIT: usize = 768 << 10;
/// Maximum size of HTML, in bytes, that is scanned for assets before the render, which takes at most a millisecond.
const SCANNED_AT_ONCE: usize = 128 << 10;
/// Extensions of names of pictures and fonts. No style sheet has such a name.
const EXTENSIONS: [&str; 11] = [
    "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "woff2", "woff", "ttf", "otf",
];
/// Parameter of the media type that holds the name of the asset, for warnings. Browsers ignore it.
const NAME_PARAMETER: &str = ";asset=";

/// Replaces the addresses of assets: in header and footer by their content; in HTML by the content of small pictures and fonts,
/// and of all others by those at which the session's proxy serves them. Returns the embedded assets of the parts as the
/// requests that the page would have made.
pub(crate) async fn resolve(job: RenderJob) -> Result<(RenderJob, Vec<NetworkRequest>), RenderError> {
    let parts = job.parts.iter().filter_map(html);
    let templates = job
        .print
        .header_footer
        .iter()
        .flat_map(|wanted| [&wanted.header, &wanted.footer]);
    if !parts.chain(templates).any(|html| asset_addresses::may_be_in(html)) {
        return Ok((job, Vec::new()));
    }
    let (mut job, running, named) = blocking(move || {
        let running = job.print.header_footer.as_ref().map(header_footer::asset_names);
        let named = job
            .parts
            .iter()
            .filter_map(html)
            .flat_map(|html| embeddable_names(html));
        let named: BTreeSet<_> = named.collect();
        (job, running.unwrap_or_default(), named)
    })
    .await?;
    let mut templates = HashMap::new();
    for name in running {
        if let Some(asset) = job.assets.find(&name).await {
            templates.insert(name, asset);
        }
    }
    let mut small = job.assets.find_smallest(&named, EMBEDDED_LIMIT).await;
    small.retain(|_, asset| is_embeddable(asset.content_type));
    blocking(move || {
        if let Some(wanted) = &mut job.print.header_footer {
            header_footer::embed_assets(wanted, &templates)
                .map_err(|problem| RenderError::Problem { part: 0, problem })?;
        }
        let embedding = Embedding {
            host: job.assets.host(),
            small,
            left: Cell::new(EMBEDDED_LIMIT),
        };
        let mut embedded = Vec::new();
        for (index, part) in job.parts.iter_mut().enumerate() {
            let Part::Html(html) = part else { continue };
            embedded.extend(embedding.apply(index, html));
        }
        Ok((job, embedded))
    })
    .await?
}

/// The assets that are embedded in the parts of a render.
struct Embedding<'a> {
    host: &'a str,
    small: BTreeMap<String, Asset>,
    /// Bytes that may still be embedded.
    left: Cell<usize>,
}

impl Embedding<'_> {
    /// Replaces the addresses in a part, and returns the assets that are embedded in it.
    fn apply(&self, part: usize, html: &mut String) -> Vec<NetworkRequest> {
        let is_small = html.len() <= HTML_LIMIT;
        let embedded = RefCell::new(BTreeSet::new());
        let replaced = asset_addresses::replace_in_html(html, &|name, usage| {
            let asset = self.small.get_key_value(name);
            let asset = asset.filter(|_| is_small && usage == Use::Content);
            if let Some((name, asset)) = asset
                && let Some(left) = self.left.get().checked_sub(asset.bytes.len())
            {
                self.left.set(left);
                embedded.borrow_mut().insert(name);
                return Some(data_url(name, asset));
            }
            Some(asset_addresses::served(self.host, name))
        });
        if let Some(replaced) = replaced {
            *html = replaced;
        }
        let embedded = embedded.into_inner().into_iter();
        embedded
            .map(|name| embedded_request(part, name, &self.small[name]))
            .collect()
    }
}

fn html(part: &Part) -> Option<&String> {
    match part {
        Part::Html(html) => Some(html),
        Part::Url(_) => None,
    }
}

/// Returns the names of the assets that HTML names where content can be embedded; none of large HTML.
fn embeddable_names(html: &str) -> BTreeSet<String> {
    let names = RefCell::new(BTreeSet::new());
    if html.len() <= HTML_LIMIT {
        asset_addresses::replace_in_html(html, &|name, usage| {
            if usage == Use::Content {
                names.borrow_mut().insert(name.to_owned());
            }
            None
        });
    }
    names.into_inner()
}

/// Returns whether all assets that HTML names are pictures and fonts that could be embedded. `false` if in doubt.
pub(crate) fn names_only_pictures_and_fonts(html: &str) -> bool {
    if !asset_addresses::may_be_in(html) {
        return true;
    }
    let is_certain = Cell::new(html.len() <= SCANNED_AT_ONCE);
    if is_certain.get() {
        asset_addresses::replace_in_html(html, &|name, usage| {
            let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
            let has_type = EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known));
            let is_whole = !name.contains(['?', '#']);
            is_certain.set(is_certain.get() && usage == Use::Content && has_type && is_whole);
            None
        });
    }
    is_certain.get()
}

/// Returns whether an asset refers to no other by its address, and doesn't depend on its own.
fn is_embeddable(content_type: &str) -> bool {
    content_type.starts_with("image/") || content_type.starts_with("font/")
}

/// Returns an address that holds the content of an asset, and its name. It needs no quotation marks in CSS.
pub(crate) fn data_url(name: &str, Asset { content_type, bytes }: &Asset) -> String {
    let media_type = content_type.split(';').next().unwrap_or_default();
    let name = utf8_percent_encode(name, NON_ALPHANUMERIC);
    let content = BASE64_STANDARD.encode(bytes);
    format!("data:{media_type}{NAME_PARAMETER}{name};base64,{content}")
}

/// Returns the name of the asset whose content such an address holds.
pub(crate) fn name_in_data_url(url: &str) -> Option<String> {
    let (media_type, _) = url.strip_prefix("data:")?.split_once(',')?;
    let (_, name) = media_type.strip_suffix(";base64")?.split_once(NAME_PARAMETER)?;
    Some(percent_decode_str(name).decode_utf8_lossy().into_owned())
}

/// Returns the record of the request that a page would have made for an asset that is embedded in it.
fn embedded_request(part: usize, name: &str, Asset { content_type, bytes }: &Asset) -> NetworkRequest {
    let kind = if content_type.starts_with("font/") {
        "font"
    } else {
        "image"
    };
    NetworkRequest {
        kind: Some(kind.to_owned()),
        status: Some(200),
        bytes: Some(bytes.len() as u64),
        took: Some(Duration::ZERO),
        ..NetworkRequest::new(part, asset_addresses::written(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedding(files: &[(&str, &'static str, usize)], left: usize) -> Embedding<'static> {
        let asset = |&(name, content_type, size): &(&str, _, _)| {
            let bytes = vec![0; size].into();
            (name.to_owned(), Asset { content_type, bytes })
        };
        Embedding {
            host: "host",
            small: files.iter().map(asset).collect(),
            left: Cell::new(left),
        }
    }

    fn embedded(embedding: &Embedding, html: &str) -> (String, Vec<(String, Option<u64>)>) {
        let mut html = html.to_owned();
        let requests = embedding.apply(0, &mut html).into_iter();
        let requests = requests.map(|request| (request.url, request.bytes)).collect();
        (html, requests)
    }

    #[test]
    fn pictures_and_fonts_are_embedded_where_their_address_does_not_matter() {
        let files = [
            ("a b.svg", "image/svg+xml; charset=utf-8", 1),
            ("c.woff2", "font/woff2", 2),
        ];
        let embedding = embedding(&files, 1_000);
        let picture = "data:image/svg+xml;asset=a%20b%2Esvg;base64,AA==";
        for (html, expected) in [
            ("<img src='asset:a b.svg'>", format!("<img src=\"{picture}\">")),
            (
                "<svg><image href='asset:a b.svg'/></svg>",
                format!("<svg><image href=\"{picture}\" /></svg>"),
            ),
            (
                "<style>p { src: url(asset:c.woff2) }</style>",
                "<style>p { src: url(data:font/woff2;asset=c%2Ewoff2;base64,AAA=) }</style>".to_owned(),
            ),
            (
                "<link rel=icon href='asset:a b.svg'><img srcset='asset:c.woff2 2x'><img src=asset:none.png>",
                "<link rel=icon href=\"http://host/a b.svg\"><img srcset=\"http://host/c.woff2 2x\">\
                 <img src=\"http://host/none.png\">"
                    .to_owned(),
            ),
        ] {
            assert_eq!(embedded(&embedding, html).0, expected);
        }
        let twice = "<img src='asset:a b.svg'><img src='asset:a b.svg'>";
        assert_eq!(embedded(&embedding, twice).1, [("asset:a b.svg".to_owned(), Some(1))]);
    }

    #[test]
    fn repetitions_are_bounded() {
        let embedding = embedding(&[("a.png", "image/png", 400)], 1_000);
        let (html, requests) = embedded(&embedding, &"<img src=asset:a.png>".repeat(10_000));
        assert_eq!(html.matches("data:image/png").count(), 2);
        assert_eq!(html.matches("http://host/a.png").count(), 9_998);
        assert_eq!(requests.len(), 1);
    }

    #[test]
    fn large_html_keeps_addresses() {
        let html = format!("<img src=asset:a.png>{}", " ".repeat(HTML_LIMIT));
        assert!(embeddable_names(&html).is_empty());
        let (html, requests) = embedded(&embedding(&[("a.png", "image/png", 1)], 1_000), &html);
        assert!(html.starts_with("<img src=\"http://host/a.png\">") && requests.is_empty());
    }

    #[test]
    fn embedded_content_is_reported_by_its_name() {
        let asset = Asset {
            content_type: "image/png",
            bytes: vec![1; 100].into(),
        };
        let url = data_url("größe/a, b.png", &asset);
        assert_eq!(name_in_data_url(&url).as_deref(), Some("größe/a, b.png"));
        assert_eq!(name_in_data_url("data:image/png;base64,AAAA"), None);
    }

    #[test]
    fn style_sheets_may_refer_to_anything() {
        for html in [
            "<p>x",
            "<img src=asset:a.PNG><style>@font-face { src: url('asset:fonts/a.woff2') }</style>",
        ] {
            assert!(names_only_pictures_and_fonts(html), "{html}");
        }
        for html in [
            "<link rel=stylesheet href=asset:a.css>",
            "<style>@import url(asset:a.css)</style>",
            "<style>@import 'asset:a.css?.png'</style>",
            "<base href=asset:brand/>",
            "<link rel=stylesheet href=asset:a.png>",
        ] {
            assert!(!names_only_pictures_and_fonts(html), "{html}");
        }
    }
}
