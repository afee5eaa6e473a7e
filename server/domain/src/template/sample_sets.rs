//! Named sets of sample data. The first one, [`DEFAULT_SET`], is the preview context, which each version has. The others
//! belong to the template, whatever its version.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    editor::{DEFAULT_SET, LONGEST_SET_NAME, MOST_SET_BYTES, MOST_SETS, SampleSet, SampleSetProblem},
    line::line,
    template::{LONGEST_PREVIEW_CONTEXT, MOST_PREVIEW_VALUES, written_bytes},
    validation::{
        Problem, Problems,
        json::{self, Body, Layout},
        schema::RequestBody,
    },
};

/// Limits for bodies of requests.
const LAYOUT: Layout = Layout {
    data: &["samples", "*", "context"],
    data_values: json::MOST_DATA_VALUES,
    list: Some(("samples", MOST_SETS - 1)),
};

/// The name of a set other than the first one: a line of 1 to 64 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SetName(String);

impl SetName {
    /// Parses a name. Returns `None` if it is empty, too long or reserved, or contains control characters.
    pub fn parse(text: &str) -> Option<Self> {
        line(text, LONGEST_SET_NAME)
            .filter(|name| !name.eq_ignore_ascii_case(DEFAULT_SET))
            .map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }

    /// Returns what the names of a template's sets must differ in.
    fn key(&self) -> String {
        self.0.to_lowercase()
    }
}

/// A set other than the first one, as the API serializes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedSet {
    pub name: SetName,
    #[serde(rename = "context")]
    pub data: Map<String, Value>,
}

impl NamedSet {
    /// Returns the set as the editor shows it.
    pub fn shown(&self) -> SampleSet {
        SampleSet {
            name: self.name.as_str().to_owned(),
            data: indented(&self.data),
        }
    }
}

/// All sets of a template.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleSets {
    /// Data of the first set.
    pub default: Map<String, Value>,
    pub others: Vec<NamedSet>,
}

impl SampleSets {
    /// Parses the sets of a form. The first one must be [`DEFAULT_SET`].
    pub fn parse(sets: &[SampleSet]) -> Result<Self, SampleSetProblem> {
        let Some((first, others)) = sets.split_first().filter(|(first, _)| first.name == DEFAULT_SET) else {
            return Err(SampleSetProblem::Unreadable);
        };
        if sets.len() > MOST_SETS {
            return Err(SampleSetProblem::TooMany);
        }
        let default = parse_data(&first.data).ok_or(SampleSetProblem::Data { number: 1 })?;
        let others = others.iter().zip(2..).map(|(set, number)| {
            let name = SetName::parse(&set.name).ok_or(SampleSetProblem::Name { number })?;
            let data = parse_data(&set.data).ok_or(SampleSetProblem::Data { number })?;
            Ok(NamedSet { name, data })
        });
        let others = others.collect::<Result<Vec<_>, _>>()?;
        check(&others)?;
        Ok(Self { default, others })
    }
}

/// A valid request that replaces the sets of a template other than the first one.
#[derive(Debug)]
pub struct SampleSetReplacement(pub Vec<NamedSet>);

impl SampleSetReplacement {
    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let Some(Body { value: body, data }) = json::parse(body, &LAYOUT, &mut problems) else {
            return Err(problems.sorted(&Value::Null));
        };
        RequestBody::TemplateSamplesUpdate.check(&body, &mut problems);
        if !problems.is_empty() {
            return Err(problems.sorted(&body));
        }
        let mut sets = Vec::new();
        for (index, set) in body["samples"].as_array().into_iter().flatten().enumerate() {
            let pointer = |member| format!("/samples/{index}/{member}");
            let name = SetName::parse(set["name"].as_str().unwrap_or_default());
            if name.is_none() {
                let detail = format!(
                    "Must be a line of at most {LONGEST_SET_NAME} characters other than {DEFAULT_SET}, the name of the \
                     template's preview_context"
                );
                problems.add(Problem::invalid(pointer("name"), detail));
            }
            let text = data.get(&pointer("context")).map_or("", |data| data.get());
            let data = parse_data(text);
            if data.is_none() {
                let limit = LONGEST_PREVIEW_CONTEXT / 1024;
                let detail = format!("Must have at most {limit} KiB without whitespace");
                problems.add(Problem::invalid(pointer("context"), detail));
            }
            sets.extend(name.zip(data).map(|(name, data)| NamedSet { name, data }));
        }
        if problems.is_empty()
            && let Err(problem) = check(&sets)
        {
            problems.add(refusal(problem));
        }
        if problems.is_empty() {
            Ok(Self(sets))
        } else {
            Err(problems.sorted(&body))
        }
    }
}

/// Returns the validation error for sets that can't be stored together.
fn refusal(problem: SampleSetProblem) -> Problem {
    // Numbers are from 1, and the first set is not in the list.
    if let Some(index) = problem.number().and_then(|number| number.checked_sub(2)) {
        let detail = "Must differ from the names of the sets before it, in lower case, too";
        return Problem::invalid(format!("/samples/{index}/name"), detail);
    }
    let limit = MOST_SET_BYTES / 1024;
    Problem::invalid("/samples", format!("Must have at most {limit} KiB of data together"))
}

/// A change of the sets of a template, other than the first one.
#[derive(Debug, Clone, PartialEq)]
pub enum SetChanges {
    /// None.
    Unchanged,
    /// These sets replace all.
    Replaced(Vec<NamedSet>),
    /// The data of one set changes, and the first set stays.
    One(NamedSet),
}

impl SetChanges {
    /// Applies the change to the stored sets.
    pub fn applied_to(self, mut stored: Vec<NamedSet>) -> Result<Vec<NamedSet>, SampleSetProblem> {
        match self {
            Self::Unchanged => Ok(stored),
            Self::Replaced(sets) => Ok(sets),
            Self::One(changed) => {
                let set = stored.iter_mut().find(|set| set.name == changed.name);
                set.ok_or(SampleSetProblem::Gone)?.data = changed.data;
                check(&stored)?;
                Ok(stored)
            }
        }
    }
}

/// Parses the data of a set. Returns `None` if it is no object, or too large.
pub fn parse_data(text: &str) -> Option<Map<String, Value>> {
    let data = json::read_data(text, MOST_PREVIEW_VALUES).ok()?;
    let data: Map<String, Value> = serde_json::from_str(data.get()).ok()?;
    (written_bytes(&data).ok()? <= LONGEST_PREVIEW_CONTEXT).then_some(data)
}

/// Returns data as indented JSON.
pub fn indented(data: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(data).unwrap_or_default()
}

/// Checks what concerns all sets together.
fn check(others: &[NamedSet]) -> Result<(), SampleSetProblem> {
    let mut names = HashSet::new();
    for (set, number) in others.iter().zip(2..) {
        if !names.insert(set.name.key()) {
            return Err(SampleSetProblem::NameTaken { number });
        }
    }
    let bytes: usize = others.iter().filter_map(|set| written_bytes(&set.data).ok()).sum();
    if bytes > MOST_SET_BYTES {
        return Err(SampleSetProblem::TooLarge);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, data: &str) -> SampleSet {
        SampleSet {
            name: name.to_owned(),
            data: data.to_owned(),
        }
    }

    fn problem(others: &[SampleSet]) -> Option<SampleSetProblem> {
        let sets = [&[set(DEFAULT_SET, "{}")], others].concat();
        SampleSets::parse(&sets).err()
    }

    #[test]
    fn names_are_lines_that_differ() {
        assert_eq!(
            problem(&[set(" Long \n names ", "{}"), set(&"ä".repeat(64), "{}")]),
            None
        );
        for name in ["", " ", "default", "Default", &"ä".repeat(65), "a\u{1b}"] {
            assert_eq!(
                problem(&[set("a", "{}"), set(name, "{}")]),
                Some(SampleSetProblem::Name { number: 3 }),
                "{name}"
            );
        }
        assert_eq!(
            problem(&[set("Long", "{}"), set("long", "{}")]),
            Some(SampleSetProblem::NameTaken { number: 3 })
        );
    }

    #[test]
    fn data_is_an_object_within_its_limits() {
        for data in ["", "[]", "{", "1", "{\"a\": 1e999}"] {
            assert_eq!(
                problem(&[set("a", data)]),
                Some(SampleSetProblem::Data { number: 2 }),
                "{data}"
            );
            assert_eq!(
                SampleSets::parse(&[set(DEFAULT_SET, data)]),
                Err(SampleSetProblem::Data { number: 1 })
            );
        }
        let of_size = |bytes: usize| format!("{{ \"x\": \"{}\" }}", "a".repeat(bytes - 8));
        assert_eq!(problem(&[set("a", &of_size(256 << 10))]), None);
        assert_eq!(
            problem(&[set("a", &of_size((256 << 10) + 1))]),
            Some(SampleSetProblem::Data { number: 2 })
        );
        let many = |count: usize| (0..count).map(|number| set(&format!("{number}"), &of_size(256 << 10)));
        assert_eq!(problem(&many(4).collect::<Vec<_>>()), None);
        assert_eq!(problem(&many(5).collect::<Vec<_>>()), Some(SampleSetProblem::TooLarge));
    }

    #[test]
    fn there_are_at_most_twenty_and_the_first_one_is_the_default() {
        let sets = |count: usize| (0..count).map(|number| set(&format!("{number}"), "{}"));
        assert_eq!(problem(&sets(19).collect::<Vec<_>>()), None);
        assert_eq!(problem(&sets(20).collect::<Vec<_>>()), Some(SampleSetProblem::TooMany));
        for sets in [vec![], vec![set("a", "{}")]] {
            assert_eq!(SampleSets::parse(&sets), Err(SampleSetProblem::Unreadable));
        }
    }

    #[test]
    fn one_set_changes_if_it_exists() {
        let named = |name: &str, data: &str| NamedSet {
            name: SetName::parse(name).expect("a name"),
            data: parse_data(data).expect("an object"),
        };
        let stored = vec![named("a", "{}"), named("b", "{}")];
        let changed = named("b", "{\"x\": 1}");
        assert_eq!(
            SetChanges::One(changed.clone()).applied_to(stored.clone()),
            Ok(vec![named("a", "{}"), changed])
        );
        assert_eq!(
            SetChanges::One(named("c", "{}")).applied_to(stored.clone()),
            Err(SampleSetProblem::Gone)
        );
        assert_eq!(SetChanges::Unchanged.applied_to(stored.clone()), Ok(stored));
    }

    #[test]
    fn each_wrong_member_of_a_request_is_named() {
        let pointers = |samples: Value| {
            let body = serde_json::json!({ "samples": samples }).to_string();
            let refused = SampleSetReplacement::parse(body.as_bytes()).expect_err("problems");
            refused.into_iter().map(|problem| problem.pointer).collect::<Vec<_>>()
        };
        let of_size = |bytes: usize| serde_json::json!({ "x": "a".repeat(bytes - 8) });
        let set = |name: &str, context: Value| serde_json::json!({ "name": name, "context": context });
        let empty = || serde_json::json!({});
        assert_eq!(pointers(Value::Null), ["/samples"]);
        assert_eq!(
            pointers(serde_json::json!([{"name": 1, "context": []}, {"x": 1}])),
            [
                "/samples/0/name",
                "/samples/0/context",
                "/samples/1/x",
                "/samples/1/name",
                "/samples/1/context"
            ]
        );
        assert_eq!(
            pointers(serde_json::json!([
                set("Default", empty()),
                set("a", of_size((256 << 10) + 1))
            ])),
            ["/samples/0/name", "/samples/1/context"]
        );
        assert_eq!(
            pointers(serde_json::json!([
                set("a", empty()),
                set("b", empty()),
                set("A", empty())
            ])),
            ["/samples/2/name"]
        );
        let many = |count: usize, bytes: usize| {
            let sets = (0..count).map(|number| set(&number.to_string(), of_size(bytes)));
            Value::Array(sets.collect())
        };
        assert_eq!(pointers(many(5, 256 << 10)), ["/samples"]);
        assert_eq!(pointers(many(20, 8)), ["/samples"]);
        let body = serde_json::json!({ "samples": many(19, 8) }).to_string();
        assert_eq!(SampleSetReplacement::parse(body.as_bytes()).expect("valid").0.len(), 19);
    }
}
