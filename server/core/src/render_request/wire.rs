//! Request bodies as JSON has them, after validation by the schema, with the API's defaults.

use std::collections::BTreeMap;

use platen_domain::{
    callback::CallbackTarget,
    destination::Destination,
    ids::TemplateId,
    render::{
        accessibility::ConformanceLevel,
        sheet::{Margin, Orientation, Sheet, Size},
    },
    template::channels::ChannelName,
    validation::{Problem, json},
};
use platen_engine::job::{Cookie, MediaType, Part, WaitFor};
use platen_pdf::OutputFormat;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::render_request::{OutputEncoding, PartSource, TemplatePart, assets::RequestAssets};

#[derive(Deserialize)]
pub(super) struct WireRequest {
    pub(super) parts: Vec<Value>,
    pub(super) output_encoding: Option<OutputEncoding>,
    #[serde(default)]
    pub(super) assets: RequestAssets,
    pub(super) callback: Option<WireCallback>,
    #[serde(default)]
    pub(super) conformance: Vec<ConformanceLevel>,
    pub(super) destination: Option<Destination>,
    #[serde(default)]
    pub(super) emulate_media_type: MediaType,
    pub(super) evaluate_js: Option<WireEvaluate>,
    #[serde(default)]
    pub(super) footer_template: String,
    #[serde(default)]
    pub(super) header_template: String,
    #[serde(default = "yes")]
    pub(super) include_backgrounds: bool,
    pub(super) language: Option<String>,
    #[serde(default)]
    margin: Margin,
    #[serde(default)]
    orientation: Orientation,
    #[serde(default, with = "WireOutputFormat")]
    pub(super) output_format: OutputFormat,
    #[serde(default)]
    pub(super) pages: String,
    #[serde(default)]
    pub(super) prefer_css_page_size: bool,
    #[serde(default)]
    pub(super) render_header_footer: bool,
    #[serde(default = "unscaled")]
    pub(super) scale: f64,
    pub(super) set_cookie: Option<Cookie>,
    #[serde(default)]
    size: Size,
    pub(super) wait_for: Option<WaitFor>,
}

impl WireRequest {
    pub(super) fn sheet(&self) -> Sheet {
        Sheet::new(self.size, self.margin, self.orientation)
    }
}

fn yes() -> bool {
    true
}

fn unscaled() -> f64 {
    1.0
}

#[derive(Deserialize)]
#[serde(tag = "type", content = "content", rename_all = "lowercase")]
enum StructuredPart {
    Url(String),
    Html(String),
    Template(TemplateReference),
}

/// The context is parsed separately.
#[derive(Deserialize)]
struct TemplateReference {
    template_id: TemplateId,
    #[serde(default)]
    channel: Option<ChannelName>,
}

/// Converts a part of a valid body. Its text is moved, not copied, because it can be most of the body.
pub(super) fn part(part: Value, context: Option<&RawValue>) -> Result<PartSource, String> {
    let part = match part {
        Value::String(url) if is_url(&url) => StructuredPart::Url(url),
        Value::String(html) => StructuredPart::Html(html),
        structured => serde_json::from_value(structured).map_err(|error| error.to_string())?,
    };
    Ok(match part {
        StructuredPart::Url(url) => {
            let url = url.parse().map_err(|error: url::ParseError| error.to_string())?;
            PartSource::Given(Part::Url(url))
        }
        StructuredPart::Html(html) => PartSource::Given(Part::Html(html)),
        StructuredPart::Template(reference) => PartSource::Template(TemplatePart {
            template: reference.template_id,
            channel: reference.channel,
            version: 0,
            context: context.map_or_else(json::empty_object, json::compact),
        }),
    })
}

/// Returns whether a part given as a string is a URL; HTML begins with a tag.
pub(super) fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

#[derive(Deserialize)]
#[serde(remote = "OutputFormat")]
enum WireOutputFormat {
    #[serde(rename = "pdf/a")]
    PdfA2b,
    #[serde(rename = "pdf")]
    Pdf,
}

#[derive(Deserialize)]
pub(super) struct WireCallback {
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl TryFrom<WireCallback> for CallbackTarget {
    type Error = Vec<Problem>;

    fn try_from(callback: WireCallback) -> Result<Self, Vec<Problem>> {
        let url = callback.url.parse();
        Ok(Self {
            url: url.map_err(|error: url::ParseError| vec![Problem::invalid("/callback/url", error.to_string())])?,
            headers: callback.headers.into_iter().collect(),
        })
    }
}

#[derive(Deserialize)]
pub(super) struct WireEvaluate {
    pub(super) expression: String,
}
