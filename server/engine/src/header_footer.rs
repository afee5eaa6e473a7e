//! Fills the templates of running headers and footers.
//!
//! Chromium would print `about:blank` as the URL of an HTML part and its own clock as the date, so `title`, `url` and
//! `date` are written into the template here. Chromium fills `pageNumber` and `totalPages` if it counts the pages.

mod assets;
mod repeatable;

use std::{
    cell::Cell,
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Instant,
};

use lol_html::{
    HtmlRewriter, RewriteStrSettings, doc_text, element,
    errors::AttributeNameError,
    html_content::{ContentType, Element, TextType},
    rewrite_str, text,
};
use platen_egress::assets::Asset;
use platen_pdf::PageFacts;
use time::{OffsetDateTime, macros::format_description};

use crate::{
    asset_addresses::{self, ADDRESS_ATTRIBUTES},
    asset_embedding::data_url,
    error::RenderProblem,
    job::{HeaderFooter, Part, RunningTemplate, Warning},
    steps::print::Templates,
};

/// Selector of elements that Chromium hides beside the margins.
const BESIDE_MARGINS: &str = ".text";
/// Elements whose text is drawn unless style sheets or attributes hide it.
const DRAWN: [&str; 50] = [
    "a", "abbr", "address", "article", "aside", "b", "bdi", "bdo", "br", "center", "cite", "code", "div", "dl", "dt",
    "dd", "em", "font", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i", "img", "li", "main", "nav",
    "ol", "p", "pre", "section", "small", "span", "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "u", "ul",
];
/// Elements without text.
const WITHOUT_TEXT: [&str; 9] = [
    "style", "svg", "g", "path", "circle", "ellipse", "line", "polygon", "rect",
];
/// Constructs that may hide text or move it off the page, in lower case and without white space; also zeros of these properties do.
const HIDING: [&str; 29] = [
    "display:none",
    ":-",
    "\\",
    "::",
    ":before",
    ":after",
    "image/svg",
    "hidden",
    "popover",
    "collapse",
    "transparent",
    "rgb",
    "hsl",
    "hwb",
    "lab(",
    "lch(",
    "color(",
    "color-mix",
    "filter",
    "clip",
    "mask",
    "scale",
    "translate",
    "position",
    "indent",
    "transform",
    "zoom",
    "font:0",
    "/*",
];
const HIDING_IF_ZERO: [&str; 4] = ["opacity:", "font-size:", "height:", "width:"];
/// Maximum size of a template in a request, in bytes: enough for an image as a `data:` URL.
const TEMPLATE_LIMIT: usize = 1 << 20;
/// Maximum size of a filled template, in bytes.
const FILLED_LIMIT: usize = 2 << 20;
/// Maximum size of the filled templates of all parts, in bytes, which are in memory at the same time.
const ALL_PARTS_LIMIT: usize = 8 << 20;
/// Maximum size of the templates of all pages, in bytes, filled one after the other: 6 KB for each of 10,000 pages.
const ALL_PAGES_LIMIT: usize = 64 << 20;
/// Maximum length of a title and of a URL, in characters: more than fits in a margin.
const TITLE_LENGTH: usize = 500;
const URL_LENGTH: usize = 2_000;

/// Font size of templates that set none; Chromium's default is unreadable.
const DEFAULT_FONT_SIZE_PX: u32 = 10;

/// A template that draws nothing. Chromium replaces an empty template by its default.
pub(crate) const NOTHING: &str = "<span></span>";

/// The classes that are always filled here.
const FILLED_CLASSES: [&str; 3] = ["title", "url", "date"];

/// Returns the name that replaces a class once its element is filled, also in rules of the template's `<style>`.
fn filled_class(class: &str) -> String {
    format!("platen-{class}")
}

/// Values of the classes.
pub(crate) struct Fields {
    /// Class `title`.
    title: String,
    /// Class `url`; empty for HTML.
    url: String,
    /// Class `date`, in UTC.
    date: OffsetDateTime,
    /// Classes `pageNumber` and `totalPages`; `None` leaves them to Chromium.
    numbers: Option<[String; 2]>,
}

/// Why templates could not be filled.
#[derive(Debug, PartialEq)]
pub(crate) enum FillError {
    /// A template is too large once filled.
    Problem(RenderProblem),
    /// The render's deadline passed.
    Late,
}

/// Templates ready for `Page.printToPDF`.
#[derive(Debug)]
pub(crate) struct Filled {
    /// Templates by part. Consecutive parts share equal templates.
    pub(crate) templates: Vec<Arc<Templates>>,
    pub(crate) warnings: Vec<Warning>,
}

impl Fields {
    /// Returns the values for the pages of a part. `date` must be in UTC.
    pub(crate) fn of(part: &Part, facts: &PageFacts, date: OffsetDateTime, numbers: Option<[String; 2]>) -> Self {
        Self {
            title: cut(facts.title.as_deref().unwrap_or_default(), TITLE_LENGTH),
            url: match part {
                Part::Html(_) => String::new(),
                Part::Url(url) => cut(url.as_str(), URL_LENGTH),
            },
            date,
            numbers,
        }
    }
}

fn cut(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

/// Returns whether header and footer look the same in a box of a larger page.
pub(crate) fn are_repeatable(wanted: &HeaderFooter) -> bool {
    [&wanted.header, &wanted.footer]
        .into_iter()
        .all(|template| repeatable::is_repeatable(template))
}

/// What is known of the text of header and footer before they are printed, from certain to uncertain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RunningText {
    /// They draw all of their text, and no other.
    Drawn,
    /// They may hide text.
    MayBeHidden,
    /// Chromium hides some of it unless it is within the margins.
    DependsOnMargins,
}

/// Returns what the source of header and footer shows of their text. CPU-bound.
pub(crate) fn running_text(wanted: &HeaderFooter) -> RunningText {
    running_text_of(&wanted.header).max(running_text_of(&wanted.footer))
}

fn running_text_of(template: &str) -> RunningText {
    let source: String = template.split_ascii_whitespace().collect();
    let shown = Cell::new(if may_hide(&without_data(&source.to_ascii_lowercase())) {
        RunningText::MayBeHidden
    } else {
        RunningText::Drawn
    });
    let settings = RewriteStrSettings::new()
        .append_element_content_handler(element!("*", |element| {
            let name = element.tag_name();
            let is_known = DRAWN.contains(&name.as_str()) || WITHOUT_TEXT.contains(&name.as_str());
            // A character reference may be part of a property.
            if !is_known || element.get_attribute("style").is_some_and(|style| style.contains('&')) {
                shown.set(shown.get().max(RunningText::MayBeHidden));
            }
            Ok(())
        }))
        .append_element_content_handler(element!(BESIDE_MARGINS, |_| {
            shown.set(RunningText::DependsOnMargins);
            Ok(())
        }));
    match rewrite_str(template, settings) {
        Ok(_) => shown.get(),
        Err(_) => RunningText::DependsOnMargins,
    }
}

/// Returns whether filled templates have text. Unless they are printed apart, it is drawn.
pub(crate) fn have_text(templates: &Templates) -> bool {
    [&templates.header, &templates.footer]
        .into_iter()
        .any(|template| has_text(template))
}

fn has_text(template: &str) -> bool {
    let is_found = Cell::new(false);
    let settings = RewriteStrSettings::new()
        .append_element_content_handler(element!(".pageNumber, .totalPages", |_| {
            is_found.set(true);
            Ok(())
        }))
        .append_document_content_handler(doc_text!(|text| {
            if text.text_type() == TextType::Data && !text.as_str().trim().is_empty() {
                is_found.set(true);
            }
            Ok(())
        }));
    rewrite_str(template, settings).is_ok() && is_found.get()
}

/// Returns a source without the content of `data:` URLs, in which any short text occurs by chance.
fn without_data(source: &str) -> String {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let mut pieces = source.split(";base64,");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |rest, piece| rest + piece.trim_start_matches(is_base64))
}

/// Returns whether a template, in lower case and without white space, may hide text.
fn may_hide(template: &str) -> bool {
    let template = &template.replace("text-transform", "");
    let is_zero = |after: &str| {
        let number = after.split(|c: char| !c.is_ascii_digit() && c != '.').next();
        number.and_then(|number| number.parse().ok()) == Some(0.0)
    };
    let is_zero_anywhere = |property: &str| {
        let mut found = template.match_indices(property);
        found.any(|(at, _)| is_zero(&template[at + property.len()..]))
    };
    // A colour with four or eight digits may be transparent.
    let has_opacity = |(at, _): (usize, &str)| {
        let digits = template[at + 1..].bytes().take_while(u8::is_ascii_hexdigit).count();
        matches!(digits, 4 | 8) && !template[..at].ends_with('&')
    };
    HIDING.iter().any(|construct| template.contains(construct))
        || HIDING_IF_ZERO.into_iter().any(is_zero_anywhere)
        || template.match_indices('#').any(has_opacity)
}

/// Fails if a template exceeds [`TEMPLATE_LIMIT`].
pub(crate) fn check(wanted: &HeaderFooter) -> Result<(), RenderProblem> {
    for (template, text) in [
        (RunningTemplate::Header, &wanted.header),
        (RunningTemplate::Footer, &wanted.footer),
    ] {
        check_size(template, "the template has", text.len(), TEMPLATE_LIMIT)?;
    }
    Ok(())
}

/// Returns the names of the assets that the templates name. [`check`] has accepted them.
pub(crate) fn asset_names(wanted: &HeaderFooter) -> BTreeSet<String> {
    let templates = [&wanted.header, &wanted.footer];
    templates
        .into_iter()
        .flat_map(|template| asset_addresses::names_in_html(template))
        .collect()
}

/// Embeds the assets that the templates name as `data:` URLs, because Chromium loads nothing for headers and footers.
/// Fails if a template exceeds [`TEMPLATE_LIMIT`] with them.
pub(crate) fn embed_assets(wanted: &mut HeaderFooter, assets: &HashMap<String, Asset>) -> Result<(), RenderProblem> {
    for (which, template) in [
        (RunningTemplate::Header, &mut wanted.header),
        (RunningTemplate::Footer, &mut wanted.footer),
    ] {
        let size = Cell::new(template.len());
        let embedded = asset_addresses::replace_in_html(template, &|name, _| {
            let asset = assets.get(name)?;
            size.set(size.get() + asset.bytes.len().div_ceil(3) * 4);
            // What exceeds the limit is refused below.
            (size.get() <= TEMPLATE_LIMIT).then(|| data_url(name, asset))
        });
        check_size(which, "with its assets, the template has", size.get(), TEMPLATE_LIMIT)?;
        if let Some(embedded) = embedded {
            *template = embedded;
        }
    }
    Ok(())
}

/// Fails if the templates for all pages together exceed [`ALL_PAGES_LIMIT`]. `pages` is the number of selected pages of
/// each part.
pub(crate) fn check_pages(templates: &[Arc<Templates>], pages: &[usize]) -> Result<(), RenderProblem> {
    let sum = |text: fn(&Templates) -> &str| {
        let lengths = templates.iter().zip(pages);
        lengths.map(|(templates, pages)| text(templates).len() * pages).sum()
    };
    let what = "filled for all pages, it has";
    let (headers, footers) = (sum(|templates| &templates.header), sum(|templates| &templates.footer));
    check_size(RunningTemplate::Header, what, headers, ALL_PAGES_LIMIT)?;
    check_size(RunningTemplate::Footer, what, footers, ALL_PAGES_LIMIT)
}

fn check_size(template: RunningTemplate, what: &'static str, size: usize, limit: usize) -> Result<(), RenderProblem> {
    if size > limit {
        return Err(RenderProblem::HeaderFooterTooLarge {
            template,
            what,
            size,
            limit,
        });
    }
    Ok(())
}

/// Fills header and footer for each part. CPU-bound; fails with [`FillError::Late`] soon after `ends_at`.
pub(crate) fn fill_all(wanted: &HeaderFooter, parts: &[Fields], ends_at: Instant) -> Result<Filled, FillError> {
    let mut templates: Vec<Arc<Templates>> = Vec::with_capacity(parts.len());
    let mut warnings = Vec::new();
    let mut held = [0; 2];
    for fields in parts {
        let (header, header_warning) = fill(RunningTemplate::Header, &wanted.header, fields, ends_at)?;
        let (footer, footer_warning) = fill(RunningTemplate::Footer, &wanted.footer, fields, ends_at)?;
        // Warnings are the same for every part.
        if templates.is_empty() {
            warnings.extend(header_warning.into_iter().chain(footer_warning));
        }
        let filled = Arc::new(Templates { header, footer });
        if let Some(equal) = templates.last().filter(|last| **last == filled) {
            templates.push(Arc::clone(equal));
            continue;
        }
        held[0] += filled.header.len();
        held[1] += filled.footer.len();
        for (which, held) in [RunningTemplate::Header, RunningTemplate::Footer].into_iter().zip(held) {
            check_size(which, "filled for all parts, it has", held, ALL_PARTS_LIMIT).map_err(FillError::Problem)?;
        }
        templates.push(filled);
    }
    Ok(Filled { templates, warnings })
}

/// Fills one template for `Page.printToPDF`.
fn fill(
    which: RunningTemplate,
    template: &str,
    fields: &Fields,
    ends_at: Instant,
) -> Result<(String, Option<Warning>), FillError> {
    if template.trim().is_empty() {
        return Ok((NOTHING.to_owned(), None));
    }
    let filled = Cell::new(0);
    let is_late = Cell::new(false);
    let date = fields
        .date
        .format(&format_description!("[year]-[month]-[day] [hour]:[minute] UTC"));
    let date = date.unwrap_or_default();
    let remote = Cell::new(assets::are_named_in(template));
    let refuse = |element: &mut Element<'_, '_>| {
        if remove_assets(element) {
            remote.set(true);
        }
        Ok(())
    };
    let fill_with = |class: &'static str, text: &str| {
        let text = text.to_owned();
        move |element: &mut Element<'_, '_>| Ok(fill_element(element, class, &text)?)
    };
    // Called for every element, and only elements are filled.
    let watch = |_: &mut Element<'_, '_>| {
        is_late.set(Instant::now() >= ends_at);
        if is_late.get() || filled.get() > FILLED_LIMIT {
            return Err("enough".into());
        }
        Ok(())
    };
    let mut settings = RewriteStrSettings::new()
        .append_element_content_handler(element!("*", watch))
        .append_element_content_handler(element!("script", |script| {
            script.remove();
            Ok(())
        }))
        .append_element_content_handler(element!("iframe, frame, object, embed, base, meta", |element| {
            element.remove();
            remote.set(true);
            Ok(())
        }))
        .append_element_content_handler(element!("*", refuse))
        .append_element_content_handler(element!(".title", fill_with("title", &fields.title)))
        .append_element_content_handler(element!(".url", fill_with("url", &fields.url)))
        .append_element_content_handler(element!(".date", fill_with("date", &date)))
        .append_element_content_handler(text!("style", |rules| {
            let renamed = FILLED_CLASSES
                .iter()
                .fold(assets::without(rules.as_str()), |rules, class| {
                    rules.replace(&format!(".{class}"), &format!(".{}", filled_class(class)))
                });
            rules.replace(&renamed, ContentType::Html);
            Ok(())
        }));
    if let Some([number, total]) = &fields.numbers {
        settings = settings
            .append_element_content_handler(element!(".pageNumber", fill_with("pageNumber", number)))
            .append_element_content_handler(element!(".totalPages", fill_with("totalPages", total)));
    }
    let mut html =
        format!("<div style=\"font-size:{DEFAULT_FONT_SIZE_PX}px;width:100%;-webkit-print-color-adjust:exact\">")
            .into_bytes();
    let mut rewriter = HtmlRewriter::new(settings.into(), |piece: &[u8]| {
        filled.set(filled.get() + piece.len());
        html.extend_from_slice(piece);
    });
    let written = rewriter.write(template.as_bytes()).and_then(|()| rewriter.end());
    if is_late.get() {
        return Err(FillError::Late);
    }
    check_size(
        which,
        "filled with title and address, it has",
        filled.get(),
        FILLED_LIMIT,
    )
    .map_err(FillError::Problem)?;
    // A template that can't be rewritten is omitted.
    if written.is_err() {
        return Ok((NOTHING.to_owned(), None));
    }
    html.extend_from_slice(b"</div>");
    let warning = remote.get().then(|| Warning {
        code: "header_footer_asset_refused",
        message: format!(
            "{which} refers to an asset by address, which is not loaded; name an asset by asset:NAME, or embed it as a \
             data: URL"
        ),
    });
    Ok((String::from_utf8(html).unwrap_or_default(), warning))
}

/// Removes attributes of an element that refer to assets by address. Returns `true` if there were any.
fn remove_assets(element: &mut Element<'_, '_>) -> bool {
    let mut removed = false;
    for attribute in ADDRESS_ATTRIBUTES {
        let Some(value) = element.get_attribute(attribute) else {
            continue;
        };
        let is_link = attribute == "href" && element.tag_name() == "a";
        if !is_link && !assets::is_within(&value) {
            element.remove_attribute(attribute);
            removed = true;
        }
    }
    removed
}

/// Sets the text of an element and renames its class, because Chromium would otherwise fill it again with its own
/// values.
fn fill_element(element: &mut Element<'_, '_>, class: &str, text: &str) -> Result<(), AttributeNameError> {
    element.set_inner_content(text, ContentType::Text);
    let classes = element.get_attribute("class").unwrap_or_default();
    let renamed = classes.split_ascii_whitespace().map(|other| {
        if other == class {
            filled_class(class)
        } else {
            other.to_owned()
        }
    });
    element.set_attribute("class", &renamed.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests;
