//! The data folder, and the account that the first start creates in it.

use std::path::PathBuf;

use platen_domain::email::Email;

use crate::config::reader::{Reader, Setting};

const DATA_DIR: Setting = Setting::new("PLATEN_DATA_DIR", "a path")
    .default(".platen; as root /var/lib/platen")
    .purpose("Folder for the private database, the master key and, without a bucket, documents, for which replicas must share it.");
const FIRST_EMAIL: Setting = Setting::new("PLATEN_FIRST_EMAIL", "an email address")
    .default("owner@localhost")
    .purpose("Email address of the account that the first start creates in a private database.");

pub(super) const SETTINGS: &[&Setting] = &[&DATA_DIR, &FIRST_EMAIL];

#[derive(Debug)]
pub struct DataConfig {
    /// Absolute, unless the process has no working directory.
    pub folder: PathBuf,
    /// Email address of the first account's owner.
    pub first_email: Email,
}

impl DataConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        let first_email = reader.parsed(&FIRST_EMAIL, |text| text.parse().ok());
        let default = if rustix::process::geteuid().is_root() {
            "/var/lib/platen"
        } else {
            ".platen"
        };
        let folder = PathBuf::from(reader.text(&DATA_DIR).unwrap_or_else(|| default.to_owned()));
        Self {
            folder: std::path::absolute(&folder).unwrap_or(folder),
            first_email,
        }
    }
}
