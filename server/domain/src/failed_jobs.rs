//! Dead letters, as operators see them: names of failed jobs, and stored errors.

use std::{fmt, str::FromStr};

use strum::VariantArray;
use time::OffsetDateTime;

use crate::{ids::AccountId, job::JobKind};

/// Maximum length of a stored error, in characters.
const LONGEST_ERROR: usize = 300;
/// Maximum number of names that are listed.
const LISTED: usize = 20;

/// Maximum number of jobs that one action retries or discards.
pub const MOST_AT_ONCE: u16 = 1000;

/// The name of a failed job: its kind, and the id of its subject. Formatted as `render.0190…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkName {
    pub kind: JobKind,
    /// The id of the render, delivery, mail, export, customer or meter event.
    pub id: String,
}

impl fmt::Display for WorkName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.kind.into_str(), self.id)
    }
}

/// The text is not the name of a failed job.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownWork;

impl FromStr for WorkName {
    type Err = UnknownWork;

    fn from_str(text: &str) -> Result<Self, UnknownWork> {
        let (kind, id) = text.split_once('.').ok_or(UnknownWork)?;
        Ok(Self {
            kind: kind.parse().map_err(|_| UnknownWork)?,
            id: id.to_owned(),
        })
    }
}

/// A failed job, or other work that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedJob {
    pub name: WorkName,
    /// The account and its owner.
    pub account: Option<Customer>,
    /// Kind of a mail; `None` for other work.
    pub about: Option<String>,
    /// Domain of a mail's recipient; `None` for other work.
    pub receiver: Option<String>,
    /// Reason of the last failure; `None` if it wasn't recorded.
    pub error: Option<String>,
    /// Number of attempts.
    pub tries: i32,
    /// Time of the last failure.
    pub failed_at: OffsetDateTime,
    /// When it will be retried; `None` if it won't.
    pub again_at: Option<OffsetDateTime>,
    /// Whether a worker holds it.
    pub in_hand: bool,
}

/// The account that work belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    pub id: AccountId,
    /// May be empty.
    pub name: String,
    /// Email address of the owner.
    pub owner: Option<String>,
}

impl Customer {
    /// Returns the account's name or, if that is empty, its owner's email address.
    pub fn called(&self) -> &str {
        match &self.owner {
            Some(owner) if self.name.is_empty() => owner,
            _ => &self.name,
        }
    }
}

/// The cursor of a page of dead letters: the page starts after this job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkCursor {
    /// The time of the failure, with the precision of the database.
    pub failed_at: OffsetDateTime,
    pub name: WorkName,
}

impl fmt::Display for WorkCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let microseconds = self.failed_at.unix_timestamp_nanos() / 1000;
        write!(formatter, "{microseconds}.{}", self.name)
    }
}

impl FromStr for WorkCursor {
    type Err = UnknownWork;

    fn from_str(text: &str) -> Result<Self, UnknownWork> {
        let (microseconds, name) = text.split_once('.').ok_or(UnknownWork)?;
        let microseconds: i64 = microseconds.parse().map_err(|_| UnknownWork)?;
        let failed_at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(microseconds) * 1000);
        Ok(Self {
            failed_at: failed_at.map_err(|_| UnknownWork)?,
            name: name.parse()?,
        })
    }
}

/// Result of retrying or discarding a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// Number of selected jobs.
    pub meant: usize,
    /// Number of retried or discarded jobs. A worker holds the others, or they had ended.
    pub done: usize,
}

/// Formats an error for storage: one line of at most 300 characters.
pub fn kept_error(error: &str) -> String {
    let line = error
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    line.take(LONGEST_ERROR).collect()
}

/// Returns the number of jobs of each kind: `2 renders, 1 mail`.
pub fn counted(names: &[WorkName]) -> String {
    let counts = JobKind::VARIANTS.iter().filter_map(|&kind| {
        let count = names.iter().filter(|name| name.kind == kind).count();
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {}{plural}", kind.into_str()))
    });
    counts.collect::<Vec<_>>().join(", ")
}

/// Returns the names of the first 20 jobs, and the number of the others.
pub fn listed(names: &[WorkName]) -> String {
    let shown: Vec<_> = names.iter().take(LISTED).map(ToString::to_string).collect();
    match names.len().saturating_sub(LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A filter for failed jobs; `None` matches everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct FailedJobFilter {
    pub kind: Option<JobKind>,
    pub account: Option<AccountId>,
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    fn name(text: &str) -> WorkName {
        text.parse().expect("a name")
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in ["render.0190", "customer.cus_1.2"] {
            assert_eq!(name(text).to_string(), text);
        }
        for text in ["", "render", "letter.1", ".1"] {
            assert_eq!(text.parse::<WorkName>(), Err(UnknownWork), "{text}");
        }
    }

    #[test]
    fn a_cursor_keeps_the_moment_exactly() {
        let cursor = WorkCursor {
            failed_at: datetime!(2026-11-22 17:00:00.123_456 UTC),
            name: name("mail.1"),
        };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in ["", "1", "x.mail.1", "9223372036854775807.mail.1"] {
            assert_eq!(text.parse::<WorkCursor>(), Err(UnknownWork), "{text}");
        }
    }

    #[test]
    fn errors_are_kept_as_a_line_of_bounded_length() {
        assert_eq!(kept_error("a\r\nb\0"), "a  b ");
        assert_eq!(kept_error(&"ä".repeat(400)).chars().count(), LONGEST_ERROR);
    }

    #[test]
    fn work_is_counted_by_kind() {
        let names = ["mail.1", "render.2", "render.3"].map(name);
        assert_eq!(counted(&names), "2 renders, 1 mail");
        assert_eq!(counted(&[]), "");
        assert_eq!(listed(&names), "mail.1, render.2, render.3");
        let many: Vec<_> = (0..22).map(|number| name(&format!("mail.{number}"))).collect();
        assert!(listed(&many).ends_with(", mail.19 and 2 more"), "{}", listed(&many));
    }
}
