//! The folder of the dashboard's static files.

use std::{env, path::PathBuf};

use crate::config::reader::{Reader, Setting};

const SITE_DIR: Setting = Setting::new("PLATEN_SITE_DIR", "a path")
    .default("site, next to the program")
    .purpose("Folder with the dashboard's style sheet, scripts, fonts and images, built by deploy/site.sh.");

pub(super) const SETTINGS: &[&Setting] = &[&SITE_DIR];

#[derive(Debug)]
pub struct SiteConfig {
    /// If it does not exist, there are no pages; everything else works.
    pub folder: PathBuf,
}

impl SiteConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        let beside = || Some(env::current_exe().ok()?.with_file_name("site"));
        let set = reader.text(&SITE_DIR).map(PathBuf::from);
        Self {
            folder: set.or_else(beside).unwrap_or_else(|| "site".into()),
        }
    }
}
