//! Documents of the default storage: as files in a folder that replicas must share, and as resources for webhooks.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use md5::{Digest, Md5};
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use crate::{private_file, storage::private_folder};

/// The folder of documents; cheap to clone.
#[derive(Debug, Clone)]
pub struct DocumentFiles {
    folder: PathBuf,
}

impl DocumentFiles {
    /// Creates the folder in the data folder unless it exists.
    pub fn open(data_folder: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: private_folder(data_folder, "renders")?,
        })
    }

    /// Writes a document atomically, and replaces a document of the same id.
    pub fn write(&self, id: Uuid, pdf: &[u8]) -> io::Result<()> {
        private_file::write(&self.path(id), pdf)
    }

    /// Returns the path of a document, whether or not it exists.
    pub fn path(&self, id: Uuid) -> PathBuf {
        self.folder.join(format!("{id}.pdf"))
    }

    /// Removes a document; succeeds if it does not exist.
    pub fn remove(&self, id: Uuid) -> io::Result<()> {
        remove(&self.path(id))
    }

    /// Removes documents that were last written before `time`, incomplete ones included.
    pub fn remove_written_before(&self, time: SystemTime) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            // Another process may have just removed it.
            let written = entry.metadata().and_then(|metadata| metadata.modified());
            if written.is_ok_and(|written| written < time) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }
}

/// Removes a file; succeeds if it does not exist.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Google's name of the default storage class, which is also S3's default.
const STORAGE_CLASS: &str = "STANDARD";

/// Returns the description of a document as the resource `Object` of Google Cloud Storage's JSON API. Fields that
/// folders and S3 don't have are null. `url` is the public address of the document.
pub fn object_resource(bucket: &str, id: Uuid, url: &str, pdf: &[u8], now: OffsetDateTime) -> Value {
    let name = object_name(id);
    let time = now.format(&Rfc3339).ok();
    json!({
        "kind": "storage#object",
        "id": format!("{bucket}/{name}"),
        "bucket": bucket,
        "name": name,
        "etag": id,
        "md5Hash": BASE64_STANDARD.encode(Md5::digest(pdf)),
        "crc32c": BASE64_STANDARD.encode(crc32c::crc32c(pdf).to_be_bytes()),
        "size": pdf.len().to_string(),
        "contentType": "application/pdf",
        "mediaLink": url,
        "selfLink": url,
        "timeCreated": time,
        "timeFinalized": time,
        "updated": time,
        "timeStorageClassUpdated": null,
        "storageClass": STORAGE_CLASS,
        "generation": null,
        "metageneration": null,
        "softDeleteTime": null,
        "hardDeleteTime": null,
        "contentLanguage": null,
        "retention": null,
        "retentionExpirationTime": null,
        "kmsKeyName": null,
        "customTime": null,
        "contentEncoding": null,
        "eventBasedHold": null,
        "temporaryHold": null,
        "componentCount": null,
        "cacheControl": null,
        "owner": null,
        "restoreToken": null,
        "customerEncryption": null,
        "timeDeleted": null,
        "metadata": null,
        "acl": null,
        "contentDisposition": null,
    })
}

/// Returns the name of a document in the default storage, which is also the end of its address.
pub fn object_name(id: Uuid) -> String {
    format!("renders/{id}.pdf")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_resource_tells_what_can_be_checked() {
        let resource = object_resource(
            "bucket",
            Uuid::nil(),
            "https://platen.example/files/x",
            b"123456789",
            datetime!(2026-11-22 04:05 UTC),
        );
        for (name, value) in [
            ("name", "renders/00000000-0000-0000-0000-000000000000.pdf"),
            ("id", "bucket/renders/00000000-0000-0000-0000-000000000000.pdf"),
            ("size", "9"),
            // The check value of CRC-32C is e3069283.
            ("crc32c", "4waSgw=="),
            ("md5Hash", "JfnnlDI7RTiF9RgfG2JNCw=="),
            ("timeCreated", "2026-11-22T04:05:00Z"),
            ("mediaLink", "https://platen.example/files/x"),
            ("storageClass", "STANDARD"),
        ] {
            assert_eq!(resource[name], value, "{name}");
        }
        assert_eq!(resource.as_object().expect("an object").len(), 37);
    }

    #[test]
    fn documents_are_kept_and_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = DocumentFiles::open(folder.path()).expect("a folder");
        let (old, new) = (Uuid::new_v4(), Uuid::new_v4());
        files.write(old, b"old").expect("written");
        files.write(old, b"older").expect("replaced");
        assert_eq!(fs::read(files.path(old)).expect("read"), b"older");
        let written = fs::metadata(files.path(old))
            .and_then(|metadata| metadata.modified())
            .expect("a time");
        files.write(new, b"new").expect("written");
        files.remove_written_before(written).expect("removed");
        assert!(files.path(old).exists());
        files
            .remove_written_before(written + std::time::Duration::from_nanos(1))
            .expect("removed");
        assert!(!files.path(old).exists());
        files.remove(old).expect("gone already");
        files.remove(new).expect("removed");
        assert!(!files.path(new).exists());
    }
}
