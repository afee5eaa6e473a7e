//! Encrypted idempotent responses in the data folder, one file each, with a random name. Replicas must share the
//! folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use uuid::Uuid;

use crate::{
    private_file,
    storage::{private_folder, remove},
};

/// The folder of responses; cheap to clone.
#[derive(Debug, Clone)]
pub struct ResponseFiles {
    folder: PathBuf,
}

impl ResponseFiles {
    /// Creates the folder in the data folder unless it exists.
    pub fn open(data_folder: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: private_folder(data_folder, "answers")?,
        })
    }

    /// Writes a file atomically.
    pub fn write(&self, id: Uuid, content: &[u8]) -> io::Result<()> {
        private_file::write(&self.path(id), content)
    }

    /// Reads a file.
    pub fn read(&self, id: Uuid) -> io::Result<Vec<u8>> {
        fs::read(self.path(id))
    }

    /// Removes a file; succeeds if it does not exist.
    pub fn remove(&self, id: Uuid) -> io::Result<()> {
        remove(&self.path(id))
    }

    /// Returns the ids of files completed before `time`, and ignores files that this service has not written. Removes
    /// incomplete files from before that time.
    pub fn list_written_before(&self, time: SystemTime) -> io::Result<Vec<Uuid>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            // Another process may have just removed it.
            let Ok(written) = entry.metadata().and_then(|metadata| metadata.modified()) else {
                continue;
            };
            if written >= time {
                continue;
            }
            match name.strip_suffix(private_file::DRAFT) {
                Some(id) if id.parse::<Uuid>().is_ok() => fs::remove_file(entry.path())?,
                _ => found.extend(name.parse::<Uuid>()),
            }
        }
        Ok(found)
    }

    fn path(&self, id: Uuid) -> PathBuf {
        self.folder.join(id.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::PermissionsExt, time::Duration};

    use super::*;

    #[test]
    fn files_are_private_and_come_and_go() {
        let data = tempfile::tempdir().unwrap();
        let files = ResponseFiles::open(&data.path().join("data")).unwrap();
        let id = Uuid::new_v4();
        files.write(id, b"sealed").unwrap();
        assert_eq!(files.read(id).unwrap(), b"sealed");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&files.folder), mode(&files.path(id))), (0o700, 0o600));
        files.remove(id).unwrap();
        files.remove(id).unwrap();
        assert_eq!(files.read(id).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn only_old_files_of_ours_are_listed_and_old_drafts_go() {
        let data = tempfile::tempdir().unwrap();
        let files = ResponseFiles::open(data.path()).unwrap();
        let id = Uuid::new_v4();
        let draft = files.folder.join(format!("{}.new", Uuid::new_v4()));
        files.write(id, b"sealed").unwrap();
        fs::write(&draft, b"sea").unwrap();
        fs::write(files.folder.join("README"), b"").unwrap();
        let now = SystemTime::now();
        let (before, after) = (now - Duration::from_mins(1), now + Duration::from_mins(1));
        assert!(files.list_written_before(before).unwrap().is_empty());
        assert!(draft.exists());
        assert_eq!(files.list_written_before(after).unwrap(), [id]);
        assert!(!draft.exists());
    }
}
