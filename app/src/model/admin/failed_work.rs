//! Work that fails.

use time::OffsetDateTime;

/// What kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkKind {
    /// A render that waits for another try.
    Render,
    /// A callback that does, or that was given up.
    Callback,
    /// A mail.
    Mail,
    /// The export of an account.
    Export,
    /// A customer about whom Stripe can't be asked.
    Customer,
    /// What a customer has used, of which Stripe can't be told.
    Usage,
}

impl WorkKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Render,
        Self::Callback,
        Self::Mail,
        Self::Export,
        Self::Customer,
        Self::Usage,
    ];

    /// The word for it, in the database and in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Render => "render",
            Self::Callback => "callback",
            Self::Mail => "mail",
            Self::Export => "export",
            Self::Customer => "customer",
            Self::Usage => "usage",
        }
    }

    /// Reads [`Self::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// What people call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Render => "Render",
            Self::Callback => "Callback",
            Self::Mail => "Mail",
            Self::Export => "Export",
            Self::Customer => "Customer at Stripe",
            Self::Usage => "Usage for Stripe",
        }
    }
}

/// A piece of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedWork {
    /// What forms call it.
    pub id: String,
    /// What kind of work it is.
    pub kind: WorkKind,
    /// For whom, if for anybody: the account's id and what it is called.
    pub account: Option<(String, String)>,
    /// Id of the render, the mail, the export or the customer.
    pub about: String,
    /// What else there is to say about it: which mail, to whose server.
    pub note: Option<String>,
    /// Why it failed last.
    pub error: String,
    /// How often it was tried.
    pub tries: i32,
    /// When it failed last.
    pub failed_at: OffsetDateTime,
    /// What comes next.
    pub next: NextTry,
}

/// What comes next for work that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextTry {
    /// Somebody has it in hand.
    InHand,
    /// It is tried again at this time, or as soon as there is room for it.
    At(OffsetDateTime),
    /// Nothing: it was given up.
    Never,
}

/// What an operator looks for among it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedWorkSearch {
    /// Of which kind.
    pub kind: Option<WorkKind>,
    /// Of which account: its id, or its owner's address.
    pub account: Option<String>,
    /// Where the page begins.
    pub after: Option<String>,
}

/// A page of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedWorkPage {
    /// The work, what failed last first.
    pub work: Vec<FailedWork>,
    /// Where the next page begins.
    pub next: Option<String>,
    /// How much is found on all pages.
    pub found: i64,
    /// Whether there is the account that is looked for.
    pub account_known: bool,
    /// The moment of the page.
    pub now: OffsetDateTime,
}

/// What an operator has chosen from the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChosenWork {
    /// These.
    These(Vec<String>),
    /// All that this search finds, up to [`MOST_AT_ONCE`].
    Found(FailedWorkSearch),
}

/// So much is tried again or discarded at once.
pub const MOST_AT_ONCE: u16 = 1000;

/// How much of what was meant was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkOutcome {
    /// So much was chosen.
    pub meant: usize,
    /// So much was done; the rest is in hand, or had ended.
    pub done: usize,
}
