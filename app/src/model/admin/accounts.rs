//! Accounts, as operators see them: figures and names, without secrets and content.

use platen_domain::account_directory::{self, AccountOrder, AccountState, DirectoryCounts, DirectoryEntry};
use time::OffsetDateTime;

use crate::model::payment::Invoice;

/// A search for accounts. Absent criteria match all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountSearch {
    /// Part of a name or of a member's email address, the beginning of a key, or the id of an account or a render.
    pub text: String,
    pub plan: Option<String>,
    pub state: Option<AccountState>,
    pub order: AccountOrder,
    /// Cursor: the page begins after this account.
    pub after: Option<String>,
}

/// A page of accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountPage {
    /// In the requested order.
    pub accounts: Vec<DirectoryEntry>,
    /// Cursor of the next page.
    pub next: Option<String>,
    /// Names of all plans.
    pub plans: Vec<String>,
    /// Numbers of all accounts, regardless of the search.
    pub counts: DirectoryCounts,
}

/// Everything the page of an account shows.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountFile {
    /// Time at which the page was rendered.
    pub now: OffsetDateTime,
    pub id: String,
    pub file: account_directory::AccountFile,
    /// Names of all plans.
    pub plans: Vec<String>,
    /// Invoices. `None` if Stripe was not asked or doesn't respond.
    pub invoices: Option<Vec<Invoice>>,
}
