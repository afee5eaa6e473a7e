//! Responses of the API that refuse a request.

use std::fmt;

use platen_domain::template::identity::Handle;
use reqwest::StatusCode;
use serde_json::Value;

use crate::cli::templates::folder::{CONTENT, SAMPLE, SETTINGS};

/// Why the service refused a request.
#[derive(Debug)]
pub(in super::super) struct Refusal {
    pub(in super::super) status: StatusCode,
    lines: Vec<Line>,
}

/// An error of a response.
#[derive(Debug)]
struct Line {
    /// The file whose value is refused.
    file: Option<&'static str>,
    text: String,
}

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = self.file {
            write!(formatter, "{file}: ")?;
        }
        formatter.write_str(&self.text)
    }
}

impl Refusal {
    /// Reads the body of a response, which is `null` if it isn't JSON.
    pub(super) fn new(status: StatusCode, body: &Value) -> Self {
        Self {
            status,
            lines: lines(status, body),
        }
    }

    /// Returns whether a template is refused, and not every request.
    pub(super) fn is_of_template(&self) -> bool {
        matches!(
            self.status,
            StatusCode::UNPROCESSABLE_ENTITY | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::NOT_FOUND
        )
    }

    /// Returns the errors with the names of a template's files.
    pub(super) fn in_folder(&self, handle: &Handle) -> String {
        let lines = self.lines.iter().map(|line| match line.file {
            Some(_) => format!("{handle}/{line}"),
            None => format!("{handle}: {line}"),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns whether the request's values are refused, and not the request.
    pub(in super::super) fn is_invalid(&self) -> bool {
        self.status == StatusCode::UNPROCESSABLE_ENTITY
    }

    /// Returns the first error without its file.
    pub(in super::super) fn reason(&self) -> &str {
        self.lines.first().map_or("", |line| &line.text)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.lines.iter().map(Line::to_string).collect::<Vec<_>>().join("\n"))
    }
}

/// Returns the errors of a response in one of the API's three formats. Those of a request's body name the file.
fn lines(status: StatusCode, body: &Value) -> Vec<Line> {
    if let Some(errors) = body["errors"].as_array() {
        let lines = errors.iter().map(|error| Line {
            file: error["source"]["pointer"].as_str().map(file_of),
            text: error["detail"].as_str().unwrap_or_default().to_owned(),
        });
        return lines.collect();
    }
    let message = body["message"].as_str().or(body["error"]["message"].as_str());
    let text = message.map_or_else(|| format!("the service responded with {status}"), ToOwned::to_owned);
    vec![Line { file: None, text }]
}

/// Returns the file whose value a pointer into a request's body names.
fn file_of(pointer: &str) -> &'static str {
    let member = pointer.strip_prefix("/template").unwrap_or(pointer);
    if member.starts_with("/content") {
        CONTENT
    } else if member.starts_with("/preview_context") || member.starts_with("/context") {
        SAMPLE
    } else {
        SETTINGS
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(status: StatusCode, body: &Value) -> Vec<String> {
        lines(status, body).iter().map(Line::to_string).collect()
    }

    #[test]
    fn errors_name_the_file() {
        let body = json!({ "errors": [
            { "source": { "pointer": "/template/content" }, "detail": "Line 2, column 3: unknown filter" },
            { "source": { "pointer": "/template/name" }, "detail": "Must be text" },
        ] });
        assert_eq!(
            shown(StatusCode::UNPROCESSABLE_ENTITY, &body),
            [
                "template.html: Line 2, column 3: unknown filter",
                "settings.json: Must be text"
            ]
        );
    }

    #[test]
    fn other_errors_are_passed_on() {
        let forbidden = json!({ "error": "insufficient_permissions", "message": "The key lacks templates:write." });
        assert_eq!(
            shown(StatusCode::FORBIDDEN, &forbidden),
            ["The key lacks templates:write."]
        );
        let missing = json!({ "error": { "message": "There is no such template." } });
        assert_eq!(shown(StatusCode::NOT_FOUND, &missing), ["There is no such template."]);
        let foreign = shown(StatusCode::BAD_GATEWAY, &Value::Null);
        assert_eq!(foreign, ["the service responded with 502 Bad Gateway"]);
    }
}
