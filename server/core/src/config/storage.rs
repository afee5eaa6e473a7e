//! Object stores: the default storage, and the service's identities for storage connections.

use platen_domain::{
    connection::credentials::{AccessKey, ServiceAccountKey},
    destination::Provider,
};
use secrecy::SecretString;
use url::Url;

use crate::config::reader::{Reader, Setting};

const DEFAULT_STORAGE: Setting = Setting {
    name: "PLATEN_DEFAULT_STORAGE",
    purpose: "Where documents without a destination are stored: in the data folder, or in a bucket of yours.",
    allowed: "disk, aws_s3 or google_cloud_storage",
    default: "disk",
};
const DEFAULT_BUCKET: Setting = Setting {
    name: "PLATEN_DEFAULT_BUCKET",
    purpose: "Name of that bucket; on disk, the name of the storage in webhooks.",
    allowed: "a name without spaces and slashes",
    default: "platen-renders",
};
const DEFAULT_BUCKET_REGION: Setting = Setting {
    name: "PLATEN_DEFAULT_BUCKET_REGION",
    purpose: "Region of that bucket, with PLATEN_DEFAULT_STORAGE=aws_s3.",
    allowed: "a region, for instance eu-central-1",
    default: "none: required unless there is an endpoint",
};
const DEFAULT_BUCKET_ENDPOINT: Setting = Setting {
    name: "PLATEN_DEFAULT_BUCKET_ENDPOINT",
    purpose: "Address of an S3-compatible store other than Amazon's, with PLATEN_DEFAULT_STORAGE=aws_s3.",
    allowed: "http:// or https:// address without path",
    default: "Amazon's",
};
const DEFAULT_BUCKET_URL: Setting = Setting {
    name: "PLATEN_DEFAULT_BUCKET_URL",
    purpose: "Public address of that bucket's objects, for instance of a content delivery network in front of it.",
    allowed: "http:// or https:// address, to which renders/<uuid>.pdf is appended",
    default: "the store's own address",
};
const GCS_ENDPOINT: Setting = Setting {
    name: "PLATEN_GCS_ENDPOINT",
    purpose: "Address of Google Cloud Storage; another one for private access, or for an emulator.",
    allowed: "http:// or https:// address without path",
    default: "https://storage.googleapis.com",
};
const AWS_ACCESS_KEY_ID: Setting = Setting {
    name: "PLATEN_AWS_ACCESS_KEY_ID",
    purpose: "Access key of the service itself: for the default storage, and to assume roles of storage connections.",
    allowed: "the id of an access key",
    default: "none: storage connections need access keys",
};
const AWS_SECRET_ACCESS_KEY: Setting = Setting {
    name: "PLATEN_AWS_SECRET_ACCESS_KEY",
    purpose: "Secret of PLATEN_AWS_ACCESS_KEY_ID.",
    allowed: "the secret of an access key",
    default: "none",
};
const GOOGLE_KEY: Setting = Setting {
    name: "PLATEN_GOOGLE_KEY",
    purpose: "Key of the service's own service account at Google: for the default storage, and to impersonate the \
              service accounts of storage connections.",
    allowed: "the JSON file of a service account's key, as Google creates it",
    default: "none: storage connections need keys",
};
const IAM_ENDPOINT: Setting = Setting {
    name: "PLATEN_IAM_ENDPOINT",
    purpose: "Address of Google's IAM service account credentials; another one for private access.",
    allowed: "http:// or https:// address without path",
    default: "https://iamcredentials.googleapis.com",
};
const STS_ENDPOINT: Setting = Setting {
    name: "PLATEN_STS_ENDPOINT",
    purpose: "Address of Amazon's token service; another one for private access, or for another provider.",
    allowed: "http:// or https:// address without path",
    default: "that of the connection's region",
};

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
    pub(super) fn from_env(reader: &mut Reader) -> Option<Self> {
        let gcs_endpoint = reader.parsed(&GCS_ENDPOINT, endpoint);
        let sts_endpoint = reader.parsed_if_set(&STS_ENDPOINT, endpoint);
        let iam_endpoint = reader.parsed(&IAM_ENDPOINT, endpoint);
        let identity = amazon_identity(reader);
        let google = reader.secret(&GOOGLE_KEY, ServiceAccountKey::parse);
        let default = DefaultStorageConfig::from_env(reader, identity.as_ref(), google.as_ref());
        let (sts_endpoint, iam_endpoint) = (sts_endpoint?, iam_endpoint?);
        Some(Self {
            default: default?,
            gcs_endpoint: gcs_endpoint?,
            impersonator: google.map(|identity| Impersonator {
                identity,
                endpoint: iam_endpoint,
            }),
            token_service: identity.map(|identity| TokenService {
                identity,
                endpoint: sts_endpoint,
            }),
        })
    }
}

impl DefaultStorageConfig {
    /// `amazon` and `google` are the service's own identities.
    fn from_env(reader: &mut Reader, amazon: Option<&AccessKey>, google: Option<&ServiceAccountKey>) -> Option<Self> {
        let provider = reader.parsed(&DEFAULT_STORAGE, |text| match text {
            "disk" => Some(None),
            "aws_s3" => Some(Some(Provider::AwsS3)),
            "google_cloud_storage" => Some(Some(Provider::GoogleCloudStorage)),
            _ => None,
        });
        let name = reader.parsed(&DEFAULT_BUCKET, |text| {
            let sound = !text.contains(|character: char| character.is_whitespace() || character == '/');
            sound.then(|| text.to_owned())
        });
        let public_url = reader.parsed_if_set(&DEFAULT_BUCKET_URL, http_url);
        let region = reader.text(&DEFAULT_BUCKET_REGION);
        let endpoint = reader.parsed_if_set(&DEFAULT_BUCKET_ENDPOINT, endpoint);
        let endpoint = endpoint?;
        let bucket = match provider? {
            None => None,
            Some(Provider::AwsS3) => {
                if region.is_none() && endpoint.is_none() {
                    needs(
                        reader,
                        &format!("{} or {}", DEFAULT_BUCKET_REGION.name, DEFAULT_BUCKET_ENDPOINT.name),
                    );
                }
                if amazon.is_none() {
                    needs(reader, AWS_ACCESS_KEY_ID.name);
                }
                Some(OwnBucket::AwsS3 {
                    region,
                    endpoint,
                    key: amazon?.clone(),
                })
            }
            Some(Provider::GoogleCloudStorage) => {
                if google.is_none() {
                    needs(reader, GOOGLE_KEY.name);
                }
                Some(OwnBucket::GoogleCloudStorage(google?.clone()))
            }
        };
        Some(Self {
            name: name?,
            bucket,
            public_url: public_url?,
        })
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

fn http_url(text: &str) -> Option<Url> {
    Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none())
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
        if problems.is_empty() {
            Ok(config.expect("settings"))
        } else {
            Err(problems)
        }
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
