//! Renders, as their account sees them.

pub mod detail;

use serde::{Deserialize, Serialize};
use time::{Date, OffsetDateTime};

use crate::model::overview::Glance;

/// How far a render has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenderState {
    /// It waits for its turn.
    Queued,
    /// It is being rendered.
    Processing,
    /// There is a document.
    Succeeded,
    /// There is none.
    Failed,
    /// It was called off.
    Cancelled,
}

impl RenderState {
    /// All of them, in the order in which they come.
    pub const ALL: [Self; 5] = [
        Self::Queued,
        Self::Processing,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The word for it in addresses and in the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Processing => "processing",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "Queued",
            Self::Processing => "Processing",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Cancelled => "Cancelled",
        }
    }

    /// The one with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }

    /// Whether nothing more becomes of it.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

/// Whether a client waits for the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenderMode {
    /// He does.
    Sync,
    /// It is put into a store.
    Async,
}

impl RenderMode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Sync, Self::Async];

    /// The word for it, everywhere.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Async => "async",
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sync => "Sync",
            Self::Async => "Async",
        }
    }

    /// The one with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }
}

/// What somebody looks for among renders. What is not given does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenderSearch {
    /// An id, or a part of a title or of a template's name.
    pub text: String,
    /// In this state.
    pub state: Option<RenderState>,
    /// Of this kind.
    pub mode: Option<RenderMode>,
    /// With live keys, or with test keys.
    pub live: Option<bool>,
    /// Made from the template with this id.
    pub template: Option<String>,
    /// With the key with this id.
    pub key: Option<String>,
    /// Accepted on this day or later.
    pub from: Option<Date>,
    /// Accepted on this day or earlier.
    pub to: Option<Date>,
    /// The page of the list that comes after this render.
    pub after: Option<String>,
}

/// Something to choose by its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
}

/// A page of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderPage {
    /// The renders, newest first.
    pub renders: Vec<RenderLine>,
    /// The render after which the next page begins, if there is one.
    pub next: Option<String>,
    /// Renders since the first of the month; nothing: more than anybody counts.
    pub this_month: Option<i64>,
    /// The first of the month.
    pub month: Date,
    /// For how many days the plan keeps renders.
    pub retention_days: i32,
    /// The last renders at all, the oldest first.
    pub latest: Vec<Glance>,
    /// The account's templates.
    pub templates: Vec<Choice>,
    /// The account's keys.
    pub keys: Vec<Choice>,
}

/// A line of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderLine {
    /// Its id.
    pub id: String,
    /// What it is made from.
    pub source: String,
    /// Of the document.
    pub title: Option<String>,
    /// See [`RenderState`].
    pub state: RenderState,
    /// See [`RenderMode`].
    pub mode: RenderMode,
    /// False for test keys.
    pub live: bool,
    /// What the key is called that it was asked for with.
    pub key: Option<String>,
    /// Pages of the document.
    pub pages: Option<i32>,
    /// What was charged.
    pub credits: Option<i64>,
    /// Milliseconds from acceptance to the end.
    pub took_ms: Option<f64>,
    /// When it was accepted.
    pub at: OffsetDateTime,
}

/// Why something is not done with a render or its callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RenderRefusal {
    /// It has ended.
    HasEnded,
    /// Its client waits for it.
    IsAwaited,
    /// There is nothing to tell yet.
    NotToldYet,
    /// The callback is being sent.
    BeingSent,
    /// Nobody tries to send the callback.
    NotTried,
}

impl RenderRefusal {
    /// In words.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::HasEnded => "This render has ended in the meantime.",
            Self::IsAwaited => "A synchronous render is cancelled by closing its connection.",
            Self::NotToldYet => "This render has not ended yet. Its callback is sent when it has.",
            Self::BeingSent => "This callback is being sent at this moment.",
            Self::NotTried => "Nobody is trying to send this callback any more.",
        }
    }
}

/// An id as lists show it: its two ends. Two renders with the same ones don't happen within one list.
pub fn short_id(id: &str) -> String {
    match (id.get(..8), id.len().checked_sub(4).and_then(|end| id.get(end..))) {
        (Some(first), Some(last)) if id.len() > 12 => format!("{first}…{last}"),
        _ => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_shown_by_their_ends() {
        assert_eq!(short_id("0193f2b8-4c1e-7a90-b2d5-9e10c4f077ac"), "0193f2b8…77ac");
        assert_eq!(short_id("ä"), "ä");
    }

    #[test]
    fn words_lead_back() {
        for state in RenderState::ALL {
            assert_eq!(RenderState::from_word(state.word()), Some(state));
        }
        for mode in RenderMode::ALL {
            assert_eq!(RenderMode::from_word(mode.word()), Some(mode));
        }
        assert_eq!(RenderState::from_word("Queued"), None);
    }
}
