//! Accepted requests, as stored in the queue, in a versioned format. Later schemas and defaults don't change their
//! meaning.
//!
//! A change of [`Form1`], or of a type in it, that an earlier release could not read, or that changes the meaning of
//! stored requests, requires a new version: the files of [`tests`] must remain readable forever.

use std::io::{self, Read, Write};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use platen_domain::{
    destination::Destination,
    ids::TemplateId,
    render::accessibility::ConformanceLevel,
    template::channels::ChannelName,
    validation::{
        Problem,
        json::{self, Body},
    },
};
use platen_engine::job::{Cookie, HeaderFooter, MediaType, Part, PrintSettings, WaitFor};
use platen_pdf::{OutputFormat, PageSelection, PageSelectionError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json, value::RawValue};
use url::Url;

use crate::render_request::{
    LAYOUT, PartSource, RenderRequest, TemplatePart, assets::RequestAssets, wire::WireRequest,
};

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
    /// The bytes can't be decompressed.
    #[error("the stored request can't be read: {0}")]
    Damaged(#[from] io::Error),
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
    /// The version in which requests are stored that every release understands.
    const VERSION: i16 = 1;
    /// The version of requests with options that earlier releases would ignore. It is otherwise the same.
    const DEMANDING_VERSION: i16 = 3;

    /// Returns the version in which the request is stored.
    pub fn version(&self) -> i16 {
        let RenderRequest {
            language,
            conformance,
            assets,
            ..
        } = &self.render;
        if language.is_some() || !conformance.is_empty() || !assets.is_empty() {
            Self::DEMANDING_VERSION
        } else {
            Self::VERSION
        }
    }

    /// Serializes the request in its [`Self::version`].
    pub fn into_bytes(self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&Form1::from(self))
    }

    /// The version of requests that rows of a batch complete, if their placeholders are filled. It is otherwise the same.
    pub const PATTERN_VERSION: i16 = 4;
    /// The version of [`compressed`] bodies of synchronous renders, which no worker reads.
    pub const COMPRESSED_VERSION: i16 = 2;

    /// Parses a request of any version.
    pub fn from_bytes(version: i16, bytes: &[u8]) -> Result<Self, Unreadable> {
        match version {
            0 => Self::from_body(bytes),
            Self::VERSION | Self::DEMANDING_VERSION | Self::PATTERN_VERSION => {
                serde_json::from_slice::<Form1>(bytes)?.try_into()
            }
            Self::COMPRESSED_VERSION => Self::from_body(&decompressed(bytes)?),
            later => Err(Unreadable::LaterVersion(later)),
        }
    }

    /// Returns the request as the body of an API request, with the options that are stored in the render's row. The
    /// value of a cookie is a secret, so it is omitted, and so are a header and footer that are not drawn.
    pub fn into_body(self, mut options: Map<String, Value>) -> Result<String, serde_json::Error> {
        let Self { render, destination } = self;
        let mut set = |name: &str, value: Option<Value>| {
            options.remove(name);
            options.extend(value.map(|value| (name.to_owned(), value)));
        };
        let HeaderFooter { header, footer } = render.print.header_footer.unwrap_or_default();
        let drawn = |template: String| (!template.is_empty()).then_some(Value::String(template));
        set("parts", None);
        set("header_template", drawn(header));
        set("footer_template", drawn(footer));
        set(
            "evaluate_js",
            render.evaluate.map(|expression| json!({ "expression": expression })),
        );
        set(
            "assets",
            (!render.assets.is_empty())
                .then(|| serde_json::to_value(&render.assets))
                .transpose()?,
        );
        set("wait_for", render.wait_for.map(serde_json::to_value).transpose()?);
        set("destination", destination.map(serde_json::to_value).transpose()?);
        serde_json::to_string(&BodyForm {
            parts: render.parts.iter().map(Into::into).collect(),
            options,
        })
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

/// Compresses the body of a synchronous render or other text, and puts its length in front. Text shrinks to a third.
pub fn compressed(body: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(body.len()).map_err(io::Error::other)?;
    let mut compressed = Vec::with_capacity(64 + body.len() / 4);
    compressed.extend_from_slice(&length.to_le_bytes());
    let mut encoder = ZlibEncoder::new(compressed, Compression::fast());
    encoder.write_all(body)?;
    encoder.finish()
}

/// Decompresses a result of [`compressed`].
pub fn decompressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let (length, compressed) = bytes.split_first_chunk().ok_or(io::ErrorKind::UnexpectedEof)?;
    let length = u32::from_le_bytes(*length);
    let mut body = Vec::with_capacity(length as usize);
    ZlibDecoder::new(compressed)
        .take(length.into())
        .read_to_end(&mut body)?;
    Ok(body)
}

/// Returns the size of a stored request once it is read, in bytes.
pub fn size(version: i16, bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(length) if version == StoredRequest::COMPRESSED_VERSION => u32::from_le_bytes(*length).into(),
        _ => bytes.len() as u64,
    }
}

/// The body of an API request. Data for templates is written as it was sent.
#[derive(Serialize)]
struct BodyForm<'a> {
    parts: Vec<BodyPart<'a>>,
    #[serde(flatten)]
    options: Map<String, Value>,
}

#[derive(Serialize)]
#[serde(tag = "type", content = "content", rename_all = "snake_case")]
enum BodyPart<'a> {
    Html(&'a str),
    Url(&'a Url),
    Template {
        template_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        channel: Option<ChannelName>,
        context: &'a RawValue,
    },
}

impl<'a> From<&'a PartSource> for BodyPart<'a> {
    fn from(part: &'a PartSource) -> Self {
        match part {
            PartSource::Given(Part::Html(html)) => Self::Html(html),
            PartSource::Given(Part::Url(url)) => Self::Url(url),
            PartSource::Template(part) => Self::Template {
                template_id: part.template.to_string(),
                channel: part.channel.clone(),
                context: &part.context,
            },
        }
    }
}

/// Versions 1, 3 and 4. Lengths are in inches.
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
    /// Since version 3; absent from requests without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    /// As for `language`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    conformance: Vec<ConformanceLevel>,
    /// As for `language`.
    #[serde(default, skip_serializing_if = "RequestAssets::is_empty")]
    assets: RequestAssets,
    destination: Option<Destination>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part1 {
    Html(String),
    Url(Url),
    Template {
        id: TemplateId,
        /// Absent from requests without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        channel: Option<ChannelName>,
        context: Box<RawValue>,
    },
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
            language,
            conformance,
            assets,
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
            language,
            conformance,
            assets,
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
                channel,
                version: _,
                context,
            }) => Self::Template {
                id: template,
                channel,
                context,
            },
        }
    }
}

impl From<Part1> for PartSource {
    fn from(part: Part1) -> Self {
        match part {
            Part1::Html(html) => Self::Given(Part::Html(html)),
            Part1::Url(url) => Self::Given(Part::Url(url)),
            Part1::Template { id, channel, context } => Self::Template(TemplatePart {
                template: id,
                channel,
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
            language: form.language,
            conformance: form.conformance,
            assets: form.assets,
            options: Value::Null,
        };
        Ok(Self {
            render,
            destination: form.destination,
        })
    }
}
