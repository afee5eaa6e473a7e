//! Render requests: turns a body into a request with valid values.

pub mod assets;
pub mod batch;
mod pages;
pub mod preview;
mod record;
pub(crate) mod rules;
pub mod stored;
mod wire;

use std::time::Duration;

use bytes::Bytes;
use platen_domain::{
    allowed::NotAllowed,
    callback::CallbackTarget,
    caller::Caller,
    destination::Destination,
    ids::{RenderId, TemplateId},
    render::accessibility::ConformanceLevel,
    template::channels::ChannelName,
    validation::{
        Problem, Problems,
        json::{self, Body, Data, Layout},
        quote,
        schema::RequestBody,
    },
};
use platen_engine::job::{Cookie, HeaderFooter, Lane, MediaType, Part, PrintSettings, RenderJob, WaitFor};
use platen_pdf::{OutputFormat, PageSelection, Watermark};
use serde_json::{Value, value::RawValue};

use crate::render_request::{assets::RequestAssets, wire::WireRequest};

/// Maximum number of parts of a document, as in the schema.
const MOST_PARTS: usize = 50;
/// Size of HTML in bytes that Chromium loads within some tens of milliseconds.
const SMALL: usize = 512 << 10;
/// Limits for bodies of render requests.
const LAYOUT: Layout = Layout {
    data: &["parts", "*", "content", "context"],
    data_values: json::MOST_DATA_VALUES,
    list: Some(("parts", MOST_PARTS)),
};

/// The encoding of the PDF in the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputEncoding {
    /// The file itself.
    Binary,
    /// Base64 in a JSON object.
    Base64,
}

/// The request of a synchronous render.
#[derive(Debug, Clone)]
pub struct SynchronousRequest {
    pub render: RenderRequest,
    pub encoding: OutputEncoding,
    /// The body as it was sent.
    pub body: Bytes,
}

/// The request of an asynchronous render.
#[derive(Debug, Clone)]
pub struct AsynchronousRequest {
    pub render: RenderRequest,
    /// The webhook to send when the render has ended.
    pub callback: Option<CallbackTarget>,
    /// The document's destination; `None` for the default storage.
    pub destination: Option<Destination>,
}

/// A valid render request. Lengths are in inches, orientation is applied, and defaults are filled in.
#[derive(Debug, Clone)]
pub struct RenderRequest {
    /// In the order in which they are printed; at least one.
    pub parts: Vec<PartSource>,
    /// Page setup, margins, headers and footers.
    pub print: PrintSettings,
    /// The media type that style sheets apply.
    pub media: MediaType,
    /// Set before the part is loaded.
    pub cookie: Option<Cookie>,
    /// JavaScript to evaluate in the loaded page.
    pub evaluate: Option<String>,
    /// Awaited before the page is printed.
    pub wait_for: Option<WaitFor>,
    /// The pages to retain; `None` for all.
    pub selection: Option<PageSelection>,
    pub format: OutputFormat,
    /// Language of pages without a valid one, a tag in the form of BCP 47.
    pub language: Option<String>,
    /// Assets that the request brings along.
    pub assets: RequestAssets,
    /// The levels that the document must declare; empty for no demand.
    pub conformance: Vec<ConformanceLevel>,
    /// Whether a header or footer is given, even if it is not drawn.
    pub decorated: bool,
    /// The options that are stored with the render, without HTML, cookie values, scripts and query strings.
    pub options: Value,
}

impl RenderRequest {
    /// Returns whether loading the request is cheap, and neither runs scripts nor accesses the network.
    pub fn is_small_and_self_contained(&self) -> bool {
        let size = |source: &PartSource| match source {
            PartSource::Given(part @ Part::Html(html)) if part.is_self_contained() => Some(html.len()),
            PartSource::Given(_) | PartSource::Template(_) => None,
        };
        let bytes: Option<usize> = self.parts.iter().map(size).sum();
        self.evaluate.is_none() && bytes.is_some_and(|bytes| bytes <= SMALL)
    }
}

/// The source of a part's content.
#[derive(Debug, Clone)]
pub enum PartSource {
    /// Content that the engine takes as it is.
    Given(Part),
    /// A stored template that must be filled first.
    Template(TemplatePart),
}

/// A template, and the data to fill it with.
#[derive(Clone)]
pub struct TemplatePart {
    /// Not checked to belong to the account.
    pub template: TemplateId,
    /// The channel whose release is rendered; `None` is `production`.
    pub channel: Option<ChannelName>,
    /// The version, once it is resolved.
    pub version: i32,
    /// A JSON object without whitespace; empty if the request contains none.
    pub context: Box<RawValue>,
}

impl TemplatePart {
    /// Returns the channel whose release is rendered.
    pub fn requested_channel(&self) -> ChannelName {
        self.channel.clone().unwrap_or_else(ChannelName::production)
    }
}

/// Omits content, which must not be logged.
impl std::fmt::Debug for TemplatePart {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Template({})", self.template)
    }
}

/// Terms of a render that are set by the service, not by the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderTerms {
    pub id: RenderId,
    /// The priority class.
    pub lane: Lane,
    /// Drawn on every page.
    pub watermark: Option<Watermark>,
    /// Time limit from admission to the finished bytes.
    pub deadline: Duration,
    /// Maximum number of pages of the document.
    pub pages: usize,
    /// Maximum size of the printed document, and of the HTML that templates yield for it, in bytes.
    pub document_bytes: u64,
}

impl SynchronousRequest {
    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    pub fn parse(body: &Bytes) -> Result<Self, Vec<Problem>> {
        let sound = SoundBody::parse(body, RequestBody::SynchronousRender)?;
        Ok(Self {
            body: body.clone(),
            // The schema requires it.
            encoding: sound.wire.output_encoding.unwrap_or(OutputEncoding::Binary),
            render: sound.try_into()?,
        })
    }
}

impl AsynchronousRequest {
    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Problem>> {
        let mut sound = SoundBody::parse(body, RequestBody::AsynchronousRender)?;
        Ok(Self {
            callback: sound.wire.callback.take().map(TryInto::try_into).transpose()?,
            destination: sound.wire.destination.take(),
            render: sound.try_into()?,
        })
    }
}

/// A body that conforms to schema and rules.
struct SoundBody<'a> {
    wire: WireRequest,
    contexts: Data<'a>,
    /// See [`RenderRequest::options`].
    options: Value,
}

impl<'a> SoundBody<'a> {
    fn parse(body: &'a [u8], schema: RequestBody) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        match json::parse(body, &LAYOUT, &mut problems) {
            Some(body) => Self::check(body, schema, problems),
            None => Err(problems.sorted(&Value::Null)),
        }
    }

    fn check(body: Body<'a>, schema: RequestBody, mut problems: Problems) -> Result<Self, Vec<Problem>> {
        let Body { value, data } = body;
        schema.check(&value, &mut problems);
        rules::check(&value, &mut problems);
        if !problems.is_empty() {
            return Err(problems.sorted(&value));
        }
        let options = record::options(&value);
        let wire = serde_json::from_value(value).map_err(|error| vec![Problem::invalid("", error.to_string())])?;
        Ok(Self {
            wire,
            contexts: data,
            options,
        })
    }
}

impl TryFrom<SoundBody<'_>> for RenderRequest {
    type Error = Vec<Problem>;

    fn try_from(body: SoundBody<'_>) -> Result<Self, Vec<Problem>> {
        Self::from_wire(body.wire, &body.contexts, body.options)
    }
}

impl RenderRequest {
    /// Validates an already parsed body of a synchronous render, like [`SynchronousRequest::parse`].
    pub fn from_value(value: Value) -> Result<Self, Vec<Problem>> {
        let body = Body {
            value,
            data: Data::default(),
        };
        SoundBody::check(body, RequestBody::SynchronousRender, Problems::default())?.try_into()
    }

    fn from_wire(wire: WireRequest, contexts: &Data<'_>, options: Value) -> Result<Self, Vec<Problem>> {
        let sheet = wire.sheet();
        let mut parts = Vec::with_capacity(wire.parts.len());
        for (index, part) in wire.parts.into_iter().enumerate() {
            let pointer = format!("/parts/{index}");
            let context = contexts.get(&format!("{pointer}/content/context"));
            parts.push(wire::part(part, context).map_err(|reason| vec![Problem::invalid(pointer, reason)])?);
        }
        let selection = pages::selection(&wire.pages).map_err(|reason| vec![Problem::invalid("/pages", reason)])?;
        let decoration = HeaderFooter {
            header: wire.header_template,
            footer: wire.footer_template,
        };
        let decorated = decoration != HeaderFooter::default();
        Ok(Self {
            parts,
            print: PrintSettings {
                paper_width: sheet.width,
                paper_height: sheet.height,
                margins: sheet.margins,
                scale: wire.scale,
                backgrounds: wire.include_backgrounds,
                prefer_css_page_size: wire.prefer_css_page_size,
                header_footer: (wire.render_header_footer && decorated).then_some(decoration),
            },
            media: wire.emulate_media_type,
            cookie: wire.set_cookie,
            evaluate: wire.evaluate_js.map(|evaluate| evaluate.expression),
            wait_for: wire.wait_for,
            selection,
            format: wire.output_format,
            language: wire.language,
            assets: wire.assets,
            conformance: wire.conformance,
            decorated,
            options,
        })
    }

    /// Checks a request against the templates and channels of the caller's key. If it is for certain templates, refuses
    /// others, other content, and anything that could cover or replace a template's content; if it is for certain channels,
    /// refuses releases of others.
    pub fn check_allowed(&self, caller: &Caller) -> Result<(), NotAllowed> {
        for (_, part) in self.templates() {
            caller.channels.check(&part.requested_channel())?;
        }
        if caller.templates.everything() {
            return Ok(());
        }
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                PartSource::Template(part) if caller.templates.contains(&part.template) => {}
                PartSource::Template(part) => return Err(NotAllowed::new(format!("the template {}", part.template))),
                PartSource::Given(_) => return Err(NotAllowed::new(format!("other content, as in /parts/{index}"))),
            }
        }
        self.check_content()
    }

    /// Refuses anything that could alter a template's content: scripts, assets, and headers and footers, which can be
    /// drawn over the page.
    pub fn check_content(&self) -> Result<(), NotAllowed> {
        if self.evaluate.is_some() {
            Err(NotAllowed::new("/evaluate_js, which could change their output"))
        } else if !self.assets.is_empty() {
            Err(NotAllowed::new("/assets, which could change their output"))
        } else if self.decorated {
            Err(NotAllowed::new(
                "/header_template and /footer_template, which could cover their output; put them into the template",
            ))
        } else {
            Ok(())
        }
    }

    /// Returns the templates of the request, each with the index of its part.
    pub fn templates(&self) -> impl Iterator<Item = (usize, &TemplatePart)> {
        self.parts.iter().enumerate().filter_map(|(index, part)| match part {
            PartSource::Template(part) => Some((index, part)),
            PartSource::Given(_) => None,
        })
    }

    /// Sets the resolved version of a part's template, also in the stored options.
    pub fn note_version(&mut self, part: usize, version: i32) {
        self.set_version(part, version);
        self.options["parts"][part]["version"] = version.into();
    }

    /// Sets the versions of templates from the options that were stored at acceptance.
    pub fn set_versions(&mut self, options: &Value) {
        for part in 0..self.parts.len() {
            let version = options["parts"][part]["version"].as_i64();
            self.set_version(
                part,
                version.and_then(|version| version.try_into().ok()).unwrap_or_default(),
            );
        }
    }

    fn set_version(&mut self, part: usize, version: i32) {
        if let Some(PartSource::Template(part)) = self.parts.get_mut(part) {
            part.version = version;
        }
    }

    /// Converts the request into a job of the engine. `parts` are the request's parts with all templates filled.
    pub fn into_job(self, parts: Vec<Part>, terms: &RenderTerms) -> RenderJob {
        RenderJob {
            id: terms.id.0,
            parts,
            print: self.print,
            media: self.media,
            cookie: self.cookie,
            evaluate: self.evaluate,
            wait_for: self.wait_for,
            selection: self.selection,
            watermark: terms.watermark,
            format: self.format,
            language: self.language,
            assets: self.assets.served(),
            page_limit: terms.pages,
            printed_limit: usize::try_from(terms.document_bytes).unwrap_or(usize::MAX),
        }
    }
}

/// Returns the validation error for a template that does not exist in the account.
pub fn no_such_template(part: usize, template: &str) -> Problem {
    let pointer = format!("/parts/{part}/content/template_id");
    Problem::invalid(pointer, format!("No such template: {}", quote(template)))
}

#[cfg(test)]
mod tests;
