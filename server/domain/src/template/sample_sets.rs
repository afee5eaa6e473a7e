//! Named sets of sample data. The first one, [`DEFAULT_SET`], is the preview context, which each version has. The others
//! belong to the template, whatever its version.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::{
    editor::{DEFAULT_SET, LONGEST_SET_NAME, MOST_SET_BYTES, MOST_SETS, SampleSet, SampleSetProblem},
    line::line,
    template::{LONGEST_PREVIEW_CONTEXT, MOST_PREVIEW_VALUES, written_bytes},
    validation::json,
};

/// The name of a set other than the first one: a line of 1 to 64 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// A set other than the first one.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedSet {
    pub name: SetName,
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
}
