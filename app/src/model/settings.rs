//! What people decide of themselves and of their account.

use std::net::IpAddr;

use time::{Date, OffsetDateTime};

use crate::model::{
    person::Person,
    second_factor::{RememberedDevice, SecondFactor},
};

/// All that the page of settings shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The moment of the answer.
    pub now: OffsetDateTime,
    /// Who is logged in.
    pub person: Person,
    /// `None`: their password is still the first one.
    pub password_changed_at: Option<OffsetDateTime>,
    /// Their second factor.
    pub second_factor: SecondFactor,
    /// Browsers that are not asked for it.
    pub devices: Vec<RememberedDevice>,
    /// Their account, if they own it.
    pub owned: Option<OwnedAccount>,
    /// Their sessions, the latest first.
    pub sessions: Vec<Session>,
}

/// An account, as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedAccount {
    /// May be empty.
    pub name: String,
    /// What pages call it; never empty.
    pub called: String,
    /// Whether the content of requests is kept once their renders have ended.
    pub keep_content: bool,
    /// From which day on everybody needs a second factor, if they do.
    pub second_factor_from: Option<Date>,
    /// When it is deleted, if it is to be.
    pub delete_at: Option<OffsetDateTime>,
    /// Its exports, the newest first.
    pub exports: Vec<Export>,
}

/// All that belongs to an account, as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Names it.
    pub id: String,
    /// How it stands.
    pub state: ExportState,
    /// When it was asked for.
    pub asked_at: OffsetDateTime,
    /// When it is deleted.
    pub delete_at: OffsetDateTime,
}

/// How an export stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportState {
    /// It is being made.
    Waiting,
    /// It can be fetched.
    Ready {
        /// Its size.
        bytes: i64,
    },
    /// It could not be made.
    Failed,
}

/// A session of a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its name; not what the cookie holds.
    pub id: String,
    /// Whether it is the one that asks.
    pub current: bool,
    /// With what the person logged in: `Firefox on Linux`.
    pub device: String,
    /// From where.
    pub address: IpAddr,
    /// When.
    pub since: OffsetDateTime,
    /// When it was last used; late by five minutes at most.
    pub seen: OffsetDateTime,
}
