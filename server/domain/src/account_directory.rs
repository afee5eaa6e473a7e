//! Search of accounts by operators.

/// Status of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountState {
    Active,
    Suspended,
    /// Its owner has requested deletion.
    ToBeDeleted,
}

impl AccountState {
    pub const ALL: [Self; 3] = [Self::Active, Self::Suspended, Self::ToBeDeleted];

    /// Returns the query parameter's value.
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::ToBeDeleted => "to_be_deleted",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "Active",
            Self::Suspended => "Suspended",
            Self::ToBeDeleted => "To be deleted",
        }
    }

    /// Parses [`Self::word`].
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// Order of a list of accounts, descending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AccountOrder {
    /// Time of creation.
    #[default]
    Newest,
    /// Credits used in this period.
    CreditsUsed,
    /// Renders that failed in the last 24 hours.
    Failures,
}

impl AccountOrder {
    pub const ALL: [Self; 3] = [Self::Newest, Self::CreditsUsed, Self::Failures];

    /// Returns the query parameter's value.
    pub fn word(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::CreditsUsed => "used",
            Self::Failures => "failures",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Newest => "Newest",
            Self::CreditsUsed => "Credits used",
            Self::Failures => "Failures",
        }
    }

    /// Parses [`Self::word`].
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.word() == word)
    }
}
