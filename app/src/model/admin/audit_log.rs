//! The operator audit log: actions of operators and of the service on accounts.

use platen_domain::audit_log::AuditRow;
use time::{Date, format_description::FormatItem, macros::format_description};

/// Format of days in query parameters.
pub const SEARCHED_DAY: &[FormatItem] = format_description!("[year]-[month]-[day]");

/// A search in the audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditSearch {
    /// Part of an account's name or id, of an operator's email address, or of a reason.
    pub text: String,
    /// The value for a kind of event.
    pub kind: Option<String>,
    /// First day, in UTC.
    pub from: Option<Date>,
    /// Last day, in UTC.
    pub to: Option<Date>,
    /// Cursor of the page.
    pub after: Option<String>,
}

impl AuditSearch {
    /// Reads the search from query parameters. Values that can't be parsed are ignored.
    pub fn read(value: impl Fn(&str) -> Option<String>) -> Self {
        let text = |name: &str| value(name).filter(|value| !value.is_empty());
        let date = |name: &str| text(name).and_then(|day| Date::parse(&day, SEARCHED_DAY).ok());
        Self {
            text: text("q").unwrap_or_default(),
            kind: text("kind"),
            from: date("from"),
            to: date("to"),
            after: text("cursor"),
        }
    }
}

/// A page of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditPage {
    /// Events, the latest first.
    pub entries: Vec<AuditRow>,
    /// Cursor of the next page.
    pub next: Option<String>,
    /// The end of the chain: number of the last event and its digest in hexadecimal. `None` if the log is empty.
    pub end: Option<(i64, String)>,
}
