//! The data folder, and the account that the first start creates in it.

use std::path::PathBuf;

use platen_domain::email::Email;

use crate::config::reader::{Reader, Setting};

const DATA_DIR: Setting = Setting {
    name: "PLATEN_DATA_DIR",
    purpose: "Folder for the private database, the master key and idempotent responses. Replicas must share it.",
    allowed: "a path",
    default: ".platen; as root /var/lib/platen",
};
const FIRST_EMAIL: Setting = Setting {
    name: "PLATEN_FIRST_EMAIL",
    purpose: "Email address of the account that the first start creates in a private database.",
    allowed: "an email address",
    default: "owner@localhost",
};

pub(super) const SETTINGS: &[&Setting] = &[&DATA_DIR, &FIRST_EMAIL];

#[derive(Debug)]
pub struct DataConfig {
    /// Absolute, unless the process has no working directory.
    pub folder: PathBuf,
    /// Email address of the first account's owner.
    pub first_email: Email,
}

impl DataConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Option<Self> {
        let first_email = reader.parsed(&FIRST_EMAIL, |text| text.parse().ok());
        let default = if rustix::process::geteuid().is_root() {
            "/var/lib/platen"
        } else {
            ".platen"
        };
        let folder = reader.parsed_or(&DATA_DIR, Some(default.into()), |text| Some(PathBuf::from(text)))?;
        Some(Self {
            folder: std::path::absolute(&folder).unwrap_or(folder),
            first_email: first_email?,
        })
    }
}
