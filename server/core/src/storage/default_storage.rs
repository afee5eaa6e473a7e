//! The default storage, for documents without a destination: a folder, or a bucket of the operator. Documents have
//! random names, and are public to those who know them.

use std::{
    io,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::task::{JoinError, spawn_blocking};
use url::Url;
use uuid::Uuid;

use crate::{
    config::storage::DefaultStorageConfig,
    storage::{
        bucket::{Bucket, BucketError, LONGEST_ANSWER},
        documents::{DocumentFiles, object_name, object_resource},
        object_stores::ObjectStores,
    },
};

/// Maximum number of documents that are deleted concurrently.
const DELETED_AT_ONCE: usize = 16;
/// Codes of S3 and Google for objects that don't exist or may not be read.
const NOTHING_THERE: [&str; 4] = ["NoSuchKey", "AccessDenied", "notFound", "forbidden"];

/// The default storage; cheap to clone.
#[derive(Debug, Clone)]
pub struct DefaultStorage {
    /// The storage's name in webhooks.
    name: String,
    /// Also used with a bucket: documents from before it was set up remain here until their retention ends.
    files: DocumentFiles,
    bucket: Option<Bucket>,
    /// The public address of the bucket's objects, if it is not the store's own.
    public_url: Option<Url>,
}

/// Why a document could not be stored or removed. Never the client's fault.
#[derive(Debug, thiserror::Error)]
pub enum DefaultStorageError {
    /// The folder failed.
    #[error("{0}")]
    File(#[from] io::Error),
    /// The blocking task panicked.
    #[error("{0}")]
    Interrupted(#[from] JoinError),
    #[error("the bucket: {0}")]
    Bucket(#[from] BucketError),
}

impl DefaultStorage {
    /// Opens the storage. Sends no requests to a bucket.
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

    /// Stores a document, and replaces a document of the same id atomically. Returns its description for the webhook:
    /// the resource `Object` of Google's JSON API, whatever the store. `base_url` is the address at which clients reach
    /// the service.
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
        let mut object = bucket.put(&name, pdf.clone()).await?;
        let public_url = self.public_url.as_ref().map(|base| within(base, &[], &name));
        if let Bucket::AwsS3(_) = bucket {
            let url = public_url.as_ref().map(Url::as_str).or(object["location"].as_str());
            let (bucket, url) = (self.name.clone(), url.unwrap_or_default().to_owned());
            let describing = spawn_blocking(move || object_resource(&bucket, id, &url, &pdf, now));
            let mut resource = describing.await?;
            resource["etag"] = object["etag"].take();
            return Ok(resource);
        }
        if let Some(url) = public_url {
            object["mediaLink"] = json!(url);
        }
        Ok(object)
    }

    /// Checks that the storage works without leaving anything there: reads an object that does not exist from a bucket,
    /// or writes an empty file to the folder and removes it.
    pub async fn try_out(&self) -> Result<(), DefaultStorageError> {
        let nothing = Uuid::now_v7();
        let Some(bucket) = &self.bucket else {
            let files = self.files.clone();
            let trying = spawn_blocking(move || files.write(nothing, &[]).and_then(|()| files.remove(nothing)));
            return Ok(trying.await??);
        };
        match bucket.get(&object_name(nothing), LONGEST_ANSWER).await {
            // Credentials that may write need not be allowed to list or read objects.
            Err(BucketError::Refused(refusal)) if NOTHING_THERE.contains(&refusal.code()) => Ok(()),
            answer => Ok(answer.map(drop)?),
        }
    }

    /// Removes documents, including ones that don't exist.
    pub async fn remove(&self, ids: impl IntoIterator<Item = Uuid>) -> Result<(), DefaultStorageError> {
        let removals = ids.into_iter().map(|id| self.remove_one(id));
        let removals = stream::iter(removals.collect::<Vec<_>>());
        removals.buffer_unordered(DELETED_AT_ONCE).try_collect().await
    }

    async fn remove_one(&self, id: Uuid) -> Result<(), DefaultStorageError> {
        if let Some(bucket) = &self.bucket {
            match bucket.delete(&object_name(id)).await {
                // Google reports an object that does not exist; S3 does not.
                Err(BucketError::Refused(refusal)) if refusal.code() == "notFound" => {}
                removed => removed?,
            }
        }
        let files = self.files.clone();
        Ok(spawn_blocking(move || files.remove(id)).await??)
    }

    /// Removes files from before `before` that failed or crashed renders left behind. In a bucket, a lifecycle rule has
    /// to do that, because listing millions of names would take too long.
    pub async fn remove_forgotten(&self, before: OffsetDateTime) -> Result<(), DefaultStorageError> {
        let files = self.files.clone();
        Ok(spawn_blocking(move || files.remove_written_before(before.into())).await??)
    }

    /// Returns the path of a document if it is on disk, and `None` if it can only be in the bucket.
    pub async fn file(&self, id: Uuid) -> Result<Option<PathBuf>, DefaultStorageError> {
        let path = self.files.path(id);
        let is_file = self.bucket.is_none() || tokio::fs::try_exists(&path).await?;
        Ok(is_file.then_some(path))
    }

    /// Reads a document of at most `most` bytes, or returns `None` if it doesn't exist.
    pub async fn read(&self, id: Uuid, most: u64) -> Result<Option<Bytes>, DefaultStorageError> {
        let read = match self.file(id).await? {
            Some(path) => tokio::fs::read(path).await.map(Bytes::from).map_err(Into::into),
            None => self.download(id, most).await,
        };
        match read {
            Err(DefaultStorageError::File(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(DefaultStorageError::Bucket(BucketError::Refused(refusal)))
                if ["NoSuchKey", "notFound"].contains(&refusal.code()) =>
            {
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    /// Downloads a document of at most `most` bytes from the bucket.
    async fn download(&self, id: Uuid, most: u64) -> Result<Bytes, DefaultStorageError> {
        let bucket = self
            .bucket
            .as_ref()
            .ok_or(io::ErrorKind::NotFound)
            .map_err(io::Error::from)?;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Ok(bucket.get(&object_name(id), most).await?.into())
    }

    /// The documents on disk.
    pub fn files(&self) -> &DocumentFiles {
        &self.files
    }

    /// Returns the operator's bucket, or `None` if documents are stored on disk.
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
