//! What proves to a store that it is the account that writes.

use aws_lc_rs::rsa::KeyPair;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::{
    destination::Provider,
    validation::{Fault, Faults},
};

/// As Google's own files of credentials name it.
const IMPERSONATED: &str = "impersonated_service_account";

/// Neither shown again nor logged.
#[derive(Debug, Clone)]
pub enum Credentials {
    /// Of a store that speaks S3.
    AccessKey(AccessKey),
    /// At Amazon, instead of a key.
    Role(Role),
    /// Of Google Cloud.
    ServiceAccount(ServiceAccountKey),
    /// At Google, instead of a key.
    Impersonated(ImpersonatedServiceAccount),
}

/// An access key of S3.
#[derive(Debug, Clone, Deserialize)]
pub struct AccessKey {
    /// Names the key.
    pub access_key_id: String,
    /// The key.
    pub secret_access_key: SecretString,
}

/// A role that the service assumes.
#[derive(Debug, Clone, Deserialize)]
pub struct Role {
    /// Names the role at Amazon.
    pub role_arn: String,
}

/// A service account's key. Of the file in which Google hands it out, what says where to go or what to run is left out:
/// a tenant does not decide about that.
#[derive(Debug, Clone, Deserialize)]
pub struct ServiceAccountKey {
    /// The account's address.
    pub client_email: String,
    /// Names the key.
    pub private_key_id: String,
    /// The key, PKCS #8 in PEM.
    pub private_key: SecretString,
}

/// A service account that the service acts as.
#[derive(Debug, Clone, Deserialize)]
pub struct ImpersonatedServiceAccount {
    /// The account's address.
    pub client_email: String,
}

impl ServiceAccountKey {
    /// Reads a key file as Google makes it. `None`: it is none, or its key can't sign.
    pub fn parse(file: &str) -> Option<Self> {
        let file: Value = serde_json::from_str(file).ok()?;
        let key = (file["type"] == "service_account").then(|| Self::deserialize(file).ok())??;
        is_rsa_key(key.private_key.expose_secret()).then_some(key)
    }
}

impl Credentials {
    /// Reads credentials as a sound body has them, or as [`Self::to_value`] has written them.
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

    /// The credentials in the clear.
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

    /// Whose they are; no secret.
    pub fn identity(&self) -> &str {
        match self {
            Self::AccessKey(key) => &key.access_key_id,
            Self::Role(role) => &role.role_arn,
            Self::ServiceAccount(key) => &key.client_email,
            Self::Impersonated(account) => &account.client_email,
        }
    }
}

/// A key that can't sign would fail at the first upload.
pub(super) fn check_private_key(body: &Value, faults: &mut Faults) {
    const POINTER: &str = "/connection/credentials/private_key";
    let key = body["connection"]["credentials"]["private_key"].as_str();
    if let Some(key) = key.filter(|_| !faults.within(POINTER))
        && body["connection"]["provider"] == Provider::GoogleCloudStorage.as_str()
        && !is_rsa_key(key)
    {
        faults.add(Fault::invalid(
            POINTER,
            "Must be the RSA key of the file that Google has made, from -----BEGIN PRIVATE KEY----- on",
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
