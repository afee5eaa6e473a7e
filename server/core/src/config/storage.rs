//! Object stores: the default storage, and the service's identities for storage connections.

use platen_domain::{
    connection::credentials::{AccessKey, ServiceAccountKey},
    destination::Provider,
};
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use url::Url;

use crate::config::reader::{Reader, Setting, http_url};

const DEFAULT_STORAGE: Setting = Setting::new("PLATEN_DEFAULT_STORAGE", "disk, aws_s3 or google_cloud_storage")
    .default("disk")
    .purpose("Where documents without a destination are stored: in the data folder, or in a bucket of yours.");
const DEFAULT_BUCKET: Setting = Setting::new("PLATEN_DEFAULT_BUCKET", "a name without spaces and slashes")
    .default("platen-renders")
    .purpose("Name of that bucket; on disk, the name of the storage in webhooks.");
const DEFAULT_BUCKET_REGION: Setting =
    Setting::new("PLATEN_DEFAULT_BUCKET_REGION", "a region, for instance eu-central-1")
        .default("none: required unless there is an endpoint")
        .purpose("Region of that bucket, with PLATEN_DEFAULT_STORAGE=aws_s3.");
const DEFAULT_BUCKET_ENDPOINT: Setting = Setting::new(
    "PLATEN_DEFAULT_BUCKET_ENDPOINT",
    "http:// or https:// address without path",
)
.default("Amazon's")
.purpose("Address of an S3-compatible store other than Amazon's, with PLATEN_DEFAULT_STORAGE=aws_s3.");
const DEFAULT_BUCKET_URL: Setting = Setting::new(
    "PLATEN_DEFAULT_BUCKET_URL",
    "http:// or https:// address, to which renders/<uuid>.pdf is appended",
)
.default("the store's own address")
.purpose("Public address of that bucket's objects, for instance of a content delivery network in front of it.");
const GCS_ENDPOINT: Setting = Setting::new("PLATEN_GCS_ENDPOINT", "http:// or https:// address without path")
    .default("https://storage.googleapis.com")
    .purpose("Address of Google Cloud Storage; another one for private access, or for an emulator.");
const AWS_ACCESS_KEY_ID: Setting = Setting::new("PLATEN_AWS_ACCESS_KEY_ID", "the id of an access key")
    .default("none: storage connections need access keys")
    .purpose("Access key of the service itself: for the default storage, and to assume roles of storage connections.");
const AWS_SECRET_ACCESS_KEY: Setting = Setting::new("PLATEN_AWS_SECRET_ACCESS_KEY", "the secret of an access key")
    .default("none")
    .purpose("Secret of PLATEN_AWS_ACCESS_KEY_ID.");
const GOOGLE_KEY: Setting = Setting::new(
    "PLATEN_GOOGLE_KEY",
    "the JSON file of a service account's key, as Google creates it",
)
.default("none: storage connections need keys")
.purpose(
    "Key of the service's own service account at Google: for the default storage, and to impersonate the \
         service accounts of storage connections.",
);
const IAM_ENDPOINT: Setting = Setting::new("PLATEN_IAM_ENDPOINT", "http:// or https:// address without path")
    .default("https://iamcredentials.googleapis.com")
    .purpose("Address of Google's IAM service account credentials; another one for private access.");
const STS_ENDPOINT: Setting = Setting::new("PLATEN_STS_ENDPOINT", "http:// or https:// address without path")
    .default("that of the connection's region")
    .purpose("Address of Amazon's token service; another one for private access, or for another provider.");

pub(super) const SETTINGS: &[&Setting] = &[
    &DEFAULT_STORAGE,
    &DEFAULT_BUCKET,
    &DEFAULT_BUCKET_REGION,
    &DEFAULT_BUCKET_ENDPOINT,
    &DEFAULT_BUCKET_URL,
    &GCS_ENDPOINT,
    &GOOGLE_KEY,
    &IAM_ENDPOINT,
    &AWS_ACCESS_KEY_ID,
    &AWS_SECRET_ACCESS_KEY,
    &STS_ENDPOINT,
];

#[derive(Debug)]
pub struct StorageConfig {
    pub default: DefaultStorageConfig,
    /// The address of Google Cloud Storage.
    pub gcs_endpoint: Url,
    /// Impersonates service accounts at Google, if the service has an identity there.
    pub impersonator: Option<Impersonator>,
    /// Assumes roles at Amazon, if the service has an identity there.
    pub token_service: Option<TokenService>,
}

/// Assumes roles with the service's own identity.
#[derive(Debug, Clone)]
pub struct TokenService {
    /// The service's own access key at Amazon.
    pub identity: AccessKey,
    /// Overrides the address of Amazon's token service in the connection's region.
    pub endpoint: Option<Url>,
}

/// Impersonates service accounts with the service's own identity.
#[derive(Debug, Clone)]
pub struct Impersonator {
    /// The service's own service account at Google.
    pub identity: ServiceAccountKey,
    /// The address of Google's IAM Service Account Credentials API.
    pub endpoint: Url,
}

#[derive(Debug)]
pub struct DefaultStorageConfig {
    /// The storage's name in webhooks; of a bucket, the bucket's name.
    pub name: String,
    /// `None`: the data folder.
    pub bucket: Option<OwnBucket>,
    /// The public address of the bucket's objects, if it is not the store's own.
    pub public_url: Option<Url>,
}

/// A bucket of the operator.
#[derive(Debug)]
pub enum OwnBucket {
    /// In an S3-compatible store.
    AwsS3 {
        /// Required by Amazon.
        region: Option<String>,
        /// The address of a store other than Amazon's.
        endpoint: Option<Url>,
        key: AccessKey,
    },
    /// In Google Cloud Storage.
    GoogleCloudStorage(ServiceAccountKey),
}

impl StorageConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        let gcs_endpoint = reader.parsed(&GCS_ENDPOINT, endpoint);
        let sts_endpoint = reader.parsed_if_set(&STS_ENDPOINT, endpoint);
        let iam_endpoint = reader.parsed(&IAM_ENDPOINT, endpoint);
        let amazon = amazon_identity(reader);
        let google = reader.secret(&GOOGLE_KEY, ServiceAccountKey::parse);
        Self {
            default: DefaultStorageConfig::from_env(reader, amazon.as_ref(), google.as_ref()),
            gcs_endpoint,
            impersonator: google.map(|identity| Impersonator {
                identity,
                endpoint: iam_endpoint,
            }),
            token_service: amazon.map(|identity| TokenService {
                identity,
                endpoint: sts_endpoint,
            }),
        }
    }
}

impl DefaultStorageConfig {
    /// Returns a fingerprint of the place of the documents, which differs between buckets. All data
    /// folders have the same.
    pub fn fingerprint(&self) -> String {
        let place = match &self.bucket {
            None => return "folder".to_owned(),
            Some(OwnBucket::AwsS3 { region, endpoint, .. }) => {
                let store = endpoint.as_ref().map(Url::as_str).or(region.as_deref());
                format!("aws_s3 {} {}", store.unwrap_or_default(), self.name)
            }
            Some(OwnBucket::GoogleCloudStorage(_)) => format!("google_cloud_storage {}", self.name),
        };
        let digest = Sha256::digest(place);
        format!(
            "{:016x}",
            digest.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
        )
    }

    /// `amazon` and `google` are the service's own identities.
    fn from_env(reader: &mut Reader, amazon: Option<&AccessKey>, google: Option<&ServiceAccountKey>) -> Self {
        let provider = reader.parsed(&DEFAULT_STORAGE, |text| match text {
            "disk" => Some(None),
            text => text.parse().ok().map(Some),
        });
        let name = reader.parsed(&DEFAULT_BUCKET, |text| {
            let sound = !text.contains(|character: char| character.is_whitespace() || character == '/');
            sound.then(|| text.to_owned())
        });
        let public_url = reader.parsed_if_set(&DEFAULT_BUCKET_URL, http_url);
        let region = reader.text(&DEFAULT_BUCKET_REGION);
        let endpoint = reader.parsed_if_set(&DEFAULT_BUCKET_ENDPOINT, endpoint);
        let bucket = match provider {
            None => None,
            Some(Provider::AwsS3) => {
                if region.is_none() && reader.text(&DEFAULT_BUCKET_ENDPOINT).is_none() {
                    let either = format!("{} or {}", DEFAULT_BUCKET_REGION.name, DEFAULT_BUCKET_ENDPOINT.name);
                    needs(reader, &either);
                }
                if amazon.is_none() {
                    needs(reader, AWS_ACCESS_KEY_ID.name);
                }
                amazon.cloned().map(|key| OwnBucket::AwsS3 { region, endpoint, key })
            }
            Some(Provider::GoogleCloudStorage) => {
                if google.is_none() {
                    needs(reader, GOOGLE_KEY.name);
                }
                google.cloned().map(OwnBucket::GoogleCloudStorage)
            }
        };
        Self {
            name,
            bucket,
            public_url,
        }
    }
}

fn needs(reader: &mut Reader, settings: &str) {
    reader.contradiction(format_args!("{} in a bucket needs {settings}", DEFAULT_STORAGE.name));
}

fn amazon_identity(reader: &mut Reader) -> Option<AccessKey> {
    let access_key_id = reader.text(&AWS_ACCESS_KEY_ID);
    let secret_access_key = reader.text(&AWS_SECRET_ACCESS_KEY).map(SecretString::from);
    if access_key_id.is_some() != secret_access_key.is_some() {
        reader.contradiction(format_args!(
            "{} and {} must be set together",
            AWS_ACCESS_KEY_ID.name, AWS_SECRET_ACCESS_KEY.name
        ));
    }
    Some(AccessKey {
        access_key_id: access_key_id?,
        secret_access_key: secret_access_key?,
    })
}

fn endpoint(text: &str) -> Option<Url> {
    http_url(text).filter(|url| url.path() == "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &str)]) -> Result<StorageConfig, Vec<String>> {
        let lookup = |name: &str| {
            let found = settings.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let mut reader = Reader::new(&lookup);
        let config = StorageConfig::from_env(&mut reader);
        let problems = reader.problems.iter().map(ToString::to_string).collect::<Vec<_>>();
        if problems.is_empty() { Ok(config) } else { Err(problems) }
    }

    #[test]
    fn documents_stay_on_disk_unless_a_bucket_is_set() {
        let default = read(&[]).expect("settings").default;
        assert!(default.bucket.is_none());
        assert_eq!(default.name, "platen-renders");
    }

    #[test]
    fn a_bucket_needs_what_leads_to_it() {
        let s3 = ("PLATEN_DEFAULT_STORAGE", "aws_s3");
        assert_eq!(
            read(&[s3]).expect_err("faults"),
            [
                "PLATEN_DEFAULT_STORAGE in a bucket needs PLATEN_DEFAULT_BUCKET_REGION or PLATEN_DEFAULT_BUCKET_ENDPOINT",
                "PLATEN_DEFAULT_STORAGE in a bucket needs PLATEN_AWS_ACCESS_KEY_ID",
            ]
        );
        assert_eq!(
            read(&[("PLATEN_DEFAULT_STORAGE", "google_cloud_storage")]).expect_err("faults"),
            ["PLATEN_DEFAULT_STORAGE in a bucket needs PLATEN_GOOGLE_KEY"]
        );
        let key = [
            ("PLATEN_AWS_ACCESS_KEY_ID", "AKIA"),
            ("PLATEN_AWS_SECRET_ACCESS_KEY", "secret"),
        ];
        let settings = [&[s3, ("PLATEN_DEFAULT_BUCKET_REGION", "eu-central-1")][..], &key].concat();
        let bucket = read(&settings).expect("settings").default.bucket;
        assert!(matches!(bucket, Some(OwnBucket::AwsS3 { region: Some(region), .. }) if region == "eu-central-1"));
    }

    #[test]
    fn faults_of_a_bucket_are_named_and_show_no_secret() {
        let problems = read(&[
            ("PLATEN_DEFAULT_STORAGE", "ftp"),
            ("PLATEN_DEFAULT_BUCKET_ENDPOINT", "https://store.example/path"),
            ("PLATEN_GOOGLE_KEY", "{\"private_key\": \"secret\"}"),
        ]);
        let problems = problems.expect_err("faults");
        for (problem, name) in problems.iter().zip([
            "PLATEN_GOOGLE_KEY:",
            "PLATEN_DEFAULT_STORAGE:",
            "PLATEN_DEFAULT_BUCKET_ENDPOINT:",
        ]) {
            assert!(problem.starts_with(name), "{problem}");
            assert!(!problem.contains("secret"), "{problem}");
        }
        assert_eq!(problems.len(), 3);
    }
}
