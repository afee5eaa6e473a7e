//! The account's storage connections.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{error::AppError, model::connection::Connections};

/// A `value` of [`ConnectionForm::provider`].
pub const AMAZON: &str = "aws_s3";
/// A `value` of [`ConnectionForm::provider`].
pub const GOOGLE: &str = "google_cloud_storage";
/// A `value` of [`ConnectionForm::amazon_access`].
pub const ROLE: &str = "role";
/// A `value` of [`ConnectionForm::amazon_access`].
pub const ACCESS_KEY: &str = "access_key";
/// A `value` of [`ConnectionForm::google_access`].
pub const IMPERSONATION: &str = "impersonation";
/// A `value` of [`ConnectionForm::google_access`].
pub const KEY_FILE: &str = "key_file";

/// The form that creates a storage connection. Fields that the provider or the kind of access doesn't need are ignored.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionForm {
    /// [`AMAZON`] or [`GOOGLE`].
    pub provider: String,
    pub connection_name: String,
    pub bucket: String,
    /// Prefix of the names of its objects.
    pub path_prefix: String,
    /// AWS region of the bucket.
    pub region: String,
    /// Address of an S3-compatible store other than Amazon's.
    pub endpoint: String,
    /// [`ROLE`] or [`ACCESS_KEY`].
    pub amazon_access: String,
    /// ARN of the role to assume.
    pub role_arn: String,
    /// Id of the access key.
    pub access_key_id: String,
    /// Secret of the access key.
    pub secret_access_key: String,
    /// [`IMPERSONATION`] or [`KEY_FILE`].
    pub google_access: String,
    /// Email address of the service account that the service impersonates.
    pub client_email: String,
    /// Key of a service account, as the JSON file that Google creates.
    pub key_file: String,
}

/// Omits the secrets.
impl fmt::Debug for ConnectionForm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ConnectionForm")
            .field("provider", &self.provider)
            .field("bucket", &self.bucket)
            .finish_non_exhaustive()
    }
}

/// The account's storage connections.
#[async_trait]
pub trait ConnectionBackend: Send + Sync {
    /// Lists all connections.
    async fn connections(&self) -> Result<Connections, AppError>;

    /// Creates a connection and tests it.
    async fn connect_bucket(&self, form: ConnectionForm) -> Result<(), AppError>;

    /// Tests a connection and records the result.
    async fn test_connection(&self, id: String) -> Result<(), AppError>;

    /// Deletes a connection and its credentials, if `name` is its name.
    async fn delete_connection(&self, id: String, name: String) -> Result<(), AppError>;
}
