//! Sessions that wait for a second factor after the password. No user is logged in to them: they allow nothing but the
//! second step of the login.

use platen_domain::{ids::UserId, second_factor::PATIENCE};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tower_sessions::{Session, session};

use crate::{service::sessions::Stay, store::sessions::Holder};

/// Key in the session's data for the waiting login.
const WAITING: &str = "waiting";

/// A login that waits for the second factor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Waiting {
    user: UserId,
    epoch: i32,
    /// Lifetime of the session in the browser after the login.
    pub(in crate::service) stay: Stay,
    #[serde(with = "time::serde::rfc3339")]
    pub(super) until: OffsetDateTime,
}

impl Waiting {
    /// Returns the user whose session it becomes.
    pub(in crate::service) fn holder(&self) -> Holder {
        Holder {
            user: self.user,
            epoch: self.epoch,
        }
    }
}

/// Makes a session wait for the second factor, under a new id.
pub(in crate::service) async fn begin(
    session: &Session,
    holder: Holder,
    stay: Stay,
    now: OffsetDateTime,
) -> Result<(), session::Error> {
    session.clear().await;
    session.cycle_id().await?;
    let waiting = Waiting {
        user: holder.user,
        epoch: holder.epoch,
        stay,
        until: now + PATIENCE,
    };
    session.insert(WAITING, waiting).await
}

/// Returns the waiting login of a session, unless it has expired.
pub async fn current(session: &Session, now: OffsetDateTime) -> Result<Option<Waiting>, session::Error> {
    if session.id().is_none() {
        return Ok(None);
    }
    Ok(find(session).await?.filter(|waiting| now < waiting.until))
}

/// Returns the waiting login, expired or not; `None` if another release stored it in a form that this one can't read.
pub(super) async fn find(session: &Session) -> Result<Option<Waiting>, session::Error> {
    let value = session.get_value(WAITING).await?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}
