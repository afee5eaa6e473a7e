//! Stores of documents: the service's own, and those of clients.

use secrecy::SecretString;
use url::Url;

use crate::{
    config::reader::{Reader, Setting},
    domain::connection::credentials::AccessKey,
    storage::aws_s3::role::TokenService,
};

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
const AWS_ACCESS_KEY_ID: Setting = Setting {
    name: "PLATEN_AWS_ACCESS_KEY_ID",
    purpose: "Access key of the service itself at Amazon, by which it assumes the roles that connections name.",
    allowed: "the id of an access key",
    default: "none: connections name access keys",
};
const AWS_SECRET_ACCESS_KEY: Setting = Setting {
    name: "PLATEN_AWS_SECRET_ACCESS_KEY",
    purpose: "Secret of PLATEN_AWS_ACCESS_KEY_ID.",
    allowed: "the secret of an access key",
    default: "none",
};
const STS_ENDPOINT: Setting = Setting {
    name: "PLATEN_STS_ENDPOINT",
    purpose: "Address of Amazon's token service; another one for private access, or for another provider.",
    allowed: "http:// or https:// address without path",
    default: "that of the connection's region",
};

pub(super) const SETTINGS: &[&Setting] = &[
    &BUCKET,
    &GCS_ENDPOINT,
    &AWS_ACCESS_KEY_ID,
    &AWS_SECRET_ACCESS_KEY,
    &STS_ENDPOINT,
];

/// See the module.
#[derive(Debug)]
pub struct StorageConfig {
    /// Name of the service's own.
    pub bucket: String,
    /// Google Cloud Storage.
    pub gcs_endpoint: Url,
    /// Assumes roles at Amazon, if the service has an identity there.
    pub token_service: Option<TokenService>,
}

impl StorageConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Option<Self> {
        let bucket = reader.parsed(&BUCKET, |text| {
            let sound = !text.contains(|character: char| character.is_whitespace() || character == '/');
            sound.then(|| text.to_owned())
        });
        let gcs_endpoint = reader.parsed(&GCS_ENDPOINT, endpoint);
        let sts_endpoint = reader.parsed_or(&STS_ENDPOINT, Some(None), |text| endpoint(text).map(Some));
        let access_key_id = reader.text(&AWS_ACCESS_KEY_ID);
        let secret_access_key = reader.text(&AWS_SECRET_ACCESS_KEY).map(SecretString::from);
        if access_key_id.is_some() != secret_access_key.is_some() {
            reader.contradiction(format_args!(
                "{} and {} go together",
                AWS_ACCESS_KEY_ID.name, AWS_SECRET_ACCESS_KEY.name
            ));
        }
        let sts_endpoint = sts_endpoint?;
        let identity = access_key_id.zip(secret_access_key);
        Some(Self {
            bucket: bucket?,
            gcs_endpoint: gcs_endpoint?,
            token_service: identity.map(|(access_key_id, secret_access_key)| TokenService {
                identity: AccessKey {
                    access_key_id,
                    secret_access_key,
                },
                endpoint: sts_endpoint,
            }),
        })
    }
}

fn endpoint(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
    })
}
