//! Assets as files: `HANDLE/assets/PATH` is the asset `HANDLE/PATH` of the account.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use platen_domain::{
    asset::{self, AssetCreation, LARGEST_ASSET},
    template::identity::Handle,
};

use super::{FolderError, path, read_within, write_file};

/// The folder of a template's assets.
const ASSETS: &str = "assets";
/// Maximum number of assets: as many as the largest plan has.
pub(in super::super) const MOST_ASSETS: usize = 20_000;

/// Returns the files of templates' assets by the names of the assets. Hidden files are no assets. `on_invalid` decides
/// whether a file that can't have its name as an asset is an error; otherwise it is left out.
pub(in super::super) fn list<'a>(
    folder: &Path,
    handles: impl IntoIterator<Item = &'a Handle>,
    on_invalid: impl Fn(FolderError) -> Result<(), FolderError>,
) -> Result<BTreeMap<String, PathBuf>, FolderError> {
    let mut files = BTreeMap::new();
    for handle in handles {
        let mut waiting = vec![(path(folder, handle, ASSETS)?, handle.to_string())];
        while let Some((path, name)) = waiting.pop() {
            let failed = |source| FolderError::Io {
                path: path.clone(),
                source,
            };
            let entries = match fs::read_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries.map_err(failed)?,
            };
            for entry in entries {
                let entry = entry.map_err(failed)?;
                let (path, own_name) = (entry.path(), entry.file_name());
                let own_name = own_name.to_string_lossy();
                if is_hidden(&own_name) {
                    continue;
                }
                let name = match asset::composed_name(&format!("{name}/{own_name}")) {
                    Ok(name) => name,
                    Err(reason) => {
                        on_invalid(FolderError::Asset { path, reason })?;
                        continue;
                    }
                };
                let kind = entry.file_type().map_err(failed)?;
                if kind.is_symlink() {
                    return Err(FolderError::Link(path));
                } else if kind.is_dir() {
                    waiting.push((path, name));
                } else if kind.is_file() {
                    if let Some(other) = files.insert(name, path) {
                        let reason = "another file has the same name, written with other characters".to_owned();
                        return Err(FolderError::Asset { path: other, reason });
                    }
                } else {
                    return Err(FolderError::NotAFile(path));
                }
                if files.len() > MOST_ASSETS {
                    return Err(FolderError::TooManyAssets(folder.to_owned()));
                }
            }
        }
    }
    Ok(files)
}

/// Returns whether the name of a file or folder is that of a hidden one.
pub(in super::super) fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// Reads the file of an asset.
pub(in super::super) fn content(path: &Path) -> Result<Vec<u8>, FolderError> {
    read_within(path, LARGEST_ASSET as u64, |path| fs::read(path))
}

/// Reads an asset, and checks it as the service does.
pub(in super::super) fn read(name: &str, path: &Path) -> Result<AssetCreation, FolderError> {
    AssetCreation::of_file(name, content(path)?).map_err(|reason| FolderError::Asset {
        path: path.to_owned(),
        reason,
    })
}

/// Writes an asset of a template. `file` is its name without that of the template's folder. Returns its path.
pub(in super::super) fn write(
    folder: &Path,
    handle: &Handle,
    file: &str,
    content: &[u8],
) -> Result<PathBuf, FolderError> {
    write_file(path(folder, handle, &format!("{ASSETS}/{file}"))?, content)
}
