//! Accepted requests, as stored in the queue, in a versioned format. Later schemas and defaults don't change their
//! meaning.
//!
//! A change of [`Form1`], or of a type in it, that an earlier release could not read, or that changes the meaning of
//! stored requests, requires a new version: the files of [`tests`] must remain readable forever.

use platen_domain::{
    destination::Destination,
    ids::TemplateId,
    validation::{
        Problem,
        json::{self, Body},
    },
};
use platen_engine::job::{Cookie, MediaType, Part, PrintSettings, WaitFor};
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
    #[serde(flatten)]
    print: PrintSettings,
    media: MediaType,
    cookie: Option<Cookie>,
    evaluate: Option<String>,
    wait_for: Option<WaitFor>,
    pages: Option<String>,
    #[serde(with = "Format1")]
    format: OutputFormat,
    destination: Option<Destination>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part1 {
    Html(String),
    Url(Url),
    Template { id: TemplateId, context: Box<RawValue> },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "OutputFormat", rename_all = "snake_case")]
enum Format1 {
    Pdf,
    PdfA2b,
}

impl From<StoredRequest> for Form1 {
    fn from(request: StoredRequest) -> Self {
        // Destructured completely, so that new fields must be added here. Fields of their types are stored as well.
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
        Self {
            parts: parts.into_iter().map(Into::into).collect(),
            print,
            media,
            cookie,
            evaluate,
            wait_for,
            pages: selection.map(|selection| selection.to_string()),
            format,
            destination,
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
        let render = RenderRequest {
            parts: form.parts.into_iter().map(Into::into).collect(),
            decorated: form.print.header_footer.is_some(),
            print: form.print,
            media: form.media,
            cookie: form.cookie,
            evaluate: form.evaluate,
            wait_for: form.wait_for,
            selection: form.pages.as_deref().map(PageSelection::parse).transpose()?,
            format: form.format,
            options: Value::Null,
        };
        Ok(Self {
            render,
            destination: form.destination,
        })
    }
}
