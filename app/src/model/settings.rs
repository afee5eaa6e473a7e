//! Settings of the user and of the account.

use platen_domain::{
    client::{ListedSession, RememberedDevice},
    download_link::DocumentLinks,
    export::Export,
    second_factor::SecondFactor,
    template::channels::Channels,
};
use time::{Date, OffsetDateTime};

use crate::model::person::Person;

/// Everything the settings page shows.
#[derive(Debug)]
pub struct Settings {
    /// Time of the reading.
    pub now: OffsetDateTime,
    /// The logged-in user.
    pub person: Person,
    /// `None` if the password was never changed.
    pub password_changed_at: Option<OffsetDateTime>,
    pub second_factor: SecondFactor,
    /// Browsers on which it isn't required.
    pub devices: Vec<RememberedDevice>,
    /// The account, if the user owns it.
    pub owned: Option<OwnedAccount>,
    /// The user's sessions, the latest first.
    pub sessions: Vec<ListedSession>,
}

#[derive(Debug, Clone)]
pub struct OwnedAccount {
    /// May be empty.
    pub name: String,
    /// Display name; never empty.
    pub called: String,
    /// Whether the content of requests is stored after their renders have ended.
    pub keep_content: bool,
    /// The addresses of new documents.
    pub links: DocumentLinks,
    /// Lifetime in seconds of links with that of the plan.
    pub plan_link_seconds: i32,
    /// The channels of its templates.
    pub channels: Channels,
    /// The day from which all members need a second factor.
    pub second_factor_from: Option<Date>,
    /// Scheduled time of deletion.
    pub delete_at: Option<OffsetDateTime>,
    /// The newest first.
    pub exports: Vec<Export>,
}
