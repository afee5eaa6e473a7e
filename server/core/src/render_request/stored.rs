//! Accepted requests, as stored in the queue, in a versioned format. Later schemas and defaults don't change their
//! meaning.
//!
//! A change of [`Form1`] that an earlier release could not read, or that changes the meaning of stored requests,
//! requires a new version: the files of [`tests`] must remain readable forever.

use platen_domain::{
    destination::{Destination, Provider},
    ids::TemplateId,
    validation::{
        Problem,
        json::{self, Body},
    },
};
use platen_engine::job::{Cookie, HeaderFooter, MediaType, Part, PrintSettings, WaitFor};
use platen_pdf::{OutputFormat, PageSelection, PageSelectionError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use url::Url;

use crate::render_request::{LAYOUT, PartSource, RenderRequest, TemplatePart, wire::WireRequest};

#[cfg(test)]
mod tests;

/// The request data that a worker needs. The webhook is stored separately.
#[derive(Debug, Clone)]
pub struct StoredRequest {
    /// Without the options, which are stored in the render's row.
    pub render: RenderRequest,
    /// `None` for the default storage.
    pub destination: Option<Destination>,
}

/// Why a stored request can't be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The bytes are not in the format of a request.
    #[error("the stored request can't be read: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A later release has written the request.
    #[error("the stored request has version {0}, which was written by a later release")]
    LaterVersion(i16),
    /// The page selection is invalid.
    #[error("the stored request can't be read: {0}")]
    Pages(#[from] PageSelectionError),
    /// The body stored by an earlier release is not a valid request.
    #[error("the stored request can't be read: {0:?}")]
    Body(Vec<Problem>),
}

impl StoredRequest {
    /// The version in which requests are stored now.
    pub const VERSION: i16 = 1;

    /// Serializes the request in the current version.
    pub fn into_bytes(self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&Form1::from(self))
    }

    /// Parses a request of any version.
    pub fn from_bytes(version: i16, bytes: &[u8]) -> Result<Self, Unreadable> {
        match version {
            0 => Self::from_body(bytes),
            1 => serde_json::from_slice::<Form1>(bytes)?.try_into(),
            later => Err(Unreadable::LaterVersion(later)),
        }
    }

    /// The first releases stored the body as it was sent, after validation by their schema.
    fn from_body(bytes: &[u8]) -> Result<Self, Unreadable> {
        let Body { value, data } = json::build(bytes, &LAYOUT)?;
        let mut wire: WireRequest = serde_json::from_value(value)?;
        let destination = wire.destination.take();
        let render = RenderRequest::from_wire(wire, &data, Value::Null).map_err(Unreadable::Body)?;
        Ok(Self { render, destination })
    }
}

/// Version 1. Lengths are in inches.
#[derive(Serialize, Deserialize)]
struct Form1 {
    parts: Vec<Part1>,
    paper_width: f64,
    paper_height: f64,
    /// Top, right, bottom, left.
    margins: [f64; 4],
    scale: f64,
    backgrounds: bool,
    prefer_css_page_size: bool,
    header_footer: Option<HeaderFooter1>,
    media: Media1,
    cookie: Option<Cookie1>,
    evaluate: Option<String>,
    wait_for: Option<WaitFor1>,
    pages: Option<String>,
    format: Format1,
    destination: Option<Destination1>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part1 {
    Html(String),
    Url(Url),
    Template { id: TemplateId, context: Box<RawValue> },
}

#[derive(Serialize, Deserialize)]
struct HeaderFooter1 {
    header: String,
    footer: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Media1 {
    Print,
    Screen,
}

#[derive(Serialize, Deserialize)]
struct Cookie1 {
    name: String,
    value: String,
    domain: String,
}

#[derive(Serialize, Deserialize)]
struct WaitFor1 {
    selector: String,
    attribute: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Format1 {
    Pdf,
    PdfA2b,
}

#[derive(Serialize, Deserialize)]
struct Destination1 {
    provider: Provider,
    bucket: String,
    path: String,
}

impl From<StoredRequest> for Form1 {
    fn from(request: StoredRequest) -> Self {
        // Destructured completely, so that new fields must be added here.
        let StoredRequest { render, destination } = request;
        let RenderRequest {
            parts,
            print,
            media,
            cookie,
            evaluate,
            wait_for,
            selection,
            format,
            decorated: _,
            options: _,
        } = render;
        let PrintSettings {
            paper_width,
            paper_height,
            margins,
            scale,
            backgrounds,
            prefer_css_page_size,
            header_footer,
        } = print;
        Self {
            parts: parts.into_iter().map(Into::into).collect(),
            paper_width,
            paper_height,
            margins,
            scale,
            backgrounds,
            prefer_css_page_size,
            header_footer: header_footer.map(|HeaderFooter { header, footer }| HeaderFooter1 { header, footer }),
            media: match media {
                MediaType::Print => Media1::Print,
                MediaType::Screen => Media1::Screen,
            },
            cookie: cookie.map(|Cookie { name, value, domain }| Cookie1 { name, value, domain }),
            evaluate,
            wait_for: wait_for.map(|WaitFor { selector, attribute }| WaitFor1 { selector, attribute }),
            pages: selection.map(|selection| selection.to_string()),
            format: match format {
                OutputFormat::Pdf => Format1::Pdf,
                OutputFormat::PdfA2b => Format1::PdfA2b,
            },
            destination: destination.map(|Destination { provider, bucket, path }| Destination1 {
                provider,
                bucket,
                path,
            }),
        }
    }
}

impl From<PartSource> for Part1 {
    fn from(part: PartSource) -> Self {
        match part {
            PartSource::Given(Part::Html(html)) => Self::Html(html),
            PartSource::Given(Part::Url(url)) => Self::Url(url),
            // The version is stored with the render's options.
            PartSource::Template(TemplatePart {
                template,
                version: _,
                context,
            }) => Self::Template { id: template, context },
        }
    }
}

impl From<Part1> for PartSource {
    fn from(part: Part1) -> Self {
        match part {
            Part1::Html(html) => Self::Given(Part::Html(html)),
            Part1::Url(url) => Self::Given(Part::Url(url)),
            Part1::Template { id, context } => Self::Template(TemplatePart {
                template: id,
                version: 0,
                context,
            }),
        }
    }
}

impl TryFrom<Form1> for StoredRequest {
    type Error = Unreadable;

    fn try_from(form: Form1) -> Result<Self, Unreadable> {
        let header_footer = form
            .header_footer
            .map(|HeaderFooter1 { header, footer }| HeaderFooter { header, footer });
        let render = RenderRequest {
            parts: form.parts.into_iter().map(Into::into).collect(),
            decorated: header_footer.is_some(),
            print: PrintSettings {
                paper_width: form.paper_width,
                paper_height: form.paper_height,
                margins: form.margins,
                scale: form.scale,
                backgrounds: form.backgrounds,
                prefer_css_page_size: form.prefer_css_page_size,
                header_footer,
            },
            media: match form.media {
                Media1::Print => MediaType::Print,
                Media1::Screen => MediaType::Screen,
            },
            cookie: form
                .cookie
                .map(|Cookie1 { name, value, domain }| Cookie { name, value, domain }),
            evaluate: form.evaluate,
            wait_for: form
                .wait_for
                .map(|WaitFor1 { selector, attribute }| WaitFor { selector, attribute }),
            selection: form.pages.as_deref().map(PageSelection::parse).transpose()?,
            format: match form.format {
                Format1::Pdf => OutputFormat::Pdf,
                Format1::PdfA2b => OutputFormat::PdfA2b,
            },
            options: Value::Null,
        };
        let destination = form
            .destination
            .map(|Destination1 { provider, bucket, path }| Destination { provider, bucket, path });
        Ok(Self { render, destination })
    }
}
