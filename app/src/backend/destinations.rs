//! What pages ask about storage connections.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{error::AppError, model::destination::Destinations};

/// `value`s of [`ConnectionForm::provider`].
pub const AMAZON: &str = "aws_s3";
/// See [`AMAZON`].
pub const GOOGLE: &str = "google_cloud_storage";
/// `value`s of [`ConnectionForm::amazon_access`].
pub const ROLE: &str = "role";
/// See [`ROLE`].
pub const ACCESS_KEY: &str = "access_key";
/// `value`s of [`ConnectionForm::google_access`].
pub const IMPERSONATION: &str = "impersonation";
/// See [`IMPERSONATION`].
pub const KEY_FILE: &str = "key_file";

/// What somebody types who wants to connect a bucket. What the kind of store or of access has no use for is passed over.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionForm {
    /// [`AMAZON`] or [`GOOGLE`].
    pub provider: String,
    /// For people.
    pub connection_name: String,
    /// Name of the bucket.
    pub bucket: String,
    /// What the names of its objects begin with.
    pub path_prefix: String,
    /// Amazon's name of where the bucket lies.
    pub region: String,
    /// Address of a store that is not Amazon's.
    pub endpoint: String,
    /// [`ROLE`] or [`ACCESS_KEY`].
    pub amazon_access: String,
    /// Names a role.
    pub role_arn: String,
    /// Names an access key.
    pub access_key_id: String,
    /// The access key.
    pub secret_access_key: String,
    /// [`IMPERSONATION`] or [`KEY_FILE`].
    pub google_access: String,
    /// A service account that the service acts as.
    pub client_email: String,
    /// A service account's key as Google makes it.
    pub key_file: String,
}

/// Without the secrets.
impl fmt::Debug for ConnectionForm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ConnectionForm")
            .field("provider", &self.provider)
            .field("bucket", &self.bucket)
            .finish_non_exhaustive()
    }
}

/// The account's connections.
#[async_trait]
pub trait DestinationBackend: Send + Sync {
    /// All of them.
    async fn destinations(&self) -> Result<Destinations, AppError>;

    /// Makes a connection and tries it.
    async fn connect_bucket(&self, form: ConnectionForm) -> Result<(), AppError>;

    /// Tries a connection.
    async fn test_connection(&self, id: String) -> Result<(), AppError>;

    /// Forgets a connection and its credentials, if its name was typed rightly.
    async fn delete_connection(&self, id: String, name: String) -> Result<(), AppError>;
}
