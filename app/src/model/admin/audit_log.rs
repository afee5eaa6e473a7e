//! The log of what operators and the service did to accounts.

use time::{Date, OffsetDateTime, format_description::FormatItem, macros::format_description};

/// How days are written in addresses.
pub const SEARCHED_DAY: &[FormatItem] = format_description!("[year]-[month]-[day]");

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its place in the chain, from 1.
    pub number: i64,
    /// When.
    pub at: OffsetDateTime,
    /// Who.
    pub who: String,
    /// What.
    pub what: String,
    /// To which account, if it was about one: its id and what it was called then.
    pub account: Option<(String, String)>,
    /// Why; may be empty.
    pub reason: String,
    /// Where they were.
    pub address: Option<String>,
}

/// What is looked for in the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditSearch {
    /// A part of an account's name or id, of an operator's address, or of a reason.
    pub text: String,
    /// The word for a kind of deed.
    pub kind: Option<String>,
    /// From the beginning of this day on, in UTC.
    pub from: Option<Date>,
    /// Until the end of this one.
    pub to: Option<Date>,
    /// Where the page begins.
    pub after: Option<String>,
}

impl AuditSearch {
    /// Reads the values of an address. What makes no sense does not matter.
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

/// A page of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditPage {
    /// The entries, the latest first.
    pub entries: Vec<AuditEntry>,
    /// Where the next page begins.
    pub next: Option<String>,
    /// Words for all kinds of deeds.
    pub kinds: Vec<&'static str>,
    /// The end of the chain: the number of the last entry and its digest, in hexadecimal digits. `None`: there is no entry.
    pub end: Option<(i64, String)>,
}
