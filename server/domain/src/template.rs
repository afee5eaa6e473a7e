//! Stored templates: validation of requests, and stored versions.

pub mod channels;
pub mod comparison;
pub mod demos;
pub mod identity;
pub mod labels;
pub mod note;
pub mod places;
pub mod promotions;
pub mod sample_generation;
pub mod sample_sets;
pub mod settings;
pub mod translations;
pub mod used_by;

use std::{io, marker::PhantomData};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, value::RawValue};
use time::{OffsetDateTime, serde::rfc3339};

use crate::{
    ids::{TemplateId, UserId},
    template::{
        identity::{IdentityChanges, TemplateIdentity},
        translations::Translations,
    },
    validation::{
        Problem, Problems,
        json::{self, Body, Layout},
        schema::RequestBody,
    },
};

/// Maximum length of a template's name, in characters.
pub const LONGEST_NAME: usize = 200;
/// Maximum size of a template's content in UTF-8, in bytes.
pub const LONGEST_CONTENT: usize = 2 << 20;
/// Maximum size of a preview context as JSON without whitespace, in bytes.
pub const LONGEST_PREVIEW_CONTEXT: usize = 256 << 10;
/// Maximum number of values in a preview context: more don't fit into its maximum size.
pub const MOST_PREVIEW_VALUES: usize = LONGEST_PREVIEW_CONTEXT / 2;
/// JSON pointer of the content.
pub const CONTENT: &str = "/template/content";
const PREVIEW_CONTEXT: &str = "/template/preview_context";
const TRANSLATIONS: &str = "/template/translations";
/// Limits for bodies of template requests.
const LAYOUT: Layout = Layout {
    data: &["template", "preview_context"],
    data_values: MOST_PREVIEW_VALUES,
    list: None,
};

/// A template in its published version, as the API serializes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Template {
    pub id: TemplateId,
    #[serde(flatten)]
    pub identity: TemplateIdentity,
    /// Need not be unique.
    pub name: String,
    /// HTML in the template syntax.
    pub content: String,
    /// Sample data, used only for previews.
    pub preview_context: Map<String, Value>,
    #[serde(skip_serializing_if = "Translations::is_empty")]
    pub translations: Translations,
    /// Handles of those partials of a document that have been published since it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outdated_partials: Vec<String>,
    /// The number of the published version.
    #[serde(skip)]
    pub version: i32,
    #[serde(with = "rfc3339")]
    pub inserted_at: OffsetDateTime,
    /// When the current version was published.
    #[serde(with = "rfc3339")]
    pub updated_at: OffsetDateTime,
}

/// A saved version of a template, as shown in lists and serialized by the API.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VersionSummary {
    /// From 1.
    pub number: i32,
    pub name: String,
    /// Whether it is the published version.
    pub published: bool,
    /// The user who saved it; `None` if they have been deleted.
    pub created_by: Option<UserId>,
    /// The author's display name, or else their email address.
    #[serde(skip)]
    pub author: Option<String>,
    /// What it changes, if the member who published it noted that.
    #[serde(skip)]
    pub note: Option<String>,
    #[serde(with = "rfc3339")]
    pub inserted_at: OffsetDateTime,
}

/// A filter for templates; `None` matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateFilter {
    /// Part of the name, regardless of case, or the beginning of the id.
    pub search: Option<String>,
    /// Whether there are unpublished changes; `None` matches both.
    pub has_draft: Option<bool>,
}

/// A saved version of a template, as the API serializes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TemplateVersion {
    #[serde(flatten)]
    pub summary: VersionSummary,
    pub content: String,
    pub preview_context: Map<String, Value>,
    #[serde(skip_serializing_if = "Translations::is_empty")]
    pub translations: Translations,
}

/// A template as the editor opens it.
#[derive(Debug, Clone, PartialEq)]
pub struct EditedTemplate {
    pub identity: TemplateIdentity,
    /// Number of the published version, which renders use.
    pub published: i32,
    /// The newest version, which may be a draft.
    pub newest: TemplateVersion,
}

impl From<TemplateVersion> for NewTemplate {
    fn from(version: TemplateVersion) -> Self {
        Self {
            name: version.summary.name,
            content: version.content,
            preview_context: version.preview_context,
            translations: version.translations,
        }
    }
}

impl TemplateVersion {
    /// Returns the sample data as indented JSON.
    pub fn data(&self) -> String {
        sample_sets::indented(&self.preview_context)
    }
}

/// A template as listed in the dashboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateGlance {
    pub id: TemplateId,
    pub identity: TemplateIdentity,
    /// Name of the published version.
    pub name: String,
    /// Number of the published version.
    pub published: i32,
    /// Whether it is the release in `production`; `true` for partials, too, which have no channels.
    pub in_production: bool,
    /// Number of the newest version.
    pub newest: i32,
    /// When the newest version was saved.
    pub changed_at: OffsetDateTime,
    /// Display name of the newest version's author; `None` once that user is deleted.
    pub changed_by: Option<String>,
}

/// The content of a new version.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct NewTemplate {
    /// 1 to 200 characters.
    pub name: String,
    /// 1 character to 2 MiB.
    pub content: String,
    /// At most 256 KiB.
    #[serde(default)]
    pub preview_context: Map<String, Value>,
    #[serde(default)]
    pub translations: Translations,
}

/// A template to be created, with its first version.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TemplateCreation {
    #[serde(flatten)]
    pub identity: TemplateIdentity,
    #[serde(flatten)]
    pub version: NewTemplate,
}

/// The fields that an update changes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TemplateChanges {
    #[serde(flatten)]
    identity: IdentityChanges,
    name: Option<String>,
    content: Option<String>,
    preview_context: Option<Map<String, Value>>,
    translations: Option<Translations>,
}

impl TemplateChanges {
    /// Returns the new content, if it changes.
    pub fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// Returns the template's identity and next version with the changes applied.
    pub fn applied_to(self, template: Template) -> (TemplateIdentity, NewTemplate) {
        let identity = self.identity.clone().applied_to(template.identity);
        let version = NewTemplate {
            name: template.name,
            content: template.content,
            preview_context: template.preview_context,
            translations: template.translations,
        };
        (identity, self.applied_to_version(version))
    }

    /// Returns the version that follows another one, without the changes of the identity.
    pub fn applied_to_version(self, version: NewTemplate) -> NewTemplate {
        NewTemplate {
            name: self.name.unwrap_or(version.name),
            content: self.content.unwrap_or(version.content),
            preview_context: self.preview_context.unwrap_or(version.preview_context),
            translations: self.translations.unwrap_or(version.translations),
        }
    }
}

/// The body of a request that saves a template.
pub trait Saved: DeserializeOwned {
    const BODY: RequestBody;
}

impl Saved for NewTemplate {
    const BODY: RequestBody = RequestBody::TemplateCreation;
}

impl Saved for TemplateCreation {
    const BODY: RequestBody = RequestBody::TemplateCreation;
}

impl Saved for TemplateChanges {
    const BODY: RequestBody = RequestBody::TemplateUpdate;
}

/// A body whose content is not checked yet. Only the worker processes can check templates, and their errors are listed
/// together with the other validation errors.
pub struct Submission<T> {
    body: Value,
    problems: Problems,
    saved: PhantomData<T>,
}

impl<T: Saved> Submission<T> {
    /// Parses a body. Fails only if it is not JSON; other validation errors are returned by [`Self::finish`].
    pub fn read(body: &[u8]) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let Some(Body { mut value, data }) = json::parse(body, &LAYOUT, &mut problems) else {
            return Err(problems.sorted(&Value::Null));
        };
        T::BODY.check(&value, &mut problems);
        check_content_size(&value["template"]["content"], CONTENT, &mut problems);
        if let Some(data) = data.get(PREVIEW_CONTEXT).filter(|_| !problems.within(PREVIEW_CONTEXT)) {
            value["template"]["preview_context"] = preview_context(data, &mut problems);
        }
        if let Some(written) = value["template"]
            .get("translations")
            .filter(|_| !problems.within(TRANSLATIONS))
        {
            Translations::parse(written, TRANSLATIONS, &mut problems);
        }
        Ok(Self {
            body: value,
            problems,
            saved: PhantomData,
        })
    }

    /// Returns the content, or `None` if there is none or it has other validation errors.
    pub fn content(&self) -> Option<&str> {
        let content = self.body["template"]["content"].as_str();
        content.filter(|_| !self.problems.within(CONTENT) && !self.problems.is_full())
    }

    /// Adds a validation error.
    pub fn refuse(&mut self, problem: Problem) {
        self.problems.add(problem);
    }

    /// Returns the valid body. Fails with all validation errors, in the order of the document.
    pub fn finish(mut self) -> Result<T, Vec<Problem>> {
        if !self.problems.is_empty() {
            return Err(self.problems.sorted(&self.body));
        }
        serde_json::from_value(self.body["template"].take())
            .map_err(|error| vec![Problem::invalid("", error.to_string())])
    }
}

/// Parses a preview context; adds a validation error if it is too long.
fn preview_context(data: &RawValue, problems: &mut Problems) -> Value {
    let read = || {
        let context: Value = serde_json::from_str(data.get())?;
        let bytes = written_bytes(&context)?;
        Ok((context, bytes))
    };
    match read() {
        Ok((context, ..=LONGEST_PREVIEW_CONTEXT)) => return context,
        Ok((_, bytes)) => {
            let detail = format!("Must have at most {LONGEST_PREVIEW_CONTEXT} bytes as JSON; has {bytes}");
            problems.add(Problem::invalid(PREVIEW_CONTEXT, detail));
        }
        Err(error) => {
            let error: serde_json::Error = error;
            problems.add(Problem::invalid(PREVIEW_CONTEXT, error.to_string()));
        }
    }
    Value::Null
}

/// Returns the size of a value as JSON without whitespace, in bytes.
fn written_bytes(value: &impl Serialize) -> Result<usize, serde_json::Error> {
    let mut written = CountingWriter(0);
    serde_json::to_writer(&mut written, value)?;
    Ok(written.0)
}

/// Counts bytes and discards them.
struct CountingWriter(usize);

impl io::Write for CountingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Checks the size of a content in bytes, because the schema counts characters.
pub fn check_content_size(content: &Value, pointer: &str, problems: &mut Problems) {
    let bytes = content.as_str().map_or(0, str::len);
    if bytes > LONGEST_CONTENT {
        let detail = format!("Must have at most {LONGEST_CONTENT} bytes; has {bytes}");
        problems.add(Problem::invalid(pointer, detail));
    }
}

/// Adds the validation errors of the member `translations` of a body, unless it has others.
pub fn check_translations(body: &Value, problems: &mut Problems) {
    const POINTER: &str = "/translations";
    if let Some(written) = body.get("translations").filter(|_| !problems.within(POINTER)) {
        Translations::parse(written, POINTER, problems);
    }
}

/// Checks the size of the unsaved contents of partials, at `/partials`, in bytes.
pub fn check_partials_size(partials: &Value, problems: &mut Problems) {
    let contents = partials.as_object().into_iter().flat_map(|partials| partials.values());
    let bytes: usize = contents.filter_map(Value::as_str).map(str::len).sum();
    if bytes > LONGEST_CONTENT {
        let detail = format!("Must have at most {LONGEST_CONTENT} bytes together; have {bytes}");
        problems.add(Problem::invalid("/partials", detail));
    }
}

/// The versions that a client expects to be published when it changes a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// Any version.
    Any,
    /// One of these versions.
    OneOf(Vec<i32>),
}

impl ExpectedVersion {
    /// Returns whether the published version is expected.
    pub fn includes(&self, version: i32) -> bool {
        match self {
            Self::Any => true,
            Self::OneOf(versions) => versions.contains(&version),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn assert_problems<T: Saved>(body: &Value, expected: &[&str]) {
        let submission =
            Submission::<T>::read(body.to_string().as_bytes()).unwrap_or_else(|problems| panic!("{problems:?}"));
        let found = submission.finish().err().unwrap_or_default();
        let pointers: Vec<_> = found.iter().map(|problem| problem.pointer.as_str()).collect();
        assert_eq!(pointers, expected, "{found:#?}");
    }

    #[test]
    fn creation_needs_name_and_content() {
        assert_problems::<NewTemplate>(&json!({}), &["/template"]);
        assert_problems::<NewTemplate>(&json!({"template": {}}), &["/template/name", "/template/content"]);
        assert_problems::<NewTemplate>(&json!({"template": {"name": "n", "content": "c"}}), &[]);
        let all = json!({"template": {"name": "n", "content": "c", "preview_context": {"a": [1]}}});
        assert_problems::<NewTemplate>(&all, &[]);
    }

    #[test]
    fn an_update_takes_any_subset() {
        assert_problems::<TemplateChanges>(&json!({}), &["/template"]);
        for sound in [
            json!({}),
            json!({"name": "n"}),
            json!({"content": "c"}),
            json!({"preview_context": {}}),
        ] {
            assert_problems::<TemplateChanges>(&json!({"template": sound}), &[]);
        }
    }

    #[test]
    fn every_fault_is_listed_where_it_is() {
        let body = json!({
            "template": {"preview_context": [], "name": "", "content": "", "id": 1},
            "bogus": 1,
        });
        let expected = [
            "/template/preview_context",
            "/template/name",
            "/template/content",
            "/template/id",
            "/bogus",
        ];
        assert_problems::<NewTemplate>(&body, &expected);
        assert_problems::<TemplateChanges>(&body, &expected);
        for wrong in [json!(null), json!([]), json!("x")] {
            assert_problems::<TemplateChanges>(&json!({"template": wrong}), &["/template"]);
            assert_problems::<TemplateChanges>(
                &json!({"template": {"name": wrong, "content": null}}),
                &if wrong == "x" {
                    vec!["/template/content"]
                } else {
                    vec!["/template/name", "/template/content"]
                },
            );
        }
    }

    #[test]
    fn bounds() {
        let with = |name: &str, value: Value| json!({"template": {name: value}});
        let check = |name: &str, value: Value, sound: bool| {
            let pointer = format!("/template/{name}");
            let expected: &[&str] = if sound { &[] } else { &[&pointer] };
            assert_problems::<TemplateChanges>(&with(name, value), expected);
        };
        check("name", "ä".repeat(200).into(), true);
        check("name", "ä".repeat(201).into(), false);
        check("name", "a\u{0}".into(), false);
        check("name", "a\nb".into(), false);
        check("content", "ä".repeat(1 << 20).into(), true);
        check("content", format!("{}a", "ä".repeat(1 << 20)).into(), false);
        check("content", "a\u{0}".into(), false);
        check("content", "\n".into(), true);
        // {"x":"…"} adds eight bytes to the text.
        check("preview_context", json!({"x": "a".repeat((256 << 10) - 8)}), true);
        check("preview_context", json!({"x": "a".repeat((256 << 10) - 7)}), false);
        check("preview_context", json!({"x": "\u{0}"}), true);
        let many = with("preview_context", json!({"x": vec![1; MOST_PREVIEW_VALUES]})).to_string();
        let problems = Submission::<TemplateChanges>::read(many.as_bytes())
            .err()
            .unwrap_or_default();
        assert_eq!(problems[0].pointer, PREVIEW_CONTEXT);
    }
}
