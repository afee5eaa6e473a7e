//! The folder of the dashboard's static files.

use std::{env, path::PathBuf};

use crate::config::reader::{Reader, Setting};

const SITE_DIR: Setting = Setting {
    name: "PLATEN_SITE_DIR",
    purpose: "Folder with the dashboard's style sheet, scripts, fonts and images, built by deploy/site.sh.",
    allowed: "a path",
    default: "site, next to the program",
};

pub(super) const SETTINGS: &[&Setting] = &[&SITE_DIR];

#[derive(Debug)]
pub struct SiteConfig {
    /// If it does not exist, there are no pages; everything else works.
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
