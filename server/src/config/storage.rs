//! The service's own storage.

use crate::config::reader::{Reader, Setting};

const BUCKET: Setting = Setting {
    name: "PLATEN_DEFAULT_BUCKET",
    purpose: "What the service's own storage is called in callbacks.",
    allowed: "a name without blanks and slashes",
    default: "platen-renders",
};

pub(super) const SETTINGS: &[&Setting] = &[&BUCKET];

/// See the module.
#[derive(Debug)]
pub struct StorageConfig {
    /// Its name.
    pub bucket: String,
}

impl StorageConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Option<Self> {
        let bucket = reader.parsed(&BUCKET, |text| {
            let sound = !text.contains(|character: char| character.is_whitespace() || character == '/');
            sound.then(|| text.to_owned())
        });
        Some(Self { bucket: bucket? })
    }
}
