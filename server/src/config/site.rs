//! The files of the dashboard.

use std::{env, path::PathBuf};

use crate::config::reader::{Reader, Setting};

const SITE_DIR: Setting = Setting {
    name: "PLATEN_SITE_DIR",
    purpose: "Folder with the dashboard's style sheet, scripts, fonts and pictures, which deploy/site.sh builds.",
    allowed: "a path",
    default: "site, beside the program",
};

pub(super) const SETTINGS: &[&Setting] = &[&SITE_DIR];

/// See the module.
#[derive(Debug)]
pub struct SiteConfig {
    /// The folder. Without it there are no pages; everything else works.
    pub folder: PathBuf,
}

impl SiteConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Option<Self> {
        let beside = || Some(env::current_exe().ok()?.with_file_name("site"));
        let folder = reader.parsed_or(&SITE_DIR, Some(beside().unwrap_or_else(|| "site".into())), |text| {
            Some(PathBuf::from(text))
        })?;
        Some(Self { folder })
    }
}
