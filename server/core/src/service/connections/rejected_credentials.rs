//! Hands the failed test of new credentials to the page that explains it, in the session of the user who entered them.
//! An address, which carries other errors of forms, can be forged and must not contain a store's text.

use platen_domain::{
    connection::TestStep,
    ids::{AccountId, ConnectionId},
};
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use tower_sessions::{Session, session};

use crate::service::sessions::short_lived;

/// Key in the session's data.
const REJECTED_CREDENTIALS: &str = "rejected_credentials";
/// A browser follows a redirect at once.
const SHOWN_WITHIN: Duration = Duration::minutes(5);

#[derive(Serialize, Deserialize)]
struct RejectedCredentials {
    account: AccountId,
    connection: ConnectionId,
    steps: Vec<TestStep>,
}

/// Stores the steps of a test in the session for the next page, and replaces earlier ones.
pub async fn keep(
    session: &Session,
    account: AccountId,
    connection: ConnectionId,
    steps: Vec<TestStep>,
    now: OffsetDateTime,
) -> Result<(), session::Error> {
    let rejected = RejectedCredentials {
        account,
        connection,
        steps,
    };
    short_lived::keep(session, REJECTED_CREDENTIALS, rejected, now + SHOWN_WITHIN).await
}

/// Removes the stored steps from the session and returns them, if they are of this account.
pub async fn take(
    session: &Session,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<Option<(ConnectionId, Vec<TestStep>)>, session::Error> {
    let rejected: Option<RejectedCredentials> = short_lived::take(session, REJECTED_CREDENTIALS, now).await?;
    let rejected = rejected.filter(|rejected| rejected.account == account);
    Ok(rejected.map(|rejected| (rejected.connection, rejected.steps)))
}
