//! The stores that connections lead to.

use std::sync::Arc;

use platen_egress::{guard::Guard, policy::AddressPolicy};
use url::Url;

use crate::{
    domain::connection::{Settings, credentials::Credentials},
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
    /// `guard` decides which endpoints of tenants may be reached; Google's is the operator's to say.
    pub fn new(guard: Arc<Guard>, gcs_endpoint: Url) -> Result<Self, reqwest::Error> {
        Ok(Self {
            aws_s3: AwsS3::new(guard.clone()),
            google_cloud_storage: GoogleCloudStorage::new(gcs_endpoint)?,
            guard,
        })
    }

    /// Which endpoints may be reached.
    pub fn policy(&self) -> &AddressPolicy {
        self.guard.policy()
    }

    /// The bucket that a connection is for. Nothing is asked of the store yet.
    pub async fn bucket(&self, settings: &Settings, credentials: &Credentials) -> Result<Bucket, BucketError> {
        Ok(match credentials {
            Credentials::AccessKey(key) => Bucket::AwsS3(self.aws_s3.bucket(settings, key)),
            Credentials::ServiceAccount(key) => {
                let bucket = self.google_cloud_storage.bucket(settings, key).await?;
                Bucket::GoogleCloudStorage(Box::new(bucket))
            }
        })
    }
}
