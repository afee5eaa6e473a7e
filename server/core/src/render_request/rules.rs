//! Validation rules that the schema can't express. Each rule skips members that already have an error.

use platen_domain::{
    callback::{self, LONGEST_URL as LONGEST_WEBHOOK_URL},
    destination::Destination,
    ids::TemplateId,
    render::{
        accessibility::unmet::ConformanceNotReached,
        sheet::{Margin, Orientation, Sheet, Size},
    },
    validation::{Problem, Problems, quote},
};
use serde::Deserialize;
use serde_json::Value;
use url::{Host, Url};

use crate::render_request::{assets::RequestAssets, no_such_template, pages, wire::is_url};

/// Maximum length of a URL in bytes. Servers accept far less.
pub(super) const LONGEST_URL: usize = 64 << 10;

/// Adds the validation errors of all rules.
pub(super) fn check(body: &Value, problems: &mut Problems) {
    check_urls(body, problems);
    check_pages(body, problems);
    check_sheet(body, problems);
    check_cookie_domain(body, problems);
    check_template_ids(body, problems);
    check_conformance(body, problems);
    check_callback(body, problems);
    RequestAssets::check(&body["assets"], problems);
    check_destination(body, problems);
}

/// An invalid id can't belong to a template.
fn check_template_ids(body: &Value, problems: &mut Problems) {
    for (index, part) in body["parts"].as_array().into_iter().flatten().enumerate() {
        let id = part["content"]["template_id"]
            .as_str()
            .filter(|_| part["type"] == "template");
        if let Some(id) = id.filter(|id| TemplateId::parse(id).is_none()) {
            problems.add(no_such_template(index, id));
        }
    }
}

/// Plain PDF is not checked against any level.
fn check_conformance(body: &Value, problems: &mut Problems) {
    if body.get("conformance").is_some() && body["output_format"] == "pdf" {
        let detail = "Must be absent if output_format is pdf: only archival documents declare levels of conformance";
        problems.add(Problem::invalid(ConformanceNotReached::POINTER, detail));
    }
}

fn check_urls(body: &Value, problems: &mut Problems) {
    for (index, part) in body["parts"].as_array().into_iter().flatten().enumerate() {
        let (pointer, address) = match part {
            Value::String(text) if is_url(text) => (format!("/parts/{index}"), text.as_str()),
            Value::Object(part) if part.get("type").is_some_and(|kind| kind == "url") => {
                let content = part.get("content").and_then(Value::as_str).unwrap_or_default();
                (format!("/parts/{index}/content"), content)
            }
            _ => continue,
        };
        check_url(address, pointer, problems);
    }
}

/// Adds the validation error of a URL, if it has one.
pub(super) fn check_url(address: &str, pointer: String, problems: &mut Problems) {
    if address.len() > LONGEST_URL {
        let detail = format!("Must have at most {LONGEST_URL} bytes; has {}", address.len());
        problems.add(Problem::invalid(pointer, detail));
    } else if let Some(reason) = url_problem(address) {
        problems.add(Problem::invalid(
            pointer,
            format!("Must be a valid address: {reason}; got {}", quote(address)),
        ));
    }
}

/// Adds the validation errors of the member `callback` of `body`.
pub(super) fn check_callback(body: &Value, problems: &mut Problems) {
    const URL: &str = "/callback/url";
    const HEADERS: &str = "/callback/headers";
    if let Some(address) = body["callback"]["url"].as_str().filter(|_| !problems.within(URL)) {
        if address.len() > LONGEST_WEBHOOK_URL {
            let detail = format!(
                "Must have at most {LONGEST_WEBHOOK_URL} bytes; got {}. Send other data for the receiver in headers",
                address.len()
            );
            problems.add(Problem::invalid(URL, detail));
        } else {
            check_url(address, URL.into(), problems);
        }
    }
    if let Some(headers) = body["callback"]["headers"]
        .as_object()
        .filter(|_| !problems.within(HEADERS))
    {
        let headers = headers.iter();
        let headers = headers.map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default()));
        for problem in callback::header_problems(HEADERS, headers) {
            problems.add(problem);
        }
    }
}

/// Parses the URL of a webhook by the rules for the `callback` of a request.
pub(crate) fn webhook_url(address: &str) -> Option<Url> {
    let is_sound = address.len() <= LONGEST_WEBHOOK_URL
        && is_url(address)
        && !address.contains(char::is_whitespace)
        && url_problem(address).is_none();
    address.parse().ok().filter(|_| is_sound)
}

fn check_destination(body: &Value, problems: &mut Problems) {
    const POINTER: &str = "/destination";
    let sound = body.get("destination").filter(|_| !problems.within(POINTER));
    if let Some(Ok(destination)) = sound.map(Destination::deserialize) {
        for problem in destination.problems(POINTER) {
            problems.add(problem);
        }
    }
}

/// Returns why no server can have this address.
fn url_problem(address: &str) -> Option<String> {
    let url = match Url::parse(address) {
        Ok(url) => url,
        Err(error) => return Some(error.to_string()),
    };
    if url.port() == Some(0) {
        return Some("port 0 can't be connected to".into());
    }
    match url.host() {
        None => Some("it has no host".into()),
        Some(Host::Domain(name)) if !is_dns_name(name) => Some("invalid domain name".into()),
        Some(_) => None,
    }
}

/// Labels have 1 to 63 bytes, and the name at most 253 (RFC 1035, 2.3.4); a trailing dot is allowed.
fn is_dns_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.len() <= 253 && name.split('.').all(|label| (1..=63).contains(&label.len()))
}

fn check_pages(body: &Value, problems: &mut Problems) {
    if problems.within("/pages") {
        return;
    }
    if let Some(Err(reason)) = body["pages"].as_str().map(pages::selection) {
        problems.add(Problem::invalid("/pages", reason));
    }
}

fn check_sheet(body: &Value, problems: &mut Problems) {
    let Some(size) = sound::<Size>(body, "size", problems) else {
        return;
    };
    let sides = size.problems();
    for (side, detail) in &sides {
        problems.add(Problem::invalid(format!("/size/{side}"), detail));
    }
    if !sides.is_empty() {
        return;
    }
    let margin = sound::<Margin>(body, "margin", problems);
    let orientation = sound::<Orientation>(body, "orientation", problems);
    let (Some(margin), Some(orientation)) = (margin, orientation) else {
        return;
    };
    if let Some(detail) = Sheet::new(size, margin, orientation).margin_problem() {
        problems.add(Problem::invalid("/margin", detail));
    }
}

/// Returns a member of the body or its default, or `None` if it has an error.
fn sound<T: serde::de::DeserializeOwned + Default>(body: &Value, name: &str, problems: &Problems) -> Option<T> {
    if problems.within(&format!("/{name}")) {
        return None;
    }
    body.get(name)
        .map_or_else(|| Some(T::default()), |value| T::deserialize(value).ok())
}

/// A cookie's domain is a host, not a URL; a leading dot is an old convention (RFC 6265, 5.2.3).
fn check_cookie_domain(body: &Value, problems: &mut Problems) {
    const POINTER: &str = "/set_cookie/domain";
    let Some(domain) = body["set_cookie"]["domain"]
        .as_str()
        .filter(|_| !problems.within(POINTER))
    else {
        return;
    };
    let host = domain.strip_prefix('.').unwrap_or(domain);
    let sound = match Host::parse(host) {
        Ok(Host::Domain(name)) => is_dns_name(&name),
        Ok(_) => true,
        Err(_) => false,
    };
    if !sound {
        problems.add(Problem::invalid(
            POINTER,
            format!(
                "Must be a host such as example.com, without scheme, port and path; got {}",
                quote(domain)
            ),
        ));
    }
}
