//! The data folder: its layout, its owners, and the locks that prevent two services from sharing it.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown},
    path::{Path, PathBuf},
};

use platen_core::private_file;
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

use crate::system_user::{self, DATABASE_USER, SystemUser, SystemUserError};

/// The kernel's limit for the path of a Unix socket: 108 bytes in `sockaddr_un`, including the terminating zero.
const MAX_SOCKET_PATH: usize = 107;
const SOCKET_NAME: &str = ".s.PGSQL.5432";

/// Why the data folder can't be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The file system reported an error.
    #[error("{}: {source}; set PLATEN_DATA_DIR to another data folder", .path.display())]
    Unusable {
        /// The file or folder that could not be created or opened.
        path: PathBuf,
        source: io::Error,
    },
    /// The path of Postgres's socket would exceed the kernel's limit.
    #[error(
        "the data folder's path {} is too long: the path of Postgres's socket would have {length} bytes, and the \
         kernel allows {MAX_SOCKET_PATH}; set PLATEN_DATA_DIR to a shorter path",
        .path.display()
    )]
    PathTooLong {
        /// The data folder.
        path: PathBuf,
        /// The length of the socket's path, in bytes.
        length: usize,
    },
    /// The user that runs Postgres can't traverse a parent folder.
    #[error(
        "user {user} can't enter {}, so Postgres could not reach its data: set PLATEN_DATA_DIR to another folder, or \
         let others traverse this one (chmod o+x)",
        .folder.display()
    )]
    NotReachable {
        user: String,
        /// The parent folder that can't be traversed.
        folder: PathBuf,
    },
    /// There is no user that could own the database's files.
    #[error(transparent)]
    User(#[from] SystemUserError),
}

/// An existing data folder.
#[derive(Debug, Clone)]
pub struct DataFolder {
    path: PathBuf,
    database_user: Option<SystemUser>,
}

/// An advisory lock on a file; the kernel releases it when the process ends, even after a crash.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Closing the file would not do: a child process that is just being started may still hold a copy of the
    /// descriptor.
    fn drop(&mut self) {
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

impl DataFolder {
    /// Creates the folder and its subfolders unless they exist.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let length = socket_folder(path).join(SOCKET_NAME).as_os_str().len();
        if length > MAX_SOCKET_PATH {
            return Err(FolderError::PathTooLong {
                path: path.to_owned(),
                length,
            });
        }
        let folder = Self {
            path: path.to_owned(),
            database_user: system_user::unprivileged(DATABASE_USER)?,
        };
        // As root, the database's user must traverse the folder, but not list it.
        let mode = if folder.database_user.is_some() { 0o711 } else { 0o700 };
        make_folder(&folder.path, mode, None)?;
        if let Some(user) = &folder.database_user {
            check_reachable(&folder.path, user)?;
        }
        make_folder(&folder.access_folder(), 0o755, None)?;
        make_folder(&folder.socket_folder(), 0o700, folder.database_user.as_ref())?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the user that runs Postgres, or `None` if that is the user of this process.
    pub fn database_user(&self) -> Option<&SystemUser> {
        self.database_user.as_ref()
    }

    /// The folder of Postgres's data, created by [`crate::database::cluster`].
    pub fn cluster_folder(&self) -> PathBuf {
        self.path.join("postgres")
    }

    /// Creates an empty folder for a new cluster, which gets its final name only when it is complete.
    pub fn fresh_cluster_draft(&self) -> Result<PathBuf, FolderError> {
        let path = self.path.join("postgres.new");
        match fs::remove_dir_all(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(FolderError::Unusable { path, source }),
            _ => {
                make_folder(&path, 0o700, self.database_user.as_ref())?;
                Ok(path)
            }
        }
    }

    /// The folder of Postgres's socket.
    pub fn socket_folder(&self) -> PathBuf {
        socket_folder(&self.path)
    }

    pub fn socket(&self) -> PathBuf {
        self.socket_folder().join(SOCKET_NAME)
    }

    /// The lock file by which Postgres marks the socket as in use.
    pub fn socket_lock(&self) -> PathBuf {
        self.socket_folder().join(format!("{SOCKET_NAME}.lock"))
    }

    /// The folder of access rules, which Postgres can read and its user can't change.
    pub fn access_folder(&self) -> PathBuf {
        self.path.join("access")
    }

    /// The log of Postgres since its last start.
    pub fn postgres_log(&self) -> PathBuf {
        self.path.join("postgres.log")
    }

    /// Acquires the lock that one `platen serve` holds. Returns `None` if another process holds it.
    pub fn try_serve_lock(&self) -> Result<Option<Lock>, FolderError> {
        self.try_lock("serve.lock")
    }

    /// Acquires the lock of the process that runs Postgres. Returns `None` if another process holds it.
    pub fn try_postgres_lock(&self) -> Result<Option<Lock>, FolderError> {
        self.try_lock("postgres.lock")
    }

    /// Returns the id of the process that holds the service's lock, as written to the lock file.
    pub fn serve_lock_holder(&self) -> Option<u32> {
        let mut text = String::new();
        File::open(self.path.join("serve.lock"))
            .ok()?
            .read_to_string(&mut text)
            .ok()?;
        text.trim().parse().ok()
    }

    /// Reads a secret from the data folder. Returns `None` if it does not exist.
    pub fn read_secret(&self, name: &str) -> Result<Option<String>, FolderError> {
        let path = self.path.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(FolderError::Unusable { path, source }),
        }
    }

    /// Writes a secret to the data folder atomically, readable only by this user.
    pub fn write_secret(&self, name: &str, text: &str) -> Result<(), FolderError> {
        let path = self.path.join(name);
        private_file::write(&path, text.as_bytes()).map_err(|source| FolderError::Unusable { path, source })
    }

    fn try_lock(&self, name: &str) -> Result<Option<Lock>, FolderError> {
        let path = self.path.join(name);
        let unusable = |source| FolderError::Unusable {
            path: path.clone(),
            source,
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(unusable)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(error) => return Err(unusable(error.into())),
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(unusable)?;
        Ok(Some(Lock { file }))
    }
}

fn socket_folder(data_folder: &Path) -> PathBuf {
    data_folder.join("run")
}

fn make_folder(path: &Path, mode: u32, owner: Option<&SystemUser>) -> Result<(), FolderError> {
    let make = || {
        if !path.is_dir() {
            if let Some(parent) = path.parent() {
                DirBuilder::new().recursive(true).mode(0o755).create(parent)?;
            }
            DirBuilder::new().mode(mode).create(path)?;
            // The process's umask may have cleared some bits.
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        }
        owner.map_or(Ok(()), |owner| chown(path, Some(owner.uid), Some(owner.gid)))
    };
    make().map_err(|source| FolderError::Unusable {
        path: path.to_owned(),
        source,
    })
}

/// Checks that every parent folder can be traversed by others, or belongs to the user.
fn check_reachable(path: &Path, user: &SystemUser) -> Result<(), FolderError> {
    for folder in path.ancestors().filter(|folder| !folder.as_os_str().is_empty()) {
        let metadata = fs::metadata(folder).map_err(|source| FolderError::Unusable {
            path: folder.to_owned(),
            source,
        })?;
        if metadata.uid() != user.uid && metadata.mode() & 0o001 == 0 {
            return Err(FolderError::NotReachable {
                user: user.name.clone(),
                folder: folder.to_owned(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_path_beyond_the_kernels_bound_is_refused_by_name() {
        let parent = tempfile::tempdir().unwrap();
        let long = parent.path().join("x".repeat(100));
        let error = DataFolder::open(&long).unwrap_err().to_string();
        assert!(error.contains("PLATEN_DATA_DIR") && error.contains("107"), "{error}");
        assert!(!long.exists());
    }

    #[test]
    fn a_closed_folder_above_is_named() {
        let closed = tempfile::tempdir().unwrap();
        fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let stranger = SystemUser {
            name: "stranger".into(),
            uid: u32::MAX - 1,
            gid: u32::MAX - 1,
        };
        let error = check_reachable(closed.path(), &stranger).unwrap_err().to_string();
        let name = closed.path().display().to_string();
        assert!(error.contains("stranger") && error.contains(&name), "{error}");
    }

    #[test]
    fn a_lock_is_held_by_one_and_says_by_whom() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = DataFolder {
            path: temporary.path().to_owned(),
            database_user: None,
        };
        let held = folder.try_serve_lock().unwrap();
        assert!(held.is_some());
        assert!(folder.try_serve_lock().unwrap().is_none());
        assert_eq!(folder.serve_lock_holder(), Some(std::process::id()));
        drop(held);
        assert!(folder.try_serve_lock().unwrap().is_some());
    }

    #[test]
    fn a_secret_is_private_and_replaced_as_a_whole() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = DataFolder {
            path: temporary.path().to_owned(),
            database_user: None,
        };
        assert_eq!(folder.read_secret("s").unwrap(), None);
        folder.write_secret("s", "a long first one").unwrap();
        folder.write_secret("s", "second").unwrap();
        assert_eq!(folder.read_secret("s").unwrap().as_deref(), Some("second"));
        let mode = fs::metadata(temporary.path().join("s")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
