//! Validation errors of request bodies: all at once, each with the JSON pointer of its member.

pub mod json;
pub mod schema;

use std::{borrow::Cow, collections::HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum number of errors in a response. Users don't read more, and searching for more costs time and memory.
const LISTED: usize = 200;
/// Maximum total size of the listed pointers in bytes, because each can be hundreds of kilobytes long.
const LISTED_POINTER_BYTES: usize = 256 << 10;

/// A validation error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// JSON Pointer (RFC 6901) of the member; empty for the whole body.
    pub pointer: String,
    /// The kind of error.
    pub title: Cow<'static, str>,
    /// What is allowed, and what was received.
    pub detail: String,
}

impl Problem {
    /// Creates the note that follows the `listed` errors if there may be more.
    pub(crate) fn more_than(listed: usize) -> Self {
        let (errors, these) = match listed {
            1 => ("error is".to_owned(), "it"),
            _ => (format!("{listed} errors are"), "these"),
        };
        Self {
            pointer: String::new(),
            title: "More errors".into(),
            detail: format!(
                "Only the first {errors} listed, and there may be more: correct {these} and send the request again"
            ),
        }
    }

    /// Creates an error for a member with an invalid value.
    pub fn invalid(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            title: "Invalid value".into(),
            detail: detail.into(),
        }
    }
}

/// The validation errors of a body, with at most one per pointer: the first one found. After 200 errors, further ones
/// are only noted.
#[derive(Debug, Default)]
pub struct Problems {
    found: Vec<Problem>,
    pointers: HashSet<String>,
    pointer_bytes: usize,
    /// Whether there are more errors than listed.
    cut: bool,
}

impl Problems {
    /// Adds an error, unless its member has one already.
    pub fn add(&mut self, problem: Problem) {
        self.add_with(|| problem);
    }

    /// Like [`Self::add`], but creates the error only if it will be listed.
    pub fn add_with(&mut self, problem: impl FnOnce() -> Problem) {
        if self.is_full() {
            self.cut = true;
            return;
        }
        let problem = problem();
        if self.pointers.insert(problem.pointer.clone()) {
            self.pointer_bytes += problem.pointer.len();
            self.found.push(problem);
        }
    }

    /// Returns a value, or adds the reason why the member at a pointer has none.
    pub fn valid<T>(&mut self, pointer: &str, value: Result<T, String>) -> Option<T> {
        value.map_err(|reason| self.add(Problem::invalid(pointer, reason))).ok()
    }

    /// Returns whether no further errors will be listed.
    pub fn is_full(&self) -> bool {
        self.found.len() >= LISTED || self.pointer_bytes >= LISTED_POINTER_BYTES
    }

    /// Returns whether a member, or anything within it, has an error.
    pub fn within(&self, pointer: &str) -> bool {
        self.found.iter().any(|problem| {
            problem
                .pointer
                .strip_prefix(pointer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns the errors in the order of the document, with missing members last. At most 200, followed by a note if
    /// there may be more.
    pub fn sorted(mut self, body: &Value) -> Vec<Problem> {
        self.found.sort_by_cached_key(|problem| place(body, &problem.pointer));
        if self.cut {
            self.found.push(Problem::more_than(self.found.len()));
        }
        self.found
    }
}

/// Returns the position among its siblings for each step of a pointer.
fn place(body: &Value, pointer: &str) -> Vec<usize> {
    let mut value = Some(body);
    pointer
        .split('/')
        .skip(1)
        .map(|step| {
            let position = match value {
                Some(Value::Object(members)) => {
                    let name = step.replace("~1", "/").replace("~0", "~");
                    value = members.get(&name);
                    members.keys().position(|key| *key == name)
                }
                Some(Value::Array(items)) => {
                    let index = step.parse().ok();
                    value = index.and_then(|index: usize| items.get(index));
                    index
                }
                _ => None,
            };
            position.unwrap_or(usize::MAX)
        })
        .collect()
}

/// Returns the pointer of a member (RFC 6901).
pub fn member(parent: &str, name: &str) -> String {
    format!("{parent}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Truncates a text to 60 characters for a message, in quotation marks.
pub fn quote(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut characters = text.chars();
    let shown: String = characters.by_ref().take(SHOWN).collect();
    if characters.next().is_some() {
        format!("{shown:?}…")
    } else {
        format!("{shown:?}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pointers(problems: Vec<Problem>) -> Vec<String> {
        problems.into_iter().map(|problem| problem.pointer).collect()
    }

    #[test]
    fn faults_come_in_the_order_of_the_document() {
        let mut problems = Problems::default();
        for pointer in ["/missing", "/b", "/a/1", "/a/0/x", "", "/c~1d"] {
            problems.add(Problem::invalid(pointer, ""));
        }
        let body = json!({"c/d": 0, "a": [{"x": 1}, 2], "b": 3});
        assert_eq!(
            pointers(problems.sorted(&body)),
            ["", "/c~1d", "/a/0/x", "/a/1", "/b", "/missing"]
        );
    }

    #[test]
    fn a_member_has_one_fault() {
        let mut problems = Problems::default();
        problems.add(Problem::invalid("/a", "first"));
        problems.add(Problem::invalid("/a", "second"));
        assert!(problems.within("/a") && problems.within("") && !problems.within("/ab") && !problems.within("/a/b"));
        let found = problems.sorted(&json!({}));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].detail, "first");
    }

    #[test]
    fn a_flood_of_faults_is_cut() {
        let mut problems = Problems::default();
        for index in 0..LISTED {
            problems.add(Problem::invalid(format!("/{index}"), ""));
        }
        assert!(problems.is_full());
        problems.add_with(|| panic!("nobody would see it"));
        let listed = problems.sorted(&json!([]));
        assert_eq!(listed.len(), LISTED + 1);
        assert!(listed[LISTED].detail.contains("first 200"), "{:?}", listed[LISTED]);
    }

    #[test]
    fn faults_at_endless_pointers_are_cut() {
        let mut problems = Problems::default();
        for index in 0..LISTED {
            problems.add(Problem::invalid(format!("/{}{index}", "x".repeat(100_000)), ""));
        }
        assert_eq!(problems.sorted(&json!([])).len(), 4);
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(quote("a\nb"), r#""a\nb""#);
        assert_eq!(quote(&"ä".repeat(100)).chars().count(), 63);
    }
}
