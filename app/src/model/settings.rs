//! Settings of the user and of the account.

use std::net::IpAddr;

use time::{Date, OffsetDateTime};

use crate::model::{
    person::Person,
    second_factor::{RememberedDevice, SecondFactor},
};

/// Everything the settings page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub sessions: Vec<Session>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedAccount {
    /// May be empty.
    pub name: String,
    /// Display name; never empty.
    pub called: String,
    /// Whether the content of requests is stored after their renders have ended.
    pub keep_content: bool,
    /// The day from which all members need a second factor.
    pub second_factor_from: Option<Date>,
    /// Scheduled time of deletion.
    pub delete_at: Option<OffsetDateTime>,
    /// The newest first.
    pub exports: Vec<Export>,
}

/// A file with all data of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    pub id: String,
    pub state: ExportState,
    /// Time of the request.
    pub asked_at: OffsetDateTime,
    /// Time at which the file is deleted.
    pub delete_at: OffsetDateTime,
}

/// Status of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportState {
    /// Being created.
    Waiting,
    /// Ready for download.
    Ready {
        /// Size of the file.
        bytes: i64,
    },
    Failed,
}

/// A session of the dashboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Not the value of its cookie.
    pub id: String,
    /// Whether it is the session of this request.
    pub current: bool,
    /// Browser and operating system of the log-in, such as `Firefox on Linux`.
    pub device: String,
    /// IP address of the log-in.
    pub address: IpAddr,
    /// Time of the log-in.
    pub since: OffsetDateTime,
    /// Time of last use, at most five minutes behind.
    pub seen: OffsetDateTime,
}
