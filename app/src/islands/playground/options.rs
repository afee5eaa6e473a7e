//! State of the form, and the request that it builds.

use leptos::prelude::*;
use serde_json::{Map, Value, json};
use strum::{IntoStaticStr, VariantArray};

use crate::curl::CurlCommand;

/// The HTML of a new form.
const FIRST_HTML: &str = "<h1>Hello, paper</h1>\n<p>Change this, then render.</p>";

/// Kind of a part's source. The names are the values of `type` in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub(super) enum Kind {
    Html,
    Url,
    Template,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Html => "HTML",
            Self::Url => "URL",
            Self::Template => "Template",
        }
    }
}

/// One part of the document. It retains the text that was typed for each kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Identifies the part in the form. Not its position.
    pub(super) id: u32,
    pub(super) kind: RwSignal<Kind>,
    pub(super) html: RwSignal<String>,
    pub(super) url: RwSignal<String>,
    pub(super) template: RwSignal<String>,
    /// Empty for `production`.
    pub(super) channel: RwSignal<String>,
    pub(super) context: RwSignal<String>,
}

impl Part {
    pub(super) fn new(id: u32, html: &str, template: &str) -> Self {
        Self {
            id,
            kind: RwSignal::new(Kind::Html),
            html: RwSignal::new(html.to_owned()),
            url: RwSignal::new("https://".to_owned()),
            template: RwSignal::new(template.to_owned()),
            channel: RwSignal::new(String::new()),
            context: RwSignal::new("{}".to_owned()),
        }
    }

    /// Takes over a part of an earlier request.
    fn former(id: u32, part: &Value, template: &str) -> Self {
        let new = Self::new(id, FIRST_HTML, template);
        let content = &part["content"];
        let text = content.as_str().unwrap_or_default();
        match part["type"].as_str() {
            Some("url") => {
                new.kind.set(Kind::Url);
                new.url.set(text.to_owned());
            }
            Some("template") => {
                new.kind.set(Kind::Template);
                new.template
                    .set(content["template_id"].as_str().unwrap_or_default().to_owned());
                new.channel
                    .set(content["channel"].as_str().unwrap_or_default().to_owned());
                new.context
                    .set(serde_json::to_string_pretty(&content["context"]).unwrap_or_default());
            }
            _ => new.html.set(text.to_owned()),
        }
        new
    }

    fn request(self) -> Value {
        let kind = self.kind.get();
        let content = match kind {
            Kind::Html => Value::String(self.html.get()),
            Kind::Url => Value::String(self.url.get()),
            Kind::Template => {
                let context = self.context.get();
                // Invalid JSON is sent as a string, so that the API reports the error.
                let context = serde_json::from_str(&context).unwrap_or(Value::String(context));
                let mut reference = json!({"template_id": self.template.get(), "context": context});
                let channel = self.channel.get();
                if !channel.is_empty() {
                    reference["channel"] = channel.into();
                }
                reference
            }
        };
        json!({"type": kind.into_str(), "content": content})
    }
}

/// Every option of the form. Strings are as typed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    pub(super) parts: RwSignal<Vec<Part>>,
    pub(super) size: RwSignal<String>,
    pub(super) width: RwSignal<String>,
    pub(super) height: RwSignal<String>,
    pub(super) size_unit: RwSignal<String>,
    pub(super) orientation: RwSignal<String>,
    /// Top, right, bottom, left.
    pub(super) margin: [RwSignal<String>; 4],
    pub(super) margin_unit: RwSignal<String>,
    pub(super) scale: RwSignal<String>,
    pub(super) css_size: RwSignal<bool>,
    pub(super) backgrounds: RwSignal<bool>,
    pub(super) header_footer: RwSignal<bool>,
    pub(super) header: RwSignal<String>,
    pub(super) footer: RwSignal<String>,
    pub(super) pages: RwSignal<String>,
    pub(super) media: RwSignal<String>,
    pub(super) format: RwSignal<String>,
    /// Whether each level of [`DEMANDS`] is demanded.
    pub(super) demands: [RwSignal<bool>; 2],
    pub(super) language: RwSignal<String>,
    /// Assets of the earlier request as JSON, which are sent again.
    pub(super) assets: RwSignal<String>,
    pub(super) wait_selector: RwSignal<String>,
    pub(super) wait_attribute: RwSignal<String>,
    pub(super) script: RwSignal<String>,
    pub(super) cookie_name: RwSignal<String>,
    pub(super) cookie_value: RwSignal<String>,
    pub(super) cookie_domain: RwSignal<String>,
    pub(super) queued: RwSignal<bool>,
    pub(super) callback: RwSignal<String>,
    pub(super) provider: RwSignal<String>,
    pub(super) bucket: RwSignal<String>,
    pub(super) path: RwSignal<String>,
    pub(super) encoding: RwSignal<String>,
    pub(super) idempotency_key: RwSignal<String>,
    pub(super) live: RwSignal<bool>,
}

/// Sides of a margin: names in the API, and labels.
pub(super) const SIDES: [(&str, &str); 4] = [
    ("top", "Top"),
    ("right", "Right"),
    ("bottom", "Bottom"),
    ("left", "Left"),
];
/// Named page sizes. The last one, [`CUSTOM`], is not one of the API's.
pub(super) const SIZES: [&str; 16] = [
    "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "letter", "legal", "tabloid", "ledger", CUSTOM,
];
/// Page size with explicit width and height.
pub(super) const CUSTOM: &str = "custom";
/// Units of lengths.
pub(super) const UNITS: [&str; 4] = ["mm", "cm", "in", "px"];
/// Levels of conformance that can be demanded: names in the API, and labels.
pub(super) const DEMANDS: [(&str, &str); 2] = [("pdf/a-2a", "Require PDF/A-2a"), ("pdf/ua-1", "Require PDF/UA-1")];
/// Provider that stands for a request without a destination.
pub(super) const DEFAULT_STORAGE: &str = "default";

impl Options {
    /// Returns the API's defaults, overridden by `former`, the request of an earlier render as JSON. The first part
    /// preselects the template with the id `template`.
    pub(super) fn new(template: &str, former: Option<&str>) -> Self {
        let former: Value = former
            .and_then(|former| serde_json::from_str(former).ok())
            .unwrap_or_default();
        let text = |pointer: &str, default: &str| {
            let known = match former.pointer(pointer) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                _ => default.to_owned(),
            };
            RwSignal::new(known)
        };
        let flag =
            |pointer: &str, default| RwSignal::new(former.pointer(pointer).and_then(Value::as_bool).unwrap_or(default));
        let size = match former.get("size") {
            Some(Value::Object(_)) => RwSignal::new(CUSTOM.to_owned()),
            _ => text("/size", "a4"),
        };
        // Options without content say only how many there were.
        let assets = former.get("assets").filter(|assets| assets["count"].as_u64().is_none());
        let assets = assets.map(Value::to_string).unwrap_or_default();
        let parts = former["parts"].as_array().into_iter().flatten().zip(0..);
        let mut parts: Vec<_> = parts.map(|(part, id)| Part::former(id, part, template)).collect();
        if parts.is_empty() {
            parts.push(Part::new(0, FIRST_HTML, template));
        }
        Self {
            parts: RwSignal::new(parts),
            size,
            width: text("/size/width", "210"),
            height: text("/size/height", "297"),
            size_unit: text("/size/unit", "mm"),
            orientation: text("/orientation", "portrait"),
            margin: SIDES.map(|(side, _)| text(&format!("/margin/{side}"), "0")),
            margin_unit: text("/margin/unit", "mm"),
            scale: text("/scale", "1"),
            css_size: flag("/prefer_css_page_size", false),
            backgrounds: flag("/include_backgrounds", true),
            header_footer: flag("/render_header_footer", false),
            header: text("/header_template", ""),
            footer: text("/footer_template", ""),
            pages: text("/pages", ""),
            media: text("/emulate_media_type", "print"),
            format: text("/output_format", "pdf/a"),
            demands: DEMANDS.map(|(level, _)| {
                let demanded = former["conformance"].as_array();
                RwSignal::new(demanded.is_some_and(|demanded| demanded.contains(&json!(level))))
            }),
            language: text("/language", ""),
            assets: RwSignal::new(assets),
            wait_selector: text("/wait_for/selector", ""),
            wait_attribute: text("/wait_for/attribute", ""),
            script: text("/evaluate_js/expression", ""),
            cookie_name: text("/set_cookie/name", ""),
            cookie_value: text("/set_cookie/value", ""),
            cookie_domain: text("/set_cookie/domain", ""),
            queued: RwSignal::new(former.get("destination").or(former.get("callback")).is_some()),
            callback: text("/callback/url", ""),
            provider: text("/destination/provider", DEFAULT_STORAGE),
            bucket: text("/destination/bucket", ""),
            path: text("/destination/path", ""),
            encoding: text("/output_encoding", "binary"),
            idempotency_key: RwSignal::new(String::new()),
            live: RwSignal::new(false),
        }
    }

    /// Returns the body of the request, without options that have the API's default value.
    pub(super) fn request(self) -> Value {
        let parts = self.parts.get().into_iter().map(Part::request).collect();
        let mut body = Map::from_iter([("parts".to_owned(), Value::Array(parts))]);
        let mut set = |name: &str, value: Value, default: Value| {
            if value != default {
                body.insert(name.to_owned(), value);
            }
        };
        set("size", self.requested_size(), json!("a4"));
        set("orientation", json!(self.orientation.get()), json!("portrait"));
        set("margin", self.requested_margin(), Value::Null);
        set("scale", number(&self.scale.get()), json!(1));
        set("prefer_css_page_size", json!(self.css_size.get()), json!(false));
        set("include_backgrounds", json!(self.backgrounds.get()), json!(true));
        set("render_header_footer", json!(self.header_footer.get()), json!(false));
        set("header_template", json!(self.header.get()), json!(""));
        set("footer_template", json!(self.footer.get()), json!(""));
        set("pages", json!(self.pages.get()), json!(""));
        set("emulate_media_type", json!(self.media.get()), json!("print"));
        set("output_format", json!(self.format.get()), json!("pdf/a"));
        let demanded = DEMANDS.iter().zip(self.demands).filter(|(_, demanded)| demanded.get());
        let demanded: Vec<_> = demanded.map(|((level, _), _)| *level).collect();
        set("conformance", json!(demanded), json!([]));
        set("language", json!(self.language.get()), json!(""));
        let assets: Value = serde_json::from_str(&self.assets.get()).unwrap_or_default();
        set("assets", assets, Value::Null);
        let selector = [("selector", self.wait_selector), ("attribute", self.wait_attribute)];
        set("wait_for", object(&selector), Value::Null);
        set("evaluate_js", object(&[("expression", self.script)]), Value::Null);
        let cookie = [
            ("name", self.cookie_name),
            ("value", self.cookie_value),
            ("domain", self.cookie_domain),
        ];
        set("set_cookie", object(&cookie), Value::Null);
        if self.queued.get() {
            set("callback", object(&[("url", self.callback)]), Value::Null);
            if self.provider.get() != DEFAULT_STORAGE {
                let destination = [
                    ("provider", self.provider),
                    ("bucket", self.bucket),
                    ("path", self.path),
                ];
                set("destination", object(&destination), Value::Null);
            }
        } else {
            set("output_encoding", json!(self.encoding.get()), Value::Null);
        }
        Value::Object(body)
    }

    fn requested_size(self) -> Value {
        let size = self.size.get();
        if size != CUSTOM {
            return json!(size);
        }
        json!({
            "width": number(&self.width.get()), "height": number(&self.height.get()), "unit": self.size_unit.get(),
        })
    }

    /// Returns null if all margins are 0.
    fn requested_margin(self) -> Value {
        let sides = self.margin.map(|side| number(&side.get()));
        if sides.iter().all(|side| *side == json!(0)) {
            return Value::Null;
        }
        let names = SIDES.map(|(name, _)| name.to_owned());
        let mut margin: Map<_, _> = names.into_iter().zip(sides).collect();
        margin.insert("unit".to_owned(), json!(self.margin_unit.get()));
        Value::Object(margin)
    }
}

/// Returns `typed` as a JSON number. Anything else is returned as a string, so that the API reports the error.
fn number(typed: &str) -> Value {
    let typed = typed.trim();
    let whole = typed.parse::<i64>().map(Value::from);
    let any = || typed.parse::<f64>().ok().and_then(serde_json::Number::from_f64);
    whole
        .ok()
        .or_else(|| any().map(Value::Number))
        .unwrap_or_else(|| json!(typed))
}

/// Returns an object of strings, or null if all are empty.
fn object(members: &[(&str, RwSignal<String>)]) -> Value {
    let members: Map<_, _> = members
        .iter()
        .map(|(name, text)| ((*name).to_owned(), Value::String(text.get())))
        .collect();
    if members.values().all(|text| text == "") {
        Value::Null
    } else {
        Value::Object(members)
    }
}

/// Returns the request as a curl command for a POSIX shell.
pub(super) fn curl(base_url: &str, options: Options) -> String {
    let queued = options.queued.get();
    let command = CurlCommand {
        base_url,
        path: if queued { "renderers/pdf/async" } else { "renderers/pdf" },
        idempotency_key: &options.idempotency_key.get(),
        output: match (queued, options.encoding.get().as_str()) {
            (true, _) => None,
            (false, "base64") => Some("document.json"),
            (false, _) => Some("document.pdf"),
        },
    };
    command.with_body(&serde_json::to_string_pretty(&options.request()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(test: impl FnOnce(Options)) {
        Owner::new().with(|| test(Options::new("t1", None)));
    }

    #[test]
    fn only_what_is_set_is_sent() {
        with(|options| {
            let html = "<h1>Hello, paper</h1>\n<p>Change this, then render.</p>";
            let expected = json!({"parts": [{"type": "html", "content": html}], "output_encoding": "binary"});
            assert_eq!(options.request(), expected);
            options.margin[0].set("12.5".to_owned());
            options.scale.set("0.5".to_owned());
            options.size.set(CUSTOM.to_owned());
            options.width.set("wide".to_owned());
            let request = options.request();
            assert_eq!(
                request["margin"],
                json!({"top": 12.5, "right": 0, "bottom": 0, "left": 0, "unit": "mm"})
            );
            assert_eq!(request["scale"], json!(0.5));
            assert_eq!(request["size"], json!({"width": "wide", "height": 297, "unit": "mm"}));
        });
    }

    #[test]
    fn what_is_queued_has_no_encoding() {
        with(|options| {
            options.queued.set(true);
            options.callback.set("https://example.org/done".to_owned());
            let request = options.request();
            assert_eq!(request["callback"], json!({"url": "https://example.org/done"}));
            assert!(request.get("output_encoding").is_none() && request.get("destination").is_none());
        });
    }

    #[test]
    fn options_of_a_former_render_are_taken_up() {
        Owner::new().with(|| {
            let former = r#"{"size": {"width": 100, "height": 50, "unit": "mm"}, "margin": {"top": 5}, "pages": "1",
                "conformance": ["pdf/ua-1"], "language": "de", "assets": {"a.css": "cHt9"}}"#;
            let options = Options::new("", Some(former));
            assert_eq!(options.size.get(), CUSTOM);
            assert_eq!(options.width.get(), "100");
            assert_eq!(options.margin[0].get(), "5");
            assert_eq!(options.pages.get(), "1");
            let request = options.request();
            assert_eq!(request["conformance"], json!(["pdf/ua-1"]));
            assert_eq!(request["language"], "de");
            assert_eq!(request["assets"]["a.css"], "cHt9");
        });
    }
}
