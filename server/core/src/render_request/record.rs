//! The options that are stored with a render. An allow-list, so that content never reaches the database through a new
//! option.

use platen_domain::callback::shown_address;
use serde_json::{Map, Value, json};
use url::Url;

use crate::render_request::{assets::RequestAssets, wire::is_url};

/// Maximum stored length of a text in bytes: a path or selector may be as long as the body.
const LONGEST_TEXT: usize = 500;

/// Options that are stored unchanged, apart from their length.
const PLAIN: [&str; 15] = [
    "conformance",
    "destination",
    "emulate_media_type",
    "include_backgrounds",
    "language",
    "margin",
    "orientation",
    "output_encoding",
    "output_format",
    "pages",
    "prefer_css_page_size",
    "render_header_footer",
    "scale",
    "size",
    "wait_for",
];

/// Returns the options of a valid body without content: the length of HTML, scripts and assets in bytes, URLs without
/// credentials, query and fragment, the name and domain of a cookie, and the URL of a webhook.
pub(super) fn options(body: &Value) -> Value {
    let mut kept = Map::new();
    for (name, value) in body.as_object().into_iter().flatten() {
        let value = match name.as_str() {
            "parts" => value.as_array().into_iter().flatten().map(part).collect(),
            "assets" => RequestAssets::option(value),
            "evaluate_js" => json!({"bytes": bytes(&value["expression"])}),
            "header_template" | "footer_template" => json!({"bytes": bytes(value)}),
            "callback" => json!({"url": shown_url(value["url"].as_str().unwrap_or_default())}),
            "set_cookie" => json!({"name": value["name"], "domain": value["domain"]}),
            plain if PLAIN.contains(&plain) => value.clone(),
            _ => continue,
        };
        kept.insert(name.clone(), shortened(value));
    }
    kept.into()
}

fn shortened(value: Value) -> Value {
    match value {
        Value::String(mut text) => {
            text.truncate(text.floor_char_boundary(LONGEST_TEXT));
            text.into()
        }
        Value::Array(items) => items.into_iter().map(shortened).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name, shortened(value)))
            .collect(),
        other => other,
    }
}

fn part(part: &Value) -> Value {
    match part {
        Value::String(text) if is_url(text) => url(text),
        Value::String(_) => json!({"type": "html", "bytes": bytes(part)}),
        structured => match structured["type"].as_str() {
            Some("url") => url(structured["content"].as_str().unwrap_or_default()),
            Some("template") => template(&structured["content"]),
            _ => json!({"type": "html", "bytes": bytes(&structured["content"])}),
        },
    }
}

fn template(content: &Value) -> Value {
    let mut kept = json!({"type": "template", "template_id": content["template_id"]});
    if let Some(channel) = content.get("channel") {
        kept["channel"] = channel.clone();
    }
    kept
}

fn url(address: &str) -> Value {
    json!({"type": "url", "url": shown_url(address)})
}

fn shown_url(address: &str) -> String {
    Url::parse(address).map_or_else(|_| String::new(), |url| shown_address(&url))
}

fn bytes(text: &Value) -> usize {
    text.as_str().map_or(0, str::len)
}
