//! Stored templates: what a client may save, and what is kept.

pub mod demos;
pub mod labels;
pub mod places;
pub mod preview;
pub mod settings;

use std::{io, marker::PhantomData, sync::LazyLock};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, value::RawValue};
use time::OffsetDateTime;

use crate::domain::{
    ids::{TemplateId, UserId},
    validation::{
        Fault, Faults,
        json::{self, Body, Layout},
        schema::Schema,
    },
};

/// Most characters of a template's name.
pub const LONGEST_NAME: usize = 200;
/// Most bytes of a template's content, as UTF-8.
const LONGEST_CONTENT: usize = 2 << 20;
/// Most bytes of a preview context, as JSON without blanks.
const LONGEST_PREVIEW_CONTEXT: usize = 256 << 10;
/// Most values of a preview context: no more have room in so many bytes.
pub const MOST_PREVIEW_VALUES: usize = LONGEST_PREVIEW_CONTEXT / 2;
const PREVIEW_CONTEXT: &str = "/template/preview_context";
/// What the bodies of templates hold.
const LAYOUT: Layout = Layout {
    data: &["template", "preview_context"],
    data_values: MOST_PREVIEW_VALUES,
    list: None,
};

static CREATION: LazyLock<Schema> = LazyLock::new(|| Schema::named("TemplateCreation"));
static UPDATE: LazyLock<Schema> = LazyLock::new(|| Schema::named("TemplateUpdate"));

/// Does at start what the first request would else wait for.
pub fn compile_schemas() {
    LazyLock::force(&CREATION);
    LazyLock::force(&UPDATE);
    preview::compile_schema();
    settings::compile_schema();
}

/// A template as its published version has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// Identifier.
    pub id: TemplateId,
    /// A label; other templates may have the same.
    pub name: String,
    /// HTML with places to fill.
    pub content: String,
    /// Sample data; for previews only.
    pub preview_context: Map<String, Value>,
    /// The published version.
    pub version: i32,
    /// When it was created.
    pub inserted_at: OffsetDateTime,
    /// When the published version became it.
    pub updated_at: OffsetDateTime,
}

/// One state in which a template was saved, as lists show it.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionSummary {
    /// From 1.
    pub number: i32,
    /// As saved.
    pub name: String,
    /// Whether it is the one that is used.
    pub published: bool,
    /// Who saved it; nobody once the user is deleted.
    pub created_by: Option<UserId>,
    /// What they call themselves, or else their address.
    pub author: Option<String>,
    /// When it was saved.
    pub inserted_at: OffsetDateTime,
}

/// One state in which a template was saved.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateVersion {
    /// Which one.
    pub summary: VersionSummary,
    /// As saved.
    pub content: String,
    /// As saved.
    pub preview_context: Map<String, Value>,
}

/// The content of a version.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct NewTemplate {
    /// 1 to 200 characters.
    pub name: String,
    /// 1 character to 2 MiB.
    pub content: String,
    /// At most 256 KiB.
    #[serde(default)]
    pub preview_context: Map<String, Value>,
}

/// What an update changes; the rest stays.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TemplateChanges {
    name: Option<String>,
    content: Option<String>,
    preview_context: Option<Map<String, Value>>,
}

impl TemplateChanges {
    /// The template with the changes.
    pub fn applied_to(self, template: Template) -> NewTemplate {
        NewTemplate {
            name: self.name.unwrap_or(template.name),
            content: self.content.unwrap_or(template.content),
            preview_context: self.preview_context.unwrap_or(template.preview_context),
        }
    }
}

/// What the body of a request to save can be.
pub trait Saved: DeserializeOwned {
    /// What the body has to look like.
    fn schema() -> &'static Schema;
}

impl Saved for NewTemplate {
    fn schema() -> &'static Schema {
        &CREATION
    }
}

impl Saved for TemplateChanges {
    fn schema() -> &'static Schema {
        &UPDATE
    }
}

/// A body whose content may not be a template yet. Only the processes that fill templates can tell, and what they say has
/// to be listed with the other faults.
pub struct Submission<T> {
    body: Value,
    faults: Faults,
    saved: PhantomData<T>,
}

impl<T: Saved> Submission<T> {
    /// Reads a body. Fails only where it is no JSON.
    pub fn read(body: &[u8]) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults::default();
        let Some(Body { mut value, data }) = json::parse(body, &LAYOUT, &mut faults) else {
            return Err(faults.sorted(&Value::Null));
        };
        T::schema().check(&value, &mut faults);
        check_content_size(&value["template"]["content"], "/template/content", &mut faults);
        if let Some(data) = data.get(PREVIEW_CONTEXT).filter(|_| !faults.within(PREVIEW_CONTEXT)) {
            value["template"]["preview_context"] = preview_context(data, &mut faults);
        }
        Ok(Self {
            body: value,
            faults,
            saved: PhantomData,
        })
    }

    /// The content, if there is some and nothing else is wrong with it.
    pub fn content(&self) -> Option<&str> {
        let content = self.body["template"]["content"].as_str();
        content.filter(|_| !self.faults.within("/template/content") && !self.faults.is_full())
    }

    /// Notes that the content is no template.
    pub fn refuse_content(&mut self, fault: &platen_template::fault::Fault) {
        self.faults.add(faulty_template("/template/content", fault));
    }

    /// What is to be saved. Fails with every fault of the body, in the order of the document.
    pub fn finish(mut self) -> Result<T, Vec<Fault>> {
        if !self.faults.is_empty() {
            return Err(self.faults.sorted(&self.body));
        }
        serde_json::from_value(self.body["template"].take())
            .map_err(|error| vec![Fault::invalid("", error.to_string())])
    }
}

/// Reads a preview context, and adds that it is too long.
fn preview_context(data: &RawValue, faults: &mut Faults) -> Value {
    let read = || {
        let context: Value = serde_json::from_str(data.get())?;
        let mut written = CountingWriter(0);
        serde_json::to_writer(&mut written, &context)?;
        Ok((context, written.0))
    };
    match read() {
        Ok((context, ..=LONGEST_PREVIEW_CONTEXT)) => return context,
        Ok((_, bytes)) => {
            let detail = format!("Must have at most {LONGEST_PREVIEW_CONTEXT} bytes as JSON; has {bytes}");
            faults.add(Fault::invalid(PREVIEW_CONTEXT, detail));
        }
        Err(error) => {
            let error: serde_json::Error = error;
            faults.add(Fault::invalid(PREVIEW_CONTEXT, error.to_string()));
        }
    }
    Value::Null
}

/// Keeps nothing but the number of bytes.
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

/// Adds what the schema can't say of a content: it counts characters.
fn check_content_size(content: &Value, pointer: &str, faults: &mut Faults) {
    let bytes = content.as_str().map_or(0, str::len);
    if bytes > LONGEST_CONTENT {
        let detail = format!("Must have at most {LONGEST_CONTENT} bytes; has {bytes}");
        faults.add(Fault::invalid(pointer, detail));
    }
}

/// What is wrong with a template, at the member that holds it or names it.
pub fn faulty_template(pointer: impl Into<String>, fault: &platen_template::fault::Fault) -> Fault {
    let detail = match &fault.place {
        Some(place) => format!(
            "Line {}, column {}: {}; the line is: {}",
            place.line, place.column, fault.message, place.excerpt
        ),
        None => fault.message.clone(),
    };
    Fault {
        pointer: pointer.into(),
        title: "Faulty template".into(),
        detail,
    }
}

/// Which versions a client takes for the published one when it changes a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// Whichever it is.
    Any,
    /// One of these.
    OneOf(Vec<i32>),
}

impl ExpectedVersion {
    /// Whether the published version is as expected.
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
    fn assert_faults<T: Saved>(body: &Value, expected: &[&str]) {
        let submission =
            Submission::<T>::read(body.to_string().as_bytes()).unwrap_or_else(|faults| panic!("{faults:?}"));
        let found = submission.finish().err().unwrap_or_default();
        let pointers: Vec<_> = found.iter().map(|fault| fault.pointer.as_str()).collect();
        assert_eq!(pointers, expected, "{found:#?}");
    }

    #[test]
    fn creation_needs_name_and_content() {
        assert_faults::<NewTemplate>(&json!({}), &["/template"]);
        assert_faults::<NewTemplate>(&json!({"template": {}}), &["/template/name", "/template/content"]);
        assert_faults::<NewTemplate>(&json!({"template": {"name": "n", "content": "c"}}), &[]);
        let all = json!({"template": {"name": "n", "content": "c", "preview_context": {"a": [1]}}});
        assert_faults::<NewTemplate>(&all, &[]);
    }

    #[test]
    fn an_update_takes_any_subset() {
        assert_faults::<TemplateChanges>(&json!({}), &["/template"]);
        for sound in [
            json!({}),
            json!({"name": "n"}),
            json!({"content": "c"}),
            json!({"preview_context": {}}),
        ] {
            assert_faults::<TemplateChanges>(&json!({"template": sound}), &[]);
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
        assert_faults::<NewTemplate>(&body, &expected);
        assert_faults::<TemplateChanges>(&body, &expected);
        for wrong in [json!(null), json!([]), json!("x")] {
            assert_faults::<TemplateChanges>(&json!({"template": wrong}), &["/template"]);
            assert_faults::<TemplateChanges>(
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
            assert_faults::<TemplateChanges>(&with(name, value), expected);
        };
        check("name", "ä".repeat(200).into(), true);
        check("name", "ä".repeat(201).into(), false);
        check("name", "a\u{0}".into(), false);
        check("name", "a\nb".into(), false);
        check("content", "ä".repeat(1 << 20).into(), true);
        check("content", format!("{}a", "ä".repeat(1 << 20)).into(), false);
        check("content", "a\u{0}".into(), false);
        check("content", "\n".into(), true);
        // {"x":"…"} has eight bytes beside the text.
        check("preview_context", json!({"x": "a".repeat((256 << 10) - 8)}), true);
        check("preview_context", json!({"x": "a".repeat((256 << 10) - 7)}), false);
        check("preview_context", json!({"x": "\u{0}"}), true);
        let many = with("preview_context", json!({"x": vec![1; MOST_PREVIEW_VALUES]})).to_string();
        let faults = Submission::<TemplateChanges>::read(many.as_bytes())
            .err()
            .unwrap_or_default();
        assert_eq!(faults[0].pointer, PREVIEW_CONTEXT);
    }

    #[test]
    fn a_fault_of_the_language_is_listed_with_the_others() {
        let body = json!({"template": {"name": "", "content": "{{"}});
        let mut submission = Submission::<NewTemplate>::read(body.to_string().as_bytes()).unwrap_or_else(|_| panic!());
        assert_eq!(submission.content(), Some("{{"));
        let fault = platen_template::language::check("{{").expect_err("no template");
        submission.refuse_content(&fault);
        let faults = submission.finish().expect_err("faults");
        assert_eq!(faults.len(), 2);
        assert!(faults[1].detail.starts_with("Line 1, column "), "{faults:?}");
        assert!(faults[1].detail.ends_with("the line is: {{"), "{faults:?}");
    }
}
