//! What a client asks for: a body becomes a request whose values cannot be wrong any more.

pub mod kept;
mod pages;
mod record;
mod rules;
pub mod sheet;
mod wire;

use std::{sync::LazyLock, time::Duration};

use platen_engine::error::RenderFault;
use platen_engine::job::{Cookie, HeaderFooter, Lane, MediaType, Part, PrintSettings, RenderJob, WaitFor};
use platen_pdf::{OutputFormat, PageSelection, Watermark};
use serde_json::Value;

use crate::domain::{
    ids::RenderId,
    render::wire::WireRequest,
    validation::{Fault, Faults, json, schema::Schema},
};

static SYNCHRONOUS: LazyLock<Schema> = LazyLock::new(|| Schema::named("SynchronousRender"));

/// Does at start what the first request would else wait for.
pub fn compile_schemas() {
    LazyLock::force(&SYNCHRONOUS);
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

/// A request to render. Lengths are in inches, the orientation is applied, defaults are filled in.
#[derive(Debug, Clone)]
pub struct RenderRequest {
    /// What to print, in this order; at least one.
    pub parts: Vec<Part>,
    /// How the PDF comes back.
    pub encoding: OutputEncoding,
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
    /// The options as they are kept with the render: no HTML, no cookie value, no script, no query string.
    pub options: Value,
}

/// Bounds that the service sets, not the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderLimits {
    /// From admission to the finished bytes.
    pub deadline: Duration,
    /// Most pages of the document.
    pub pages: usize,
}

impl RenderRequest {
    /// Reads the body of a synchronous render. Fails with every fault of the body, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults::default();
        match json::parse(body, &mut faults) {
            Some(body) => Self::check(body, faults),
            None => Err(faults.sorted(&Value::Null)),
        }
    }

    /// As [`Self::parse`], for a body that is read already.
    pub fn from_value(body: Value) -> Result<Self, Vec<Fault>> {
        Self::check(body, Faults::default())
    }

    fn check(body: Value, mut faults: Faults) -> Result<Self, Vec<Fault>> {
        SYNCHRONOUS.check(&body, &mut faults);
        rules::check(&body, &mut faults);
        if faults.is_empty() {
            rules::check_available(&body, &mut faults);
        }
        if !faults.is_empty() {
            return Err(faults.sorted(&body));
        }
        let options = record::options(&body);
        let wire: WireRequest =
            serde_json::from_value(body).map_err(|error| vec![Fault::invalid("", error.to_string())])?;
        Self::from_wire(wire, options)
    }

    fn from_wire(wire: WireRequest, options: Value) -> Result<Self, Vec<Fault>> {
        let sheet = wire.sheet();
        let mut parts = Vec::new();
        for (index, part) in wire.parts.into_iter().enumerate() {
            let part = Part::try_from(part);
            parts.push(part.map_err(|error| vec![Fault::invalid(format!("/parts/{index}"), error.to_string())])?);
        }
        let selection = pages::selection(&wire.pages).map_err(|reason| vec![Fault::invalid("/pages", reason)])?;
        let decoration = HeaderFooter {
            header: wire.header_template,
            footer: wire.footer_template,
        };
        Ok(Self {
            parts,
            encoding: wire.output_encoding,
            print: PrintSettings {
                paper_width: sheet.width,
                paper_height: sheet.height,
                margins: sheet.margins,
                scale: wire.scale,
                backgrounds: wire.include_backgrounds,
                prefer_css_page_size: wire.prefer_css_page_size,
                header_footer: (wire.render_header_footer && decoration != HeaderFooter::default())
                    .then_some(decoration),
            },
            media: wire.emulate_media_type.into(),
            cookie: wire.set_cookie.map(Into::into),
            evaluate: wire.evaluate_js.map(|evaluate| evaluate.expression),
            wait_for: wire.wait_for.map(Into::into),
            selection,
            format: wire.output_format.into(),
            options,
        })
    }

    /// The engine's job for somebody who holds the connection open.
    pub fn into_job(self, id: RenderId, limits: RenderLimits, watermark: Option<Watermark>) -> RenderJob {
        RenderJob {
            id: id.0,
            lane: Lane::Synchronous,
            parts: self.parts,
            print: self.print,
            media: self.media,
            cookie: self.cookie,
            evaluate: self.evaluate,
            wait_for: self.wait_for,
            selection: self.selection,
            watermark,
            format: self.format,
            deadline: limits.deadline,
            page_limit: limits.pages,
        }
    }
}

/// The JSON pointer to the member of the request that is to blame when its part, counted from 0, can't be rendered.
pub fn blamed_member(part: usize, fault: &RenderFault) -> String {
    let member = match fault {
        RenderFault::EvaluateThrew { .. } => "/evaluate_js/expression",
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
        | RenderFault::TooManyPages { .. }
        | RenderFault::PageSize { .. }
        | RenderFault::PrintFailed { .. } => return format!("/parts/{part}"),
    };
    member.to_owned()
}

#[cfg(test)]
mod tests;
