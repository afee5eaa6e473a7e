//! The object stores of storage connections and of the default storage.

use std::sync::Arc;

use platen_domain::{
    connection::{Settings, credentials::Credentials},
    ids::AccountId,
};
use platen_egress::{guard::Guard, policy::Refusal};
use url::Url;

use crate::{
    config::storage::{OwnBucket, StorageConfig},
    storage::{
        aws_s3::AwsS3,
        bucket::{Bucket, BucketError},
        google_cloud_storage::GoogleCloudStorage,
    },
};

/// Clients of all stores; cheap to clone.
#[derive(Clone)]
pub struct ObjectStores {
    guard: Arc<Guard>,
    aws_s3: AwsS3,
    google_cloud_storage: GoogleCloudStorage,
}

impl ObjectStores {
    /// Creates the clients. `guard` decides which endpoints of tenants may be reached; all others are set by the
    /// operator.
    pub fn new(guard: Arc<Guard>, config: &StorageConfig) -> Result<Self, reqwest::Error> {
        Ok(Self {
            aws_s3: AwsS3::new(guard.clone(), config.token_service.clone()),
            google_cloud_storage: GoogleCloudStorage::new(config.gcs_endpoint.clone(), config.impersonator.clone())?,
            guard,
        })
    }

    /// Checks whether an endpoint may be reached, without resolving its name.
    pub fn check_endpoint(&self, endpoint: &Url) -> Result<(), Refusal> {
        self.guard.policy().check_literal(endpoint)
    }

    /// Returns whether storage connections may use roles instead of keys.
    pub fn can_assume_roles(&self) -> bool {
        self.aws_s3.can_assume_roles()
    }

    /// Returns whether storage connections may use service accounts without keys.
    pub fn can_impersonate(&self) -> bool {
        self.google_cloud_storage.can_impersonate()
    }

    /// Returns the operator's bucket of this name. Sends no requests to the store.
    pub async fn own_bucket(&self, name: &str, bucket: &OwnBucket) -> Result<Bucket, BucketError> {
        Ok(match bucket {
            OwnBucket::AwsS3 { region, endpoint, key } => {
                Bucket::AwsS3(self.aws_s3.own_bucket(name, region.as_deref(), endpoint.as_ref(), key))
            }
            OwnBucket::GoogleCloudStorage(key) => {
                let bucket = self.google_cloud_storage.bucket(name, key).await?;
                Bucket::GoogleCloudStorage(Box::new(bucket))
            }
        })
    }

    /// Returns the bucket of a storage connection of the account. Sends no requests to the store.
    pub async fn bucket(
        &self,
        account: AccountId,
        settings: &Settings,
        credentials: &Credentials,
    ) -> Result<Bucket, BucketError> {
        Ok(match credentials {
            Credentials::AccessKey(key) => Bucket::AwsS3(self.aws_s3.bucket(settings, key)),
            Credentials::Role(role) => Bucket::AwsS3(self.aws_s3.bucket_in_role(settings, role, account)?),
            Credentials::ServiceAccount(key) => {
                let bucket = self.google_cloud_storage.bucket(&settings.bucket, key).await?;
                Bucket::GoogleCloudStorage(Box::new(bucket))
            }
            Credentials::Impersonated(as_whom) => {
                let bucket = self.google_cloud_storage.bucket_as(&settings.bucket, as_whom).await?;
                Bucket::GoogleCloudStorage(Box::new(bucket))
            }
        })
    }
}
