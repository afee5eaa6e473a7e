//! Hands what was rejected of a form to the page of its batch, in the session of the user who submitted it. An address, which
//! carries other errors of forms, can be forged and must not contain texts. A cookie, which carries other values, holds those of only
//! 200 columns or so, and would be sent with signed URLs, which are secrets, for minutes.

use platen_domain::ids::{AccountId, BatchId};
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use tower_sessions::{Session, session};

use crate::service::sessions::short_lived;

/// Key in the session's data.
const REJECTED_FORM: &str = "rejected_batch_form";
/// A browser follows a redirect at once.
const SHOWN_WITHIN: Duration = Duration::minutes(5);
/// Maximum size of a URL, or of the members together, in bytes: each request of the session reads them. A mapping may be as large.
const LONGEST: usize = 16 << 10;

/// What was rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectedForm {
    /// A file with rows.
    File {
        /// Why, and the next step.
        reason: String,
        /// Its URL; empty if there is none, `None` if it is too long.
        url: Option<String>,
    },
    /// The members that were chosen, one for each column.
    Members(Vec<String>),
}

#[derive(Serialize, Deserialize)]
struct Stored {
    account: AccountId,
    batch: BatchId,
    form: RejectedForm,
}

/// Stores a rejected form in the session for the next page, and replaces an earlier one. A URL of more than 16 KiB is left out, and
/// members of more than 16 KiB together are not stored.
pub async fn keep(
    session: &Session,
    account: AccountId,
    batch: BatchId,
    form: RejectedForm,
    now: OffsetDateTime,
) -> Result<(), session::Error> {
    let form = match form {
        RejectedForm::File { reason, url } => RejectedForm::File {
            reason,
            url: url.filter(|url| url.len() <= LONGEST),
        },
        RejectedForm::Members(members) if members.iter().map(String::len).sum::<usize>() > LONGEST => return Ok(()),
        members @ RejectedForm::Members(_) => members,
    };
    let stored = Stored { account, batch, form };
    short_lived::keep(session, REJECTED_FORM, stored, now + SHOWN_WITHIN).await
}

/// Removes the rejected form from the session and returns it, if it is about this batch.
pub async fn take(
    session: &Session,
    account: AccountId,
    batch: BatchId,
    now: OffsetDateTime,
) -> Result<Option<RejectedForm>, session::Error> {
    let is_wanted = |stored: &Stored| stored.account == account && stored.batch == batch;
    let stored = short_lived::take_if(session, REJECTED_FORM, is_wanted, now).await?;
    Ok(stored.map(|stored| stored.form))
}
