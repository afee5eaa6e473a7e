//! Requests for previews of templates.

use std::collections::BTreeMap;

use platen_domain::{
    allowed::{AllowedTemplates, NotAllowed},
    template::{check_content_size, check_partials_size, check_translations, translations::Translations},
    validation::{
        Problem, Problems,
        json::{self as strict_json, Body, Data, Layout},
        schema::RequestBody,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use crate::render_request::RenderRequest;

const CONTEXT: &str = "/context";
/// Limits for bodies of preview requests.
const LAYOUT: Layout = Layout {
    data: &["context"],
    data_values: strict_json::MOST_DATA_VALUES,
    list: None,
};

/// Default resolution in pixels per inch, as in browsers.
const DOTS_PER_INCH: u16 = 96;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PreviewFormat {
    /// Images of the first pages.
    #[default]
    Png,
    /// The document with a watermark.
    Pdf,
}

/// A valid preview request.
#[derive(Debug)]
pub struct PreviewRequest {
    /// Content to preview instead of the published version.
    pub content: Option<String>,
    /// Contents by handle that replace the published versions of partials.
    pub partials: BTreeMap<String, String>,
    /// Translations to use instead of those of the published version.
    pub translations: Option<Translations>,
    /// Data to use instead of the preview context: a JSON object without whitespace.
    pub context: Option<Box<RawValue>>,
    pub format: PreviewFormat,
    /// Resolution of images.
    pub dots_per_inch: u16,
    /// The options of a render; its only part is the filled template.
    pub render: RenderRequest,
}

#[derive(Deserialize)]
struct WirePreview {
    content: Option<String>,
    #[serde(default)]
    partials: BTreeMap<String, String>,
    translations: Option<Translations>,
    #[serde(default)]
    format: PreviewFormat,
    dots_per_inch: Option<u16>,
}

impl PreviewRequest {
    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        match strict_json::parse(body, &LAYOUT, &mut problems) {
            Some(body) => Self::check(body, problems),
            None => Err(problems.sorted(&Value::Null)),
        }
    }

    /// Validates the content and the translations of an editor by the same rules; its data is not validated.
    pub fn of_editor(
        content: &str,
        translations: Value,
        options: &Map<String, Value>,
        dots_per_inch: u16,
    ) -> Result<Self, Vec<Problem>> {
        let mut value = json!({"content": content, "options": options, "dots_per_inch": dots_per_inch});
        value["translations"] = translations;
        let body = Body {
            value,
            data: Data::default(),
        };
        Self::check(body, Problems::default())
    }

    fn check(body: Body<'_>, mut problems: Problems) -> Result<Self, Vec<Problem>> {
        let Body { value: body, data } = body;
        RequestBody::TemplatePreview.check(&body, &mut problems);
        check_content_size(&body["content"], "/content", &mut problems);
        check_partials_size(&body["partials"], &mut problems);
        check_translations(&body, &mut problems);
        let render = render_request(&body["options"]);
        let render = render.map_err(|found| {
            for problem in found {
                let pointer = format!("/options{}", problem.pointer);
                problems.add(Problem { pointer, ..problem });
            }
        });
        let (Ok(render), true) = (render, problems.is_empty()) else {
            return Err(problems.sorted(&body));
        };
        let wire: WirePreview =
            serde_json::from_value(body).map_err(|error| vec![Problem::invalid("", error.to_string())])?;
        Ok(Self {
            content: wire.content,
            partials: wire.partials,
            translations: wire.translations,
            context: data.get(CONTEXT).map(strict_json::compact),
            format: wire.format,
            dots_per_inch: wire.dots_per_inch.unwrap_or(DOTS_PER_INCH),
            render,
        })
    }
}

impl PreviewRequest {
    /// Checks a request against a key's list of templates. Refuses other content, and anything that could cover or
    /// replace a template's content.
    pub fn check_templates(&self, allowed: &AllowedTemplates) -> Result<(), NotAllowed> {
        if allowed.everything() {
            return Ok(());
        }
        if self.content.is_none() && self.partials.is_empty() && self.translations.is_none() {
            self.render.check_content()
        } else {
            Err(NotAllowed::new(
                "other content, as in /content, /partials and /translations",
            ))
        }
    }
}

/// Adds the required members of a render to the options, so that the same rules apply.
fn render_request(options: &Value) -> Result<RenderRequest, Vec<Problem>> {
    let mut body = options.as_object().cloned().unwrap_or_default();
    body.insert("parts".into(), json!(["<p>"]));
    body.insert("output_encoding".into(), "binary".into());
    RenderRequest::from_value(body.into())
}

#[cfg(test)]
mod tests {
    use platen_domain::ids::TemplateId;

    use super::*;

    fn pointers(body: &Value) -> Vec<String> {
        let problems = PreviewRequest::parse(body.to_string().as_bytes())
            .err()
            .unwrap_or_default();
        problems.into_iter().map(|problem| problem.pointer).collect()
    }

    #[test]
    fn everything_has_a_default() {
        let preview = PreviewRequest::parse(b"{}").expect("sound");
        assert_eq!(
            (preview.format, preview.dots_per_inch),
            (PreviewFormat::Png, DOTS_PER_INCH)
        );
        assert!(preview.content.is_none() && preview.context.is_none());
    }

    #[test]
    fn a_key_for_certain_templates_shows_nothing_else() {
        let certain: AllowedTemplates = [TemplateId::generate()].into_iter().collect();
        for (body, shown) in [
            (r#"{"context": {"a": 1}}"#, true),
            (r#"{"content": "x"}"#, false),
            (r#"{"options": {"evaluate_js": {"expression": "1"}}}"#, false),
            (r#"{"options": {"header_template": "<p>"}}"#, false),
            (r#"{"options": {"footer_template": "<p>"}}"#, false),
            (
                r#"{"options": {"footer_template": "", "render_header_footer": true}}"#,
                true,
            ),
        ] {
            let preview = PreviewRequest::parse(body.as_bytes()).expect("sound");
            assert_eq!(preview.check_templates(&certain).is_ok(), shown, "{body}");
            assert!(preview.check_templates(&AllowedTemplates::default()).is_ok());
        }
    }

    #[test]
    fn every_fault_is_listed_those_of_the_options_too() {
        let body = json!({
            "format": "gif",
            "options": {"scale": 3, "pages": "0", "parts": ["<p>"], "output_encoding": "binary", "margin": {"top": 1}},
            "dots_per_inch": 1000,
            "context": [],
            "content": "",
            "bogus": 1,
        });
        let expected = [
            "/format",
            "/options/scale",
            "/options/pages",
            "/options/parts",
            "/options/output_encoding",
            "/options/margin/right",
            "/options/margin/bottom",
            "/options/margin/left",
            "/dots_per_inch",
            "/context",
            "/content",
            "/bogus",
        ];
        assert_eq!(pointers(&body), expected);
    }
}
