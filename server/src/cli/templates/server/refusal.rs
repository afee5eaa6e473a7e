//! Responses of the API that refuse a request.

use std::{borrow::Cow, fmt};

use platen_domain::template::{identity::Handle, sample_sets::SetName};
use reqwest::StatusCode;
use serde_json::Value;

use crate::cli::{
    client::errors,
    templates::folder::{CONTENT, SAMPLE, SETTINGS, TRANSLATIONS, file_of_set},
};

/// Why the service refused a request.
#[derive(Debug)]
pub(in super::super) struct Refusal {
    pub(in super::super) status: StatusCode,
    lines: Vec<Line>,
}

/// An error of a response.
#[derive(Debug)]
struct Line {
    place: Place,
    text: String,
}

/// What a value of a request's body was read from.
#[derive(Debug)]
enum Place {
    /// A file of the template.
    File(Cow<'static, str>),
    /// The named set of sample data at this index of the request's list.
    Set(usize),
    /// The content of a partial with this handle.
    Partial(String),
    /// The account's published version.
    Published,
    /// No certain file.
    Elsewhere,
}

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::File(file) => write!(formatter, "{file}: ")?,
            Place::Set(index) => write!(formatter, "set {} of sample data: ", index + 1)?,
            Place::Partial(handle) => write!(formatter, "{handle}/{CONTENT}: ")?,
            Place::Published => formatter.write_str("the published version: ")?,
            Place::Elsewhere => {}
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

    /// Names the files of sets of sample data. `names` are those of the request, in its order.
    pub(super) fn of_sets(mut self, names: &[&SetName]) -> Self {
        for line in &mut self.lines {
            if let Place::Set(index) = line.place
                && let Some(name) = names.get(index)
            {
                line.place = Place::File(file_of_set(name).into());
            }
        }
        self
    }

    /// Returns whether a template is refused, and not every request.
    pub(in super::super) fn is_of_template(&self) -> bool {
        matches!(
            self.status,
            StatusCode::UNPROCESSABLE_ENTITY | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::NOT_FOUND
        )
    }

    /// Returns the errors with the names of a template's files.
    pub(in super::super) fn in_folder(&self, handle: &Handle) -> String {
        let lines = self.lines.iter().map(|line| match line.place {
            Place::File(_) => format!("{handle}/{line}"),
            Place::Partial(_) => line.to_string(),
            Place::Set(_) | Place::Published | Place::Elsewhere => format!("{handle}: {line}"),
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.lines.iter().map(Line::to_string).collect::<Vec<_>>().join("\n"))
    }
}

/// Returns the errors of a response. Those of a request's body name the file.
fn lines(status: StatusCode, body: &Value) -> Vec<Line> {
    let lines = errors(status, body).into_iter().map(|(pointer, detail)| Line {
        place: pointer.map_or(Place::Elsewhere, place_of),
        text: match pointer.and_then(translation) {
            Some(text) => format!("{text}: {detail}"),
            None => detail,
        },
    });
    lines.collect()
}

/// Returns language and key of the text that a pointer into a request's body names.
fn translation(pointer: &str) -> Option<&str> {
    let pointer = pointer.strip_prefix("/template").unwrap_or(pointer);
    pointer.strip_prefix("/translations/")
}

/// Returns the origin of the value that a pointer into a request's body names.
fn place_of(pointer: &str) -> Place {
    let mut names = pointer.strip_prefix("/template").unwrap_or(pointer).split('/').skip(1);
    match (names.next(), names.next()) {
        (Some("content"), _) => Place::File(CONTENT.into()),
        (Some("preview_context" | "context"), _) => Place::File(SAMPLE.into()),
        (Some("name" | "kind" | "handle" | "strict" | "settings"), _) => Place::File(SETTINGS.into()),
        (Some("translations"), _) => Place::File(TRANSLATIONS.into()),
        (Some("samples"), Some(index)) => index.parse().map_or(Place::Elsewhere, Place::Set),
        (Some("partials"), Some(handle)) => Place::Partial(handle.to_owned()),
        (Some("older"), _) => Place::Published,
        _ => Place::Elsewhere,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(status: StatusCode, body: &Value) -> Vec<String> {
        lines(status, body).iter().map(Line::to_string).collect()
    }

    fn handle() -> Handle {
        Handle::parse("invoice").expect("a handle")
    }

    #[test]
    fn errors_name_the_file() {
        let body = json!({ "errors": [
            { "source": { "pointer": "/template/content" }, "detail": "Line 2, column 3: unknown filter" },
            { "source": { "pointer": "/template/name" }, "detail": "Must be text" },
            { "source": { "pointer": "/template/translations/de/total" }, "detail": "Must be text" },
            { "source": { "pointer": "/partials/footer" }, "detail": "Partial footer, line 1" },
            { "source": { "pointer": "/partials" }, "detail": "Must have at most 50 members" },
            { "source": { "pointer": "/older" }, "detail": "Line 3" },
        ] });
        assert_eq!(
            shown(StatusCode::UNPROCESSABLE_ENTITY, &body),
            [
                "template.html: Line 2, column 3: unknown filter",
                "settings.json: Must be text",
                "translations.json: de/total: Must be text",
                "footer/template.html: Partial footer, line 1",
                "Must have at most 50 members",
                "the published version: Line 3",
            ]
        );
        let refusal = Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, &body).in_folder(&handle());
        assert_eq!(
            refusal.lines().collect::<Vec<_>>(),
            [
                "invoice/template.html: Line 2, column 3: unknown filter",
                "invoice/settings.json: Must be text",
                "invoice/translations.json: de/total: Must be text",
                "footer/template.html: Partial footer, line 1",
                "invoice: Must have at most 50 members",
                "invoice: the published version: Line 3",
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
