//! Archives of accounts, in a folder that replicas have to share. Nothing serves it: they are for their owners only.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use uuid::Uuid;

use crate::{
    domain::ids::ExportId,
    private_file::DRAFT,
    storage::{private_folder, remove, remove_written_before},
};

/// The folder; cheap to clone.
#[derive(Debug, Clone)]
pub struct ExportFiles {
    folder: PathBuf,
}

/// An archive that is being written. What has not got its name by then is gone with the value.
#[derive(Debug)]
pub struct ExportDraft {
    path: PathBuf,
}

impl ExportFiles {
    /// Makes the folder in the data folder, unless it is there.
    pub fn open(data_folder: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: private_folder(data_folder, "exports")?,
        })
    }

    /// Where an archive is, if it is there.
    pub fn path(&self, id: ExportId) -> PathBuf {
        self.folder.join(format!("{id}.zip"))
    }

    /// Begins an archive. Whoever else has it in hand, under another claim, writes another file.
    pub fn draft(&self, claim: Uuid) -> io::Result<(ExportDraft, File)> {
        let draft = ExportDraft {
            path: self.folder.join(format!("{claim}{DRAFT}")),
        };
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&draft.path)?;
        Ok((draft, file))
    }

    /// Gives a complete archive its name, once it is on the disk.
    pub fn keep(&self, draft: &ExportDraft, file: &File, id: ExportId) -> io::Result<()> {
        file.sync_all()?;
        fs::rename(&draft.path, self.path(id))?;
        File::open(&self.folder)?.sync_all()
    }

    /// Removes archives, unless they are gone already.
    pub fn remove(&self, ids: impl IntoIterator<Item = ExportId>) -> io::Result<()> {
        ids.into_iter().try_for_each(|id| remove(&self.path(id)))
    }

    /// Removes what was written before a time, whole or in part.
    pub fn remove_written_before(&self, time: SystemTime) -> io::Result<()> {
        remove_written_before(&self.folder, time)
    }
}

impl Drop for ExportDraft {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            tracing::warn!(%error, "half an archive could not be removed");
        }
    }
}
