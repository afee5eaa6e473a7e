//! Embeds the assets of a render as `data:` URLs (RFC 2397): in header and footer, for which Chromium loads nothing, and in
//! HTML those that are small, because each request of a page takes milliseconds.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use memchr::memmem;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use platen_egress::assets::Asset;

use crate::{
    assembly::blocking,
    asset_addresses::{self, Use},
    error::RenderError,
    header_footer,
    job::{Part, RenderJob},
    page_kind::is_script_free,
    render_log::NetworkRequest,
};

/// Maximum size of HTML, in bytes, in which assets are embedded. The requests of larger pages matter less.
const HTML_LIMIT: usize = 1 << 20;
/// Maximum size of all assets that are embedded in the parts of a render, in bytes, however often each is named.
const EMBEDDED_LIMIT: usize = 768 << 10;
/// Maximum number of names whose assets are embedded.
const MOST_NAMES: usize = 100;
/// Beginnings of selectors (Selectors 4, section 6) that may match by an address.
const SELECTORS: [&[u8]; 4] = [b"[src", b"[href", b"[xlink", b"[style"];
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
    let (mut job, running, uses) = blocking(move || {
        let running = job.print.header_footer.as_ref().map(header_footer::asset_names);
        let parts = job.parts.iter().filter_map(html);
        let uses = count_uses(parts.filter(|_| job.evaluate.is_none()));
        (job, running.unwrap_or_default(), uses)
    })
    .await?;
    let mut templates = HashMap::new();
    for name in running {
        if let Some(asset) = job.assets.find(&name).await {
            templates.insert(name, asset);
        }
    }
    let names = uses.keys().cloned().collect();
    let small = choose(job.assets.find_smallest(&names, EMBEDDED_LIMIT).await, &uses);
    blocking(move || {
        if let Some(wanted) = &mut job.print.header_footer {
            header_footer::embed_assets(wanted, &templates)
                .map_err(|problem| RenderError::Problem { part: 0, problem })?;
        }
        let mut embedded = Vec::new();
        for (index, part) in job.parts.iter_mut().enumerate() {
            let Part::Html(html) = part else { continue };
            let small = Some(&small).filter(|_| job.evaluate.is_none() && may_embed(html));
            embedded.extend(replace(index, html, job.assets.host(), small));
        }
        Ok((job, embedded))
    })
    .await?
}

/// Returns whether assets are embedded in HTML. They aren't where scripts, policies or selectors may depend on their addresses.
fn may_embed(html: &str) -> bool {
    html.len() <= HTML_LIMIT
        && is_script_free(html)
        && !SELECTORS
            .iter()
            .any(|selector| memmem::find(html.as_bytes(), selector).is_some())
}

/// Returns how often parts name assets where their content can be embedded: the first [`MOST_NAMES`] in the order of names.
fn count_uses<'a>(parts: impl Iterator<Item = &'a String>) -> BTreeMap<String, usize> {
    let uses = RefCell::new(BTreeMap::new());
    for html in parts.filter(|html| may_embed(html)) {
        asset_addresses::replace_in_html(html, &|name, usage| {
            if usage == Use::Content {
                *uses.borrow_mut().entry(name.to_owned()).or_default() += 1;
            }
            None
        });
    }
    uses.into_inner().into_iter().take(MOST_NAMES).collect()
}

/// Returns those of the assets that are embedded wherever they are used: the smallest, as far as the limit allows.
fn choose(found: BTreeMap<String, Asset>, uses: &BTreeMap<String, usize>) -> BTreeMap<String, Asset> {
    let size = |(name, asset): &(String, Asset)| asset.bytes.len() * uses.get(name).copied().unwrap_or_default();
    let mut found: Vec<_> = found
        .into_iter()
        .filter(|(_, asset)| is_embeddable(asset.content_type))
        .collect();
    found.sort_by_key(size);
    let mut left = EMBEDDED_LIMIT;
    let fitting = found.into_iter().map_while(|asset| {
        left = left.checked_sub(size(&asset))?;
        Some(asset)
    });
    fitting.collect()
}

/// Replaces the addresses of assets in a part: of those that are embedded by their content, and of others by those at `host`.
/// Returns the embedded ones.
fn replace(part: usize, html: &mut String, host: &str, small: Option<&BTreeMap<String, Asset>>) -> Vec<NetworkRequest> {
    let embedded = RefCell::new(BTreeMap::new());
    let replaced = asset_addresses::replace_in_html(html, &|name, usage| {
        let asset = small
            .filter(|_| usage == Use::Content)
            .and_then(|small| small.get_key_value(name));
        Some(match asset {
            Some((name, asset)) => {
                embedded.borrow_mut().insert(name, asset);
                data_url(name, asset)
            }
            None => asset_addresses::served(host, name),
        })
    });
    if let Some(replaced) = replaced {
        *html = replaced;
    }
    let embedded = embedded.into_inner().into_iter();
    embedded
        .map(|(name, asset)| embedded_request(part, name, asset))
        .collect()
}

fn html(part: &Part) -> Option<&String> {
    match part {
        Part::Html(html) => Some(html),
        Part::Url(_) => None,
    }
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

    fn assets(files: &[(&str, &'static str, usize)]) -> BTreeMap<String, Asset> {
        let asset = |&(name, content_type, size): &(&str, _, _)| {
            let bytes = vec![0; size].into();
            (name.to_owned(), Asset { content_type, bytes })
        };
        files.iter().map(asset).collect()
    }

    fn embedded(small: &BTreeMap<String, Asset>, html: &str) -> (String, Vec<(String, Option<u64>)>) {
        let mut html = html.to_owned();
        let requests = replace(0, &mut html, "host", Some(small)).into_iter();
        let requests = requests.map(|request| (request.url, request.bytes)).collect();
        (html, requests)
    }

    #[test]
    fn pictures_and_fonts_are_embedded_where_their_address_does_not_matter() {
        let small = assets(&[
            ("a b.svg", "image/svg+xml; charset=utf-8", 1),
            ("c.woff2", "font/woff2", 2),
        ]);
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
            assert_eq!(embedded(&small, html).0, expected);
        }
        let twice = "<img src='asset:a b.svg'><img src='asset:a b.svg'>";
        assert_eq!(embedded(&small, twice).1, [("asset:a b.svg".to_owned(), Some(1))]);
    }

    #[test]
    fn an_asset_is_embedded_everywhere_or_nowhere() {
        let found = assets(&[
            ("often.png", "image/png", 1_000),
            ("once.png", "image/png", 100_000),
            ("sheet.css", "text/css", 1),
        ]);
        let uses = |often| BTreeMap::from([("often.png", often), ("once.png", 1), ("sheet.css", 1)]);
        let chosen = |often| -> Vec<_> {
            let uses = uses(often)
                .into_iter()
                .map(|(name, count)| (name.to_owned(), count))
                .collect();
            choose(found.clone(), &uses).into_keys().collect()
        };
        assert_eq!(chosen(10), ["often.png", "once.png"]);
        assert_eq!(chosen(1_000), ["once.png"]);
    }

    #[test]
    fn nothing_is_embedded_where_an_address_may_matter() {
        let uses = |html: &str| count_uses([html.to_owned()].iter());
        let page = "<img src=asset:a.png>";
        assert_eq!(uses(page), BTreeMap::from([("a.png".to_owned(), 1)]));
        for more in [
            "<script>1</script>",
            "<meta http-equiv=Content-Security-Policy content='img-src *'>",
            "<style>img[src$='.png'] { width: 1px }</style>",
            &" ".repeat(HTML_LIMIT),
        ] {
            assert!(
                uses(&format!("{page}{more}")).is_empty(),
                "{}",
                &more[..more.len().min(80)]
            );
        }
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
