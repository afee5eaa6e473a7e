//! Sessions of those who have shown their password and still have to show their second factor. Nobody is logged in to such a
//! session: for everything but the second step of the log-in it is a stranger's.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tower_sessions::{Session, session};

use crate::{domain::ids::UserId, domain::second_factor::PATIENCE, service::sessions::Stay, store::sessions::Holder};

/// The member of a session's data that says who waits.
const WAITING: &str = "waiting";

/// Who has shown their password.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Waiting {
    user: UserId,
    epoch: i32,
    /// How long the browser is to keep the session.
    pub(in crate::service) stay: Stay,
    #[serde(with = "time::serde::rfc3339")]
    pub(super) until: OffsetDateTime,
}

impl Waiting {
    /// Whose session it is to be.
    pub(in crate::service) fn holder(&self) -> Holder {
        Holder {
            user: self.user,
            epoch: self.epoch,
        }
    }
}

/// Lets a session wait, under another id than before.
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

/// Who waits in a session, unless it has taken too long.
pub async fn current(session: &Session, now: OffsetDateTime) -> Result<Option<Waiting>, session::Error> {
    if session.id().is_none() {
        return Ok(None);
    }
    Ok(kept(session).await?.filter(|waiting| now < waiting.until))
}

/// What another version of this program wrote, and this one can't read, is nobody.
pub(super) async fn kept(session: &Session) -> Result<Option<Waiting>, session::Error> {
    let value = session.get_value(WAITING).await?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}
