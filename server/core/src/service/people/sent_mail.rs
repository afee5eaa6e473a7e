//! The address to which a visitor's last mail went, for the page that names it. It is stored in the session, because a
//! link to the page must not be able to name another one.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tower_sessions::{Session, session};

use crate::service::sessions::{OF_VISITOR, short_lived};

/// Key in the session's data.
const SENT_MAIL: &str = "sent_mail";

#[derive(Serialize, Deserialize)]
struct SentMail {
    email: String,
}

/// Stores the address of a mail, whether or not it has an account.
pub async fn keep(session: &Session, email: &str, now: OffsetDateTime) -> Result<(), session::Error> {
    let sent = SentMail {
        email: email.trim().to_owned(),
    };
    short_lived::keep(session, SENT_MAIL, sent, now + OF_VISITOR).await
}

/// Returns the address of the last mail.
pub async fn find(session: &Session, now: OffsetDateTime) -> Result<Option<String>, session::Error> {
    let sent: Option<SentMail> = short_lived::find(session, SENT_MAIL, now).await?;
    Ok(sent.map(|sent| sent.email))
}
