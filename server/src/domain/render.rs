//! What a client asks for: a body becomes a request whose values cannot be wrong any more.

pub mod history;
pub mod kept;
pub mod log;
mod pages;
mod record;
mod rules;
pub mod sheet;
pub mod stored;
mod wire;

use std::{sync::LazyLock, time::Duration};

use platen_engine::error::RenderFault;
use platen_engine::job::{Cookie, HeaderFooter, Lane, MediaType, Part, PrintSettings, RenderJob, WaitFor};
use platen_pdf::{OutputFormat, PageSelection, Watermark};
use serde_json::{Value, value::RawValue};

use crate::domain::{
    allowed_templates::{AllowedTemplates, NotAllowed},
    callback::CallbackTarget,
    destination::Destination,
    ids::{RenderId, TemplateId},
    render::wire::WireRequest,
    validation::{
        Fault, Faults,
        json::{self, Body, Data, Layout},
        quote,
        schema::Schema,
    },
};

/// Most parts of a document; the schema says it too.
const MOST_PARTS: usize = 50;
/// Bytes of HTML that Chromium loads in some tens of milliseconds.
const SMALL: usize = 512 << 10;
/// What the bodies of renders hold.
const LAYOUT: Layout = Layout {
    data: &["parts", "*", "content", "context"],
    data_values: json::MOST_DATA_VALUES,
    list: Some(("parts", MOST_PARTS)),
};

static SYNCHRONOUS: LazyLock<Schema> = LazyLock::new(|| Schema::named("SynchronousRender"));
static ASYNCHRONOUS: LazyLock<Schema> = LazyLock::new(|| Schema::named("AsynchronousRender"));

/// Does at start what the first request would else wait for.
pub fn compile_schemas() {
    LazyLock::force(&SYNCHRONOUS);
    LazyLock::force(&ASYNCHRONOUS);
}

/// How the PDF comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputEncoding {
    /// The file itself.
    Binary,
    /// Base64 in a JSON object.
    Base64,
}

/// A request whose client waits for the document.
#[derive(Debug, Clone)]
pub struct SynchronousRequest {
    /// What to render.
    pub render: RenderRequest,
    /// How the PDF comes back.
    pub encoding: OutputEncoding,
}

/// A request whose client does not wait.
#[derive(Debug, Clone)]
pub struct AsynchronousRequest {
    /// What to render.
    pub render: RenderRequest,
    /// Who hears what became of it.
    pub callback: Option<CallbackTarget>,
    /// Where the document is put; without it, in the service's own storage.
    pub destination: Option<Destination>,
}

/// A request to render. Lengths are in inches, the orientation is applied, defaults are filled in.
#[derive(Debug, Clone)]
pub struct RenderRequest {
    /// What to print, in this order; at least one.
    pub parts: Vec<PartSource>,
    /// Paper and decoration.
    pub print: PrintSettings,
    /// Media type that style sheets see.
    pub media: MediaType,
    /// Set before the part is loaded.
    pub cookie: Option<Cookie>,
    /// JavaScript for the loaded page.
    pub evaluate: Option<String>,
    /// Awaited before the page is printed.
    pub wait_for: Option<WaitFor>,
    /// The pages to keep; without it, all.
    pub selection: Option<PageSelection>,
    /// Kind of PDF.
    pub format: OutputFormat,
    /// Whether there is a header or a footer, drawn or not.
    pub decorated: bool,
    /// The options as they are kept with the render: no HTML, no cookie value, no script, no query string.
    pub options: Value,
}

impl RenderRequest {
    /// Whether loading it is a little work that runs nothing and asks the network for nothing.
    pub fn is_small_and_self_contained(&self) -> bool {
        let size = |source: &PartSource| match source {
            PartSource::Given(part @ Part::Html(html)) if part.is_self_contained() => Some(html.len()),
            PartSource::Given(_) | PartSource::Template(_) => None,
        };
        let bytes: Option<usize> = self.parts.iter().map(size).sum();
        self.evaluate.is_none() && bytes.is_some_and(|bytes| bytes <= SMALL)
    }
}

/// Where a part's content comes from.
#[derive(Debug, Clone)]
pub enum PartSource {
    /// It is what the engine takes.
    Given(Part),
    /// A stored template has to be filled first.
    Template(TemplatePart),
}

/// A template and what to fill it with.
#[derive(Clone)]
pub struct TemplatePart {
    /// Which one; whether the account has it is another matter.
    pub template: TemplateId,
    /// Its version, once it is noted.
    pub version: i32,
    /// A JSON object without blanks; empty where the request gives none.
    pub context: Box<RawValue>,
}

/// Content never reaches a log.
impl std::fmt::Debug for TemplatePart {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Template({})", self.template)
    }
}

/// What the service decides about a render, not the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderTerms {
    /// Names it.
    pub id: RenderId,
    /// Where it waits.
    pub lane: Lane,
    /// Drawn across every page.
    pub watermark: Option<Watermark>,
    /// From admission to the finished bytes.
    pub deadline: Duration,
    /// Most pages of the document.
    pub pages: usize,
    /// Most bytes of the document as it is printed, and of the HTML that templates yield for it.
    pub document_bytes: u64,
}

impl SynchronousRequest {
    /// Reads a body. Fails with every fault of the body, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Fault>> {
        let sound = SoundBody::parse(body, &SYNCHRONOUS)?;
        Ok(Self {
            // The schema requires it.
            encoding: sound.wire.output_encoding.unwrap_or(OutputEncoding::Binary),
            render: sound.try_into()?,
        })
    }
}

impl AsynchronousRequest {
    /// Reads a body. Fails with every fault of the body, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Fault>> {
        let mut sound = SoundBody::parse(body, &ASYNCHRONOUS)?;
        Ok(Self {
            callback: sound.wire.callback.take().map(TryInto::try_into).transpose()?,
            destination: sound.wire.destination.take(),
            render: sound.try_into()?,
        })
    }
}

/// A body that schema and rules have passed.
struct SoundBody<'a> {
    wire: WireRequest,
    contexts: Data<'a>,
    /// See [`RenderRequest::options`].
    options: Value,
}

impl<'a> SoundBody<'a> {
    fn parse(body: &'a [u8], schema: &Schema) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults::default();
        match json::parse(body, &LAYOUT, &mut faults) {
            Some(body) => Self::check(body, schema, faults),
            None => Err(faults.sorted(&Value::Null)),
        }
    }

    fn check(body: Body<'a>, schema: &Schema, mut faults: Faults) -> Result<Self, Vec<Fault>> {
        let Body { value, data } = body;
        schema.check(&value, &mut faults);
        rules::check(&value, &mut faults);
        if !faults.is_empty() {
            return Err(faults.sorted(&value));
        }
        let options = record::options(&value);
        let wire = serde_json::from_value(value).map_err(|error| vec![Fault::invalid("", error.to_string())])?;
        Ok(Self {
            wire,
            contexts: data,
            options,
        })
    }
}

impl TryFrom<SoundBody<'_>> for RenderRequest {
    type Error = Vec<Fault>;

    fn try_from(body: SoundBody<'_>) -> Result<Self, Vec<Fault>> {
        Self::from_wire(body.wire, &body.contexts, body.options)
    }
}

impl RenderRequest {
    /// Checks the body of a synchronous render that is read already, as [`SynchronousRequest::parse`] does.
    pub fn from_value(value: Value) -> Result<Self, Vec<Fault>> {
        let body = Body {
            value,
            data: Data::default(),
        };
        SoundBody::check(body, &SYNCHRONOUS, Faults::default())?.try_into()
    }

    fn from_wire(wire: WireRequest, contexts: &Data<'_>, options: Value) -> Result<Self, Vec<Fault>> {
        let sheet = wire.sheet();
        let mut parts = Vec::with_capacity(wire.parts.len());
        for (index, part) in wire.parts.into_iter().enumerate() {
            let pointer = format!("/parts/{index}");
            let context = contexts.get(&format!("{pointer}/content/context"));
            parts.push(wire::part(part, context).map_err(|reason| vec![Fault::invalid(pointer, reason)])?);
        }
        let selection = pages::selection(&wire.pages).map_err(|reason| vec![Fault::invalid("/pages", reason)])?;
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
            media: wire.emulate_media_type.into(),
            cookie: wire.set_cookie.map(Into::into),
            evaluate: wire.evaluate_js.map(|evaluate| evaluate.expression),
            wait_for: wire.wait_for.map(Into::into),
            selection,
            format: wire.output_format.into(),
            decorated,
            options,
        })
    }

    /// Refuses a request that a key for certain templates may not make: other templates, other content, and what could cover
    /// a template's content or replace it.
    pub fn check_templates(&self, allowed: &AllowedTemplates) -> Result<(), NotAllowed> {
        if allowed.everything() {
            return Ok(());
        }
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                PartSource::Template(part) if allowed.contains(part.template) => {}
                PartSource::Template(part) => return Err(NotAllowed::new(format!("the template {}", part.template))),
                PartSource::Given(_) => return Err(NotAllowed::new(format!("other content, as in /parts/{index}"))),
            }
        }
        self.check_content()
    }

    /// Refuses what could make a template say something else: scripts, and headers and footers, which can be drawn over
    /// the page.
    pub fn check_content(&self) -> Result<(), NotAllowed> {
        if self.evaluate.is_some() {
            Err(NotAllowed::new("/evaluate_js, which could change what they say"))
        } else if self.decorated {
            Err(NotAllowed::new(
                "/header_template and /footer_template, which could cover what they say; put them into the template",
            ))
        } else {
            Ok(())
        }
    }

    /// The templates of its parts, each with the part's index.
    pub fn templates(&self) -> impl Iterator<Item = (usize, TemplateId)> {
        self.parts.iter().enumerate().filter_map(|(index, part)| match part {
            PartSource::Template(part) => Some((index, part.template)),
            PartSource::Given(_) => None,
        })
    }

    /// Notes which version of its template a part is made of, also among the options that are kept with the render.
    pub fn note_version(&mut self, part: usize, version: i32) {
        self.set_version(part, version);
        self.options["parts"][part]["version"] = version.into();
    }

    /// Takes the versions of templates from the options that were kept when the render was accepted.
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

    /// The engine's job. `parts` are the request's own, once every template is filled.
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
            page_limit: terms.pages,
            printed_limit: usize::try_from(terms.document_bytes).unwrap_or(usize::MAX),
        }
    }
}

/// A part names a template that the account does not have.
pub fn no_such_template(part: usize, template: &str) -> Fault {
    let pointer = format!("/parts/{part}/content/template_id");
    Fault::invalid(pointer, format!("No such template: {}", quote(template)))
}

/// The JSON pointer to the member of the request that is to blame when its part, counted from 0, can't be rendered.
pub fn blamed_member(part: usize, fault: &RenderFault) -> String {
    let member = match fault {
        RenderFault::EvaluateThrew { .. } | RenderFault::EvaluateTooLarge { .. } => "/evaluate_js/expression",
        RenderFault::HeaderFooterTooLarge { template, .. } => return format!("/{template}"),
        RenderFault::InvalidSelector { .. } => "/wait_for/selector",
        RenderFault::WaitForUnsatisfied { .. } => "/wait_for",
        RenderFault::PageBeyondEnd { .. } => "/pages",
        RenderFault::TooLarge { .. } => "/parts",
        RenderFault::NotConformant { .. } => "/output_format",
        RenderFault::Unreachable { .. }
        | RenderFault::AddressRefused { .. }
        | RenderFault::HttpStatus { .. }
        | RenderFault::NotHtml { .. }
        | RenderFault::NavigatedAway { .. }
        | RenderFault::Crashed
        | RenderFault::MemoryExceeded { .. }
        | RenderFault::MessageTooLarge { .. }
        | RenderFault::PrintedTooLarge { .. }
        | RenderFault::TooManyPages { .. }
        | RenderFault::PageSize { .. }
        | RenderFault::PrintFailed { .. } => return format!("/parts/{part}"),
    };
    member.to_owned()
}

#[cfg(test)]
mod tests;
