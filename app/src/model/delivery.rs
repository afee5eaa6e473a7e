//! Callbacks, as their account sees them.

use time::OffsetDateTime;

/// How a callback stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// It was received.
    Delivered,
    /// It is tried, or will be.
    Trying,
    /// It was not received, and is not tried any more.
    GivenUp,
}

impl DeliveryState {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Delivered, Self::Trying, Self::GivenUp];

    /// The word for it in addresses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Trying => "trying",
            Self::GivenUp => "given-up",
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Delivered => "Delivered",
            Self::Trying => "Trying",
            Self::GivenUp => "Given up",
        }
    }

    /// The one with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// Since when.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Since {
    /// In the last 24 hours.
    Day,
    /// In the last seven days.
    Week,
    /// In the last thirty days.
    Month,
    /// As long as they are kept.
    #[default]
    Ever,
}

impl Since {
    /// All of them, the shortest first.
    pub const ALL: [Self; 4] = [Self::Day, Self::Week, Self::Month, Self::Ever];

    /// The word for it in addresses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Day => "24-hours",
            Self::Week => "7-days",
            Self::Month => "30-days",
            Self::Ever => "",
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "24 hours",
            Self::Week => "7 days",
            Self::Month => "30 days",
            Self::Ever => "As long as kept",
        }
    }

    /// How many days; nothing: no end.
    pub fn days(self) -> Option<i64> {
        match self {
            Self::Day => Some(1),
            Self::Week => Some(7),
            Self::Month => Some(30),
            Self::Ever => None,
        }
    }

    /// The one with this word, else all.
    pub fn from_word(word: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|since| since.word() == word)
            .unwrap_or_default()
    }
}

/// What somebody looks for among deliveries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliverySearch {
    /// An id of a render, or a part of an address.
    pub text: String,
    /// That stand so.
    pub state: Option<DeliveryState>,
    /// Of renders since then.
    pub since: Since,
    /// The page of the list that comes after this render.
    pub after: Option<String>,
}

/// What the page about callbacks shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhooks {
    /// What signs.
    pub secret: Secret,
    /// The deliveries, those of the newest renders first.
    pub deliveries: Vec<Delivery>,
    /// The render after which the next page begins, if there is one.
    pub next: Option<String>,
}

/// With what callbacks are signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// When it was made; nothing: it is made when it is wanted first.
    pub made_at: Option<OffsetDateTime>,
    /// Until when the one before it signs as well.
    pub former_until: Option<OffsetDateTime>,
    /// The secret itself, for as long as it is shown.
    pub shown: Option<String>,
}

/// The callback of a render that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The render.
    pub render: String,
    /// The word that it tells: `success` or `failed`.
    pub event: &'static str,
    /// Where it goes, without query string.
    pub address: Option<String>,
    /// See [`DeliveryState`].
    pub state: DeliveryState,
    /// Seconds until the next try.
    pub next_in_seconds: Option<i64>,
    /// What receivers know it by.
    pub webhook_id: String,
    /// JSON.
    pub body: String,
    /// The tries, the oldest first.
    pub attempts: Vec<Attempt>,
}

/// One try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// When it began.
    pub at: OffsetDateTime,
    /// Status of the answer.
    pub status: Option<i32>,
    /// Why there was none.
    pub error: Option<String>,
    /// How the answer began.
    pub answer: String,
    /// Milliseconds.
    pub took_ms: i32,
}

impl Attempt {
    /// Whether it was received.
    pub fn was_received(&self) -> bool {
        matches!(self.status, Some(200..=299))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back() {
        for state in DeliveryState::ALL {
            assert_eq!(DeliveryState::from_word(state.word()), Some(state));
        }
        for since in Since::ALL {
            assert_eq!(Since::from_word(since.word()), since);
        }
        assert_eq!(Since::from_word("1-year"), Since::Ever);
    }
}
