//! Requests for comparisons of a template's pages.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    allowed::{AllowedTemplates, NotAllowed},
    template::{check_content_size, check_partials_size, check_translations, translations::Translations},
    validation::{
        Problem, Problems,
        json::{self, Body, Layout},
        schema::RequestBody,
    },
};

const CONTENT: &str = "/content";
const CONTEXT: &str = "/context";
const NEWER: &str = "/newer";
/// JSON pointer of the name of a set.
pub const SAMPLE_SET: &str = "/sample_set";
/// Limits for bodies of requests.
const LAYOUT: Layout = Layout {
    data: &["context"],
    data_values: json::MOST_DATA_VALUES,
    list: None,
};

/// A valid request for a comparison of two versions of a template, or of a version with content that isn't saved.
#[derive(Debug)]
pub struct ComparisonRequest {
    /// Number of the older version. `None` is the published one.
    pub older: Option<i32>,
    pub newer: NewerSide,
    /// Data for both sides: a JSON object without whitespace. `None` is the sample set.
    pub context: Option<Box<RawValue>>,
    /// Name of the set of sample data. `None` is the first one.
    pub sample_set: Option<String>,
    /// Whether pictures of changed pages are requested.
    pub pictures: bool,
}

/// The newer side of a comparison.
#[derive(Debug)]
pub enum NewerSide {
    /// The number of a version.
    Version(i32),
    /// What would be published.
    Unsaved {
        /// `None` is the content of the published version.
        content: Option<String>,
        /// Contents that replace the published versions of partials, by handle.
        partials: BTreeMap<String, String>,
        /// `None` are those of the published version.
        translations: Option<Translations>,
    },
}

impl NewerSide {
    /// Returns the JSON pointer of the member that names or contains the newer side.
    pub fn pointer(&self) -> &'static str {
        match self {
            Self::Version(_) => NEWER,
            Self::Unsaved { .. } => CONTENT,
        }
    }
}

#[derive(Deserialize)]
struct WireComparison {
    older: Option<i32>,
    newer: Option<i32>,
    content: Option<String>,
    #[serde(default)]
    partials: BTreeMap<String, String>,
    translations: Option<Translations>,
    sample_set: Option<String>,
    #[serde(default)]
    pictures: bool,
}

impl ComparisonRequest {
    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let Some(Body { value: body, data }) = json::parse(body, &LAYOUT, &mut problems) else {
            return Err(problems.sorted(&Value::Null));
        };
        RequestBody::TemplateComparison.check(&body, &mut problems);
        check_content_size(&body["content"], CONTENT, &mut problems);
        check_partials_size(&body["partials"], &mut problems);
        check_translations(&body, &mut problems);
        for (member, other) in [
            ("newer", "content"),
            ("newer", "partials"),
            ("newer", "translations"),
            ("context", "sample_set"),
        ] {
            if !body[member].is_null() && !body[other].is_null() {
                let detail = format!("Can't be combined with {member}");
                problems.add(Problem::invalid(format!("/{other}"), detail));
            }
        }
        if !problems.is_empty() {
            return Err(problems.sorted(&body));
        }
        let wire: WireComparison =
            serde_json::from_value(body).map_err(|error| vec![Problem::invalid("", error.to_string())])?;
        Ok(Self {
            older: wire.older,
            newer: match wire.newer {
                Some(number) => NewerSide::Version(number),
                None => NewerSide::Unsaved {
                    content: wire.content,
                    partials: wire.partials,
                    translations: wire.translations,
                },
            },
            context: data.get(CONTEXT).map(json::compact),
            sample_set: wire.sample_set,
            pictures: wire.pictures,
        })
    }

    /// Checks a request against a key's list of templates. Refuses content of templates and partials.
    pub fn check_templates(&self, allowed: &AllowedTemplates) -> Result<(), NotAllowed> {
        let is_saved = match &self.newer {
            NewerSide::Version(_) => true,
            NewerSide::Unsaved {
                content,
                partials,
                translations,
            } => content.is_none() && partials.is_empty() && translations.is_none(),
        };
        if is_saved || allowed.everything() {
            Ok(())
        } else {
            Err(NotAllowed::new(
                "other content, as in /content, /partials and /translations",
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::template::LONGEST_CONTENT;

    fn pointers(body: &Value) -> Vec<String> {
        let refused = ComparisonRequest::parse(body.to_string().as_bytes()).expect_err("problems");
        refused.into_iter().map(|problem| problem.pointer).collect()
    }

    #[test]
    fn each_wrong_member_is_named() {
        assert_eq!(
            pointers(&json!({"older": 0, "newer": "2", "context": [], "pictures": 1, "x": 1})),
            ["/older", "/newer", "/context", "/pictures", "/x"]
        );
        assert_eq!(pointers(&json!({"newer": 2, "content": ""})), ["/content"]);
        assert_eq!(pointers(&json!({"newer": 2, "partials": {}})), ["/partials"]);
        assert_eq!(pointers(&json!({"newer": 2, "translations": {}})), ["/translations"]);
        assert_eq!(
            pointers(&json!({"translations": {"de": {"total": 1}}})),
            ["/translations/de/total"]
        );
        assert_eq!(pointers(&json!({"context": {}, "sample_set": "Long"})), ["/sample_set"]);
        assert_eq!(
            pointers(&json!({"partials": {"Foot er": "", "footer": 1}})),
            ["/partials/Foot er", "/partials/footer"]
        );
        let long = "x".repeat(LONGEST_CONTENT);
        assert_eq!(pointers(&json!({"partials": {"a": long, "b": "x"}})), ["/partials"]);
        let many: serde_json::Map<_, _> = (0..51).map(|number| (format!("p{number}"), json!("x"))).collect();
        assert_eq!(pointers(&json!({"partials": many})), ["/partials"]);
    }

    #[test]
    fn nothing_is_required() {
        let request = ComparisonRequest::parse(b"{}").expect("a request");
        assert!(matches!(
            request.newer,
            NewerSide::Unsaved { content: None, partials, translations: None } if partials.is_empty()
        ));
        let request = ComparisonRequest::parse(br#"{"newer": 3, "context": {"a": 1.0}}"#).expect("a request");
        assert!(matches!(request.newer, NewerSide::Version(3)));
        assert_eq!(request.context.expect("data").get(), r#"{"a":1.0}"#);
    }
}
