//! Archives of account exports, in a folder that replicas must share. The folder is not served: archives are private to
//! account owners.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use platen_domain::ids::ExportId;
use uuid::Uuid;

use crate::{
    private_file::DRAFT,
    storage::{private_folder, remove, remove_written_before},
};

/// The folder of archives; cheap to clone.
#[derive(Debug, Clone)]
pub struct ExportFiles {
    folder: PathBuf,
}

/// An archive that is being written; its file is removed on drop unless [`ExportFiles::keep`] was called.
#[derive(Debug)]
pub struct ExportDraft {
    path: PathBuf,
}

impl ExportFiles {
    /// Creates the folder in the data folder unless it exists.
    pub fn open(data_folder: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: private_folder(data_folder, "exports")?,
        })
    }

    /// Returns the path of an archive, whether or not it exists.
    pub fn path(&self, id: ExportId) -> PathBuf {
        self.folder.join(format!("{id}.zip"))
    }

    /// Creates a file for a new archive. Another worker that holds the same export under another claim writes a
    /// different file.
    pub fn draft(&self, claim: Uuid) -> io::Result<(ExportDraft, File)> {
        let draft = ExportDraft {
            path: self.folder.join(format!("{claim}{DRAFT}")),
        };
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&draft.path)?;
        Ok((draft, file))
    }

    /// Syncs a complete archive to disk and gives it its final name.
    pub fn keep(&self, draft: &ExportDraft, file: &File, id: ExportId) -> io::Result<()> {
        file.sync_all()?;
        fs::rename(&draft.path, self.path(id))?;
        File::open(&self.folder)?.sync_all()
    }

    /// Removes archives, including ones that don't exist.
    pub fn remove(&self, ids: impl IntoIterator<Item = ExportId>) -> io::Result<()> {
        ids.into_iter().try_for_each(|id| remove(&self.path(id)))
    }

    /// Removes archives that were last written before `time`, incomplete ones included.
    pub fn remove_written_before(&self, time: SystemTime) -> io::Result<()> {
        remove_written_before(&self.folder, time)
    }
}

impl Drop for ExportDraft {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            tracing::warn!(%error, "incomplete archive could not be removed");
        }
    }
}
