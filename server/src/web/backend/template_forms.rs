//! Forms of templates.

use platen_app::{
    error::AppError,
    model::{
        rejection::{Field, Reason, page::PageReason},
        template::{Beginning, DataForm, NewTemplateForm, TemplateForm},
    },
};
use platen_domain::{
    editor::{DEFAULT_SET, SampleSet, SampleSetProblem},
    template::{
        Saved, Submission, TemplateChanges, TemplateCreation,
        channels::ChannelName,
        demos::{self, Demo},
        identity::{Handle, TemplateIdentity, TemplateKind},
        note::VersionNote,
        promotions::{DUE_AT, PromotionRequest},
        sample_sets::{NamedSet, SampleSets, SetChanges, SetName, parse_data},
        translations,
    },
    utc_time,
    validation::{Problem, json},
};
use serde_json::{Map, Value};

use super::visitor_errors::{invalid, invalid_template, rejected};

/// Maximum number of JSON values in a list of sets, of which each has a name and a text. Longer lists can be read, so that
/// the error says that there are too many sets.
const MOST_VALUES_OF_SETS: usize = 1000;

/// Returns a new template with its starter content; partials have their own. Without a name, it is called as its starter.
pub(super) fn new_template(form: &NewTemplateForm) -> Result<Submission<TemplateCreation>, AppError> {
    let demo = match form.beginning {
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
    let name = Some(form.name.trim()).filter(|name| !name.is_empty());
    let identity = identity(form.kind, &form.handle)?;
    let begun = match identity.kind {
        TemplateKind::Document => demo.named(name.unwrap_or(form.beginning.name()).to_owned()),
        TemplateKind::Partial => demos::new_partial(name.unwrap_or("Partial").to_owned()),
    };
    let mut body = body(&begun.name, &begun.content);
    body["template"]["preview_context"] = begun.preview_context.into();
    body["template"]["kind"] = identity.kind.into_str().into();
    if let Some(handle) = identity.handle {
        body["template"]["handle"] = handle.as_str().into();
    }
    submission(&body)
}

/// Parses kind and handle of a template. An empty handle is none, which only documents may have.
pub(super) fn identity(kind: TemplateKind, handle: &str) -> Result<TemplateIdentity, AppError> {
    let invalid = || invalid(vec![Field::TemplateHandle]);
    let handle = match handle.trim() {
        "" => None,
        handle => Some(Handle::parse(handle).ok_or_else(invalid)?),
    };
    let identity = TemplateIdentity { kind, handle };
    match identity.problem() {
        Some(_) => Err(invalid()),
        None => Ok(identity),
    }
}

/// Parses the form that saves a template with its sets of sample data.
pub(super) fn draft(form: &TemplateForm) -> Result<(Submission<TemplateChanges>, SetChanges), AppError> {
    let (data, sets) = sample_data(&form.data)?;
    // Browsers submit line breaks in forms as CRLF.
    let content = form.content.replace("\r\n", "\n");
    let mut body = body(form.name.trim(), &content);
    if let Some(data) = data {
        body["template"]["preview_context"] = data.into();
    }
    if let Some(text) = &form.data.translations {
        let read = translations::read_text(text);
        body["template"]["translations"] = read.map_err(|_| invalid(vec![Field::TemplateTranslations]))?;
    }
    Ok((submission(&body)?, sets))
}

/// Returns the data of the first set, if it changes, and the change of the others.
fn sample_data(form: &DataForm) -> Result<(Option<Map<String, Value>>, SetChanges), AppError> {
    let refused = |problem| rejected(Reason::SampleSets(problem));
    let Some(sets) = &form.sets else {
        let data = parse_data(&form.data).ok_or_else(|| invalid(vec![Field::TemplateData]))?;
        let set = form.set.as_deref().unwrap_or(DEFAULT_SET);
        if set == DEFAULT_SET {
            return Ok((Some(data), SetChanges::Unchanged));
        }
        let name = SetName::parse(set).ok_or_else(|| refused(SampleSetProblem::Gone))?;
        return Ok((None, SetChanges::One(NamedSet { name, data })));
    };
    let sets = json::read_data(sets, MOST_VALUES_OF_SETS).ok();
    let sets: Option<Vec<SampleSet>> = sets.and_then(|sets| serde_json::from_str(sets.get()).ok());
    let sets = sets.ok_or_else(|| refused(SampleSetProblem::Unreadable))?;
    match SampleSets::parse(&sets) {
        Ok(SampleSets { default, others }) => Ok((Some(default), SetChanges::Replaced(others))),
        Err(SampleSetProblem::Data { number: 1 }) if sets.len() == 1 => Err(invalid(vec![Field::TemplateData])),
        Err(problem) => Err(refused(problem)),
    }
}

/// Parses the note on a version, which may be empty.
pub(super) fn note(text: &str) -> Result<Option<VersionNote>, AppError> {
    VersionNote::parse(text).map_err(|_| invalid(vec![Field::VersionNote]))
}

/// Returns the error for a page that shows another version as the published one.
pub(super) fn published_meanwhile() -> AppError {
    rejected(PageReason::PublishedMeanwhile)
}

/// Parses the form of a promotion. The time is in UTC, and empty for a promotion at once.
pub(super) fn promotion(channel: &str, version: i32, due_at: &str) -> Result<PromotionRequest, AppError> {
    Ok(PromotionRequest {
        channel: ChannelName::parse(channel).ok_or(AppError::Malformed)?,
        version,
        due_at: utc_time::parse(due_at).map_err(|_| invalid(vec![Field::DueAt]))?,
    })
}

/// Returns the error of a promotion that the rules refuse.
pub(super) fn not_promoted(problems: &[Problem]) -> AppError {
    if problems.iter().any(|problem| problem.pointer == DUE_AT) {
        invalid(vec![Field::DueAt])
    } else {
        rejected(PageReason::NotPromotable)
    }
}

/// Builds the body of the equivalent API request, so that the same rules apply.
fn body(name: &str, content: &str) -> Value {
    serde_json::json!({"template": {"name": name, "content": content}})
}

fn submission<T: Saved>(body: &Value) -> Result<Submission<T>, AppError> {
    Submission::read(body.to_string().as_bytes()).map_err(|problems| invalid_template(&problems))
}
