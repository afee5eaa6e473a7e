//! The stores that connections lead to, and the service's own storage.

use std::sync::Arc;

use platen_egress::{guard::Guard, policy::AddressPolicy};

use crate::{
    config::storage::{OwnBucket, StorageConfig},
    domain::{
        connection::{Settings, credentials::Credentials},
        ids::AccountId,
    },
    storage::{
        aws_s3::AwsS3,
        bucket::{Bucket, BucketError},
        google_cloud_storage::GoogleCloudStorage,
    },
};

/// Ways to every store; cheap to clone.
#[derive(Clone)]
pub struct ObjectStores {
    guard: Arc<Guard>,
    aws_s3: AwsS3,
    google_cloud_storage: GoogleCloudStorage,
}

impl ObjectStores {
    /// `guard` decides which endpoints of tenants may be reached; all else is the operator's to say.
    pub fn new(guard: Arc<Guard>, config: &StorageConfig) -> Result<Self, reqwest::Error> {
        Ok(Self {
            aws_s3: AwsS3::new(guard.clone(), config.token_service.clone()),
            google_cloud_storage: GoogleCloudStorage::new(config.gcs_endpoint.clone(), config.impersonator.clone())?,
            guard,
        })
    }

    /// Which endpoints may be reached.
    pub fn policy(&self) -> &AddressPolicy {
        self.guard.policy()
    }

    /// Whether connections may name roles instead of keys.
    pub fn can_assume_roles(&self) -> bool {
        self.aws_s3.can_assume_roles()
    }

    /// Whether connections may name service accounts without their keys.
    pub fn can_impersonate(&self) -> bool {
        self.google_cloud_storage.can_impersonate()
    }

    /// The operator's own bucket of this name. Nothing is asked of the store yet.
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

    /// The bucket that a connection of the account is for. Nothing is asked of the store yet.
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
