//! The destination of a document in a client's bucket.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::validation::{Problem, quote};

/// Maximum length of a bucket's name, in bytes.
const LONGEST_BUCKET: usize = 222;
/// Maximum length of an object's name, in bytes, in both kinds of stores.
const LONGEST_PATH: usize = 1024;

/// A kind of object store. The names are used in requests, responses and the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Amazon S3, or an S3-compatible store.
    AwsS3,
    GoogleCloudStorage,
}

/// An object in a client's bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destination {
    pub provider: Provider,
    pub bucket: String,
    /// The object's name, used verbatim: placeholders are not expanded.
    pub path: String,
}

impl Destination {
    /// Returns the validation errors of a destination at `pointer`.
    pub fn problems(&self, pointer: &str) -> Vec<Problem> {
        let named = [
            ("bucket", bucket_problem(&self.bucket), &self.bucket),
            ("path", path_problem(&self.path), &self.path),
        ];
        let problems = named.into_iter().filter_map(|(name, reason, value)| {
            let detail = format!("{}; got {}", reason?, quote(value));
            Some(Problem::invalid(format!("{pointer}/{name}"), detail))
        });
        problems.collect()
    }
}

fn bucket_problem(bucket: &str) -> Option<String> {
    let odd = |character: char| character.is_control() || character.is_whitespace() || character == '/';
    if bucket.len() > LONGEST_BUCKET {
        Some(format!("Must have at most {LONGEST_BUCKET} bytes"))
    } else if bucket.contains(odd) {
        Some("Must be the name of a bucket, without spaces and slashes".into())
    } else {
        None
    }
}

/// Returns why a text can't be the name of an object; `None` if it can.
pub(crate) fn path_problem(path: &str) -> Option<String> {
    if path.len() > LONGEST_PATH {
        Some(format!("Must have at most {LONGEST_PATH} bytes"))
    } else if path.contains(char::is_control) {
        Some("Must not contain control characters".into())
    } else if path.split('/').any(|segment| segment == "..") {
        Some("Must not contain the segment ..".into())
    } else if path.ends_with('/') {
        Some("Must end with the name of a file".into())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers(bucket: &str, path: &str) -> Vec<String> {
        let destination = Destination {
            provider: Provider::AwsS3,
            bucket: bucket.into(),
            path: path.into(),
        };
        let problems = destination.problems("/destination");
        problems.into_iter().map(|problem| problem.pointer).collect()
    }

    #[test]
    fn what_stores_take() {
        for path in ["a.pdf", "2026/11/ä b.pdf", "..a/b..c/…", "{{ name }}.pdf", "/a"] {
            assert_eq!(pointers("invoices.example.com", path), [""; 0], "{path}");
        }
        for path in [
            "..",
            "a/../b.pdf",
            "../a",
            "a/..",
            "a\n.pdf",
            "a\u{0}",
            "folder/",
            &"x".repeat(1025),
        ] {
            assert_eq!(pointers("invoices", path), ["/destination/path"], "{path}");
        }
        for bucket in ["a b", "a/b", "a\tb", &"x".repeat(223)] {
            assert_eq!(pointers(bucket, "a.pdf"), ["/destination/bucket"], "{bucket}");
        }
    }
}
