//! An account, as operators see it: figures and names, without secrets and content.

use platen_domain::account_directory;
use time::OffsetDateTime;

use crate::model::payment::Invoice;

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
