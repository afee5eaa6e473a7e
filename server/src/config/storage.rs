//! Stores of documents: the service's own, and those of clients.

use url::Url;

use crate::config::reader::{Reader, Setting};

const BUCKET: Setting = Setting {
    name: "PLATEN_DEFAULT_BUCKET",
    purpose: "What the service's own storage is called in callbacks.",
    allowed: "a name without blanks and slashes",
    default: "platen-renders",
};
const GCS_ENDPOINT: Setting = Setting {
    name: "PLATEN_GCS_ENDPOINT",
    purpose: "Address of Google Cloud Storage; another one for private access, or for an emulator.",
    allowed: "http:// or https:// address without path",
    default: "https://storage.googleapis.com",
};

pub(super) const SETTINGS: &[&Setting] = &[&BUCKET, &GCS_ENDPOINT];

/// See the module.
#[derive(Debug)]
pub struct StorageConfig {
    /// Name of the service's own.
    pub bucket: String,
    /// Google Cloud Storage.
    pub gcs_endpoint: Url,
}

impl StorageConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Option<Self> {
        let bucket = reader.parsed(&BUCKET, |text| {
            let sound = !text.contains(|character: char| character.is_whitespace() || character == '/');
            sound.then(|| text.to_owned())
        });
        let gcs_endpoint = reader.parsed(&GCS_ENDPOINT, |text| {
            Url::parse(text).ok().filter(|url| {
                matches!(url.scheme(), "http" | "https")
                    && url.path() == "/"
                    && url.query().is_none()
                    && url.fragment().is_none()
            })
        });
        Some(Self {
            bucket: bucket?,
            gcs_endpoint: gcs_endpoint?,
        })
    }
}
