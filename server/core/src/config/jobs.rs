//! Background work.

use std::time::Duration;

use strum::{EnumString, IntoStaticStr};

use crate::config::reader::{Reader, Setting};

const ROLE: Setting = Setting::new("PLATEN_ROLE", "all, web, worker")
    .default("all")
    .purpose("What this process does: web serves requests, worker does background work, all does both.");
const DEADLINE: Setting = Setting::new("PLATEN_ASYNC_DEADLINE", "1 to 86400")
    .default("600")
    .purpose("Seconds that one attempt of an asynchronous render may take.");
const PAGE_LIMIT: Setting = Setting::new("PLATEN_ASYNC_PAGE_LIMIT", "1 to 100000")
    .default("10000")
    .purpose("Maximum number of pages of an asynchronously rendered document.");

pub(super) const SETTINGS: &[&Setting] = &[&ROLE, &DEADLINE, &PAGE_LIMIT];

/// The share of the work that a process does. The names are used in the setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, EnumString, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Role {
    /// Everything.
    All,
    /// Serve requests, including synchronous renders.
    Web,
    /// Do background work.
    Worker,
}

impl Role {
    /// Returns whether the process serves requests to the API.
    pub fn serves(self) -> bool {
        self != Self::Worker
    }

    /// Returns whether the process does background work.
    pub fn works(self) -> bool {
        self != Self::Web
    }
}

#[derive(Debug)]
pub struct JobsConfig {
    pub role: Role,
    /// Time limit from the claim of a render to the finished bytes.
    pub deadline: Duration,
    /// Maximum number of pages of a document.
    pub page_limit: usize,
}

impl JobsConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        Self {
            role: reader.parsed(&ROLE, |text| text.parse().ok()),
            deadline: reader.seconds(&DEADLINE, 1..=86_400),
            page_limit: reader.number(&PAGE_LIMIT, 1..=100_000),
        }
    }
}
