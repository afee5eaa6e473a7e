//! The service's own storage, for documents that have no destination: a folder, or a bucket of the operator's. Documents
//! have random names and are public to whoever knows them.

use std::{io, path::Path};

use axum::body::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::task::{JoinError, spawn_blocking};
use url::Url;
use uuid::Uuid;

use crate::{
    config::storage::DefaultStorageConfig,
    storage::{
        bucket::{Bucket, BucketError},
        documents::{DocumentFiles, object_name, object_resource},
        object_stores::ObjectStores,
    },
};

/// So many documents are deleted at once.
const DELETED_AT_ONCE: usize = 16;
/// In the words of S3 and of Google: an object is not there, or not to be read.
const NOTHING_THERE: [&str; 4] = ["NoSuchKey", "AccessDenied", "notFound", "forbidden"];

/// See the module; cheap to clone.
#[derive(Debug, Clone)]
pub struct DefaultStorage {
    /// What the storage is called in callbacks.
    name: String,
    /// Beside a bucket, too: documents from before it are found there until their time is over.
    files: DocumentFiles,
    bucket: Option<Bucket>,
    /// Where the bucket's objects are found, if not at the store's own address.
    public_url: Option<Url>,
}

/// Why a document is not in the service's own storage, or not gone from it. Never the fault of a client.
#[derive(Debug, thiserror::Error)]
pub enum DefaultStorageError {
    /// The folder fails.
    #[error("{0}")]
    File(#[from] io::Error),
    /// The thread died.
    #[error("{0}")]
    Interrupted(#[from] JoinError),
    /// The bucket fails.
    #[error("the bucket: {0}")]
    Bucket(#[from] BucketError),
}

impl DefaultStorage {
    /// Nothing is asked of a bucket yet.
    pub async fn open(
        data_folder: &Path,
        config: &DefaultStorageConfig,
        stores: &ObjectStores,
    ) -> Result<Self, DefaultStorageError> {
        Ok(Self {
            name: config.name.clone(),
            files: DocumentFiles::open(data_folder)?,
            bucket: match &config.bucket {
                Some(bucket) => Some(stores.own_bucket(&config.name, bucket).await?),
                None => None,
            },
            public_url: config.public_url.clone(),
        })
    }

    /// Keeps a document, or replaces it by itself. Returns what a callback tells of it: the resource `Object` of Google's
    /// JSON API, whatever the store. `base_url` is where clients reach the service.
    pub async fn put(
        &self,
        id: Uuid,
        pdf: Bytes,
        base_url: &Url,
        now: OffsetDateTime,
    ) -> Result<Value, DefaultStorageError> {
        let name = object_name(id);
        let Some(bucket) = &self.bucket else {
            let (files, bucket, url) = (
                self.files.clone(),
                self.name.clone(),
                within(base_url, &["files"], &name),
            );
            let storing = spawn_blocking(move || {
                files.write(id, &pdf)?;
                Ok(object_resource(&bucket, id, url.as_str(), &pdf, now))
            });
            return storing.await?;
        };
        let mut told = bucket.put(&name, pdf.clone()).await?;
        let public_url = self.public_url.as_ref().map(|base| within(base, &[], &name));
        if let Bucket::AwsS3(_) = bucket {
            let url = public_url.as_ref().map(Url::as_str).or(told["location"].as_str());
            let (bucket, url) = (self.name.clone(), url.unwrap_or_default().to_owned());
            let describing = spawn_blocking(move || object_resource(&bucket, id, &url, &pdf, now));
            let mut resource = describing.await?;
            resource["etag"] = told["etag"].take();
            return Ok(resource);
        }
        if let Some(url) = public_url {
            told["mediaLink"] = json!(url);
        }
        Ok(told)
    }

    /// Finds out whether the storage answers, and leaves nothing there: a bucket is asked for an object that it does not
    /// have, and a folder takes an empty file.
    pub async fn try_out(&self) -> Result<(), DefaultStorageError> {
        let nothing = Uuid::now_v7();
        let Some(bucket) = &self.bucket else {
            let files = self.files.clone();
            let trying = spawn_blocking(move || files.write(nothing, &[]).and_then(|()| files.remove(nothing)));
            return Ok(trying.await??);
        };
        match bucket.get(&object_name(nothing)).await {
            // Whoever may write need not be allowed to know what is there.
            Err(BucketError::Refused(refusal)) if NOTHING_THERE.contains(&refusal.code()) => Ok(()),
            answer => Ok(answer.map(drop)?),
        }
    }

    /// Removes documents, unless they are gone already.
    pub async fn remove(&self, ids: impl IntoIterator<Item = Uuid>) -> Result<(), DefaultStorageError> {
        let removals = ids.into_iter().map(|id| self.remove_one(id));
        let removals = stream::iter(removals.collect::<Vec<_>>());
        removals.buffer_unordered(DELETED_AT_ONCE).try_collect().await
    }

    async fn remove_one(&self, id: Uuid) -> Result<(), DefaultStorageError> {
        if let Some(bucket) = &self.bucket {
            match bucket.delete(&object_name(id)).await {
                // Google's word for it; S3 has none.
                Err(BucketError::Refused(refusal)) if refusal.code() == "notFound" => {}
                removed => removed?,
            }
        }
        let files = self.files.clone();
        Ok(spawn_blocking(move || files.remove(id)).await??)
    }

    /// Removes what renders left behind that failed or crashed after all, and was written before a time. In a bucket that
    /// is for a lifecycle rule to do: nobody looks through millions of names.
    pub async fn remove_forgotten(&self, before: OffsetDateTime) -> Result<(), DefaultStorageError> {
        let files = self.files.clone();
        Ok(spawn_blocking(move || files.remove_written_before(before.into())).await??)
    }

    /// What is on disk.
    pub fn files(&self) -> &DocumentFiles {
        &self.files
    }

    /// The operator's bucket, if that is where documents go.
    pub fn bucket(&self) -> Option<&Bucket> {
        self.bucket.as_ref()
    }
}

fn within(base: &Url, segments: &[&str], name: &str) -> Url {
    let mut url = base.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments).extend(name.split('/'));
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_goes_on_where_the_base_ends() {
        for (base, whole) in [
            ("https://platen.example", "https://platen.example/files/renders/a.pdf"),
            ("https://cdn.example/x", "https://cdn.example/x/files/renders/a.pdf"),
            ("https://cdn.example/x/", "https://cdn.example/x/files/renders/a.pdf"),
        ] {
            let base = base.parse().expect("an address");
            assert_eq!(within(&base, &["files"], "renders/a.pdf").as_str(), whole);
        }
    }
}
