//! Forms of templates.

use platen_app::{
    error::AppError,
    model::{
        rejection::{Field, Reason},
        template::{Beginning, TemplateForm},
    },
};
use platen_domain::{
    template::{MOST_PREVIEW_VALUES, NewTemplate, Saved, Submission, demos::Demo, note::VersionNote},
    validation::json,
};
use serde_json::{Map, Value};

use super::visitor_errors::{invalid, invalid_template, rejected};

/// Returns a new template with its starter content.
pub(super) fn beginning(name: &str, beginning: Beginning) -> Result<Submission<NewTemplate>, AppError> {
    let demo = match beginning {
        Beginning::Invoice => Demo::Invoice,
        Beginning::Quote => Demo::Quote,
        Beginning::Receipt => Demo::Receipt,
        Beginning::Letter => Demo::Letter,
        Beginning::Report => Demo::Report,
        Beginning::Certificate => Demo::Certificate,
        Beginning::ShippingLabel => Demo::ShippingLabel,
        Beginning::Ticket => Demo::Ticket,
        Beginning::Blank => Demo::Blank,
    };
    let begun = demo.named(name.trim().to_owned());
    submission(&body(&begun.name, &begun.content, &begun.preview_context))
}

/// Parses the form that saves a template.
pub(super) fn draft(form: &TemplateForm) -> Result<Submission<NewTemplate>, AppError> {
    let data = json::read_data(&form.data, MOST_PREVIEW_VALUES).ok();
    let Some(Ok(Value::Object(data))) = data.map(|data| serde_json::from_str(data.get())) else {
        return Err(invalid(vec![Field::TemplateData]));
    };
    // Browsers submit line breaks in forms as CRLF.
    let content = form.content.replace("\r\n", "\n");
    submission(&body(form.name.trim(), &content, &data))
}

/// Parses the note on a version, which may be empty.
pub(super) fn note(text: &str) -> Result<Option<VersionNote>, AppError> {
    VersionNote::parse(text).map_err(|_| invalid(vec![Field::VersionNote]))
}

/// Returns the error for a page that shows another version as the published one.
pub(super) fn published_meanwhile() -> AppError {
    rejected(Reason::PublishedMeanwhile)
}

/// Builds the body of the equivalent API request, so that the same rules apply.
fn body(name: &str, content: &str, data: &Map<String, Value>) -> Value {
    serde_json::json!({"template": {"name": name, "content": content, "preview_context": data}})
}

fn submission<T: Saved>(body: &Value) -> Result<Submission<T>, AppError> {
    Submission::read(body.to_string().as_bytes()).map_err(|problems| invalid_template(&problems))
}
