//! Hands the reason why a file with rows was rejected to the page of its batch, in the session of the user who uploaded it. An
//! address, which carries other errors of forms, can be forged and must not contain texts.

use platen_domain::ids::{AccountId, BatchId};
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use tower_sessions::{Session, session};

use crate::service::sessions::short_lived;

/// Key in the session's data.
const REJECTED_FILE: &str = "rejected_batch_file";
/// A browser follows a redirect at once.
const SHOWN_WITHIN: Duration = Duration::minutes(5);

#[derive(Serialize, Deserialize)]
struct RejectedFile {
    account: AccountId,
    batch: BatchId,
    reason: String,
}

/// Stores the reason in the session for the next page, and replaces an earlier one.
pub async fn keep(
    session: &Session,
    account: AccountId,
    batch: BatchId,
    reason: String,
    now: OffsetDateTime,
) -> Result<(), session::Error> {
    let rejected = RejectedFile { account, batch, reason };
    short_lived::keep(session, REJECTED_FILE, rejected, now + SHOWN_WITHIN).await
}

/// Removes the reason from the session and returns it, if it is about this batch.
pub async fn take(
    session: &Session,
    account: AccountId,
    batch: BatchId,
    now: OffsetDateTime,
) -> Result<Option<String>, session::Error> {
    let is_wanted = |rejected: &RejectedFile| rejected.account == account && rejected.batch == batch;
    let rejected = short_lived::take_if(session, REJECTED_FILE, is_wanted, now).await?;
    Ok(rejected.map(|rejected| rejected.reason))
}
