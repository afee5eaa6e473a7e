//! Credentials of storage connections.

use aws_lc_rs::rsa::KeyPair;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    destination::Provider,
    validation::{Problem, Problems},
};

/// The type in Google's own credential files.
const IMPERSONATED: &str = "impersonated_service_account";

/// Credentials of a storage connection. Neither shown again nor logged.
#[derive(Debug, Clone)]
pub enum Credentials {
    /// Access key of an S3-compatible store.
    AccessKey(AccessKey),
    /// Role at Amazon, which needs no key.
    Role(Role),
    /// Key of a Google service account.
    ServiceAccount(ServiceAccountKey),
    /// Google service account that the service impersonates, which needs no key.
    Impersonated(ImpersonatedServiceAccount),
}

/// An access key of S3.
#[derive(Debug, Clone, Deserialize)]
pub struct AccessKey {
    pub access_key_id: String,
    pub secret_access_key: SecretString,
}

/// A role that the service assumes.
#[derive(Debug, Clone, Deserialize)]
pub struct Role {
    pub role_arn: String,
}

/// The key of a Google service account. Addresses and commands in Google's key file are ignored, because tenants must
/// not choose them.
#[derive(Debug, Clone, Deserialize)]
pub struct ServiceAccountKey {
    /// The service account's email address.
    pub client_email: String,
    pub private_key_id: String,
    /// The RSA key, as PKCS #8 in PEM.
    pub private_key: SecretString,
}

/// A service account that the service impersonates.
#[derive(Debug, Clone, Deserialize)]
pub struct ImpersonatedServiceAccount {
    /// The service account's email address.
    pub client_email: String,
}

impl ServiceAccountKey {
    /// Parses a key file created by Google. Returns `None` if it is not one, or its key can't sign.
    pub fn parse(file: &str) -> Option<Self> {
        let file: Value = serde_json::from_str(file).ok()?;
        let key = (file["type"] == "service_account").then(|| Self::deserialize(file).ok())??;
        is_rsa_key(key.private_key.expose_secret()).then_some(key)
    }
}

impl Credentials {
    /// Parses credentials from a validated body, or from the result of [`Self::to_value`].
    pub fn from_value(provider: Provider, value: Value) -> Result<Self, serde_json::Error> {
        Ok(match provider {
            Provider::AwsS3 if value.get("role_arn").is_some() => Self::Role(serde_json::from_value(value)?),
            Provider::AwsS3 => Self::AccessKey(serde_json::from_value(value)?),
            Provider::GoogleCloudStorage if value["type"] == IMPERSONATED => {
                Self::Impersonated(serde_json::from_value(value)?)
            }
            Provider::GoogleCloudStorage => Self::ServiceAccount(serde_json::from_value(value)?),
        })
    }

    /// Returns the credentials in plain text.
    pub fn to_value(&self) -> Value {
        match self {
            Self::AccessKey(key) => json!({
                "access_key_id": key.access_key_id,
                "secret_access_key": key.secret_access_key.expose_secret(),
            }),
            Self::Role(role) => json!({"role_arn": role.role_arn}),
            Self::ServiceAccount(key) => json!({
                "client_email": key.client_email,
                "private_key_id": key.private_key_id,
                "private_key": key.private_key.expose_secret(),
            }),
            Self::Impersonated(account) => json!({"type": IMPERSONATED, "client_email": account.client_email}),
        }
    }

    /// Returns the identity, which is not secret: the id of the access key, the ARN of the role, or the service
    /// account's email address.
    pub fn identity(&self) -> &str {
        match self {
            Self::AccessKey(key) => &key.access_key_id,
            Self::Role(role) => &role.role_arn,
            Self::ServiceAccount(key) => &key.client_email,
            Self::Impersonated(account) => &account.client_email,
        }
    }
}

/// Rejects a key that can't sign, which would fail at the first upload.
pub(super) fn check_private_key(body: &Value, problems: &mut Problems) {
    const POINTER: &str = "/connection/credentials/private_key";
    let key = body["connection"]["credentials"]["private_key"].as_str();
    if let Some(key) = key.filter(|_| !problems.within(POINTER))
        && body["connection"]["provider"] == Provider::GoogleCloudStorage.into_str()
        && !is_rsa_key(key)
    {
        problems.add(Problem::invalid(
            POINTER,
            "Must be the RSA key from the key file created by Google, starting with -----BEGIN PRIVATE KEY-----",
        ));
    }
}

fn is_rsa_key(pem: &str) -> bool {
    let body = pem
        .trim()
        .strip_prefix("-----BEGIN PRIVATE KEY-----")
        .and_then(|rest| rest.strip_suffix("-----END PRIVATE KEY-----"));
    let Some(body) = body else { return false };
    let base64: String = body.split_ascii_whitespace().collect();
    BASE64_STANDARD
        .decode(base64)
        .is_ok_and(|der| KeyPair::from_pkcs8(&der).is_ok())
}
