//! Assets of templates: pulling, comparing and pushing them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
};

use platen_domain::{
    asset::{self, font_sheet::FONT_SHEET},
    template::identity::Handle,
};
use platen_engine::asset_addresses;
use reqwest::StatusCode;

use super::{
    failure,
    folder::{self, FolderError, TemplateFiles},
    server::{Server, ServerError, assets::StoredAsset},
};
use crate::cli::failure::Failure;

/// An asset that `push` creates or replaces.
pub(super) struct AssetChange {
    name: String,
    path: PathBuf,
    /// The account's asset. `None` if there is none.
    stored: Option<StoredAsset>,
}

impl fmt::Display for AssetChange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.stored.is_some() { "replaced" } else { "created" };
        write!(formatter, "asset:{} is {verb}", self.name)
    }
}

/// Writes those assets of templates whose files differ. A key that may not read assets gets none.
pub(super) async fn pull(server: &Server, folder: &Path, handles: &BTreeSet<&Handle>) -> Result<(), Failure> {
    let stored = match server.assets().await {
        Ok(stored) => stored,
        Err(ServerError::Refused(refusal)) if refusal.status == StatusCode::FORBIDDEN => {
            eprintln!("platen: assets are left out: {refusal}");
            return Ok(());
        }
        Err(error) => return Err(failure(&error)),
    };
    let files = folder::assets::list(folder, handles.iter().copied(), |_| Ok(()));
    let files = files.map_err(|error| Failure::by_caller(&error))?;
    for (name, asset) in stored {
        let named = name.split_once('/');
        let Some((handle, file)) = named.and_then(|(of, file)| Some((Handle::parse(of)?, file))) else {
            continue;
        };
        // `push` ignores hidden files, and other programs may obey them.
        let is_hidden = file.split('/').any(folder::assets::is_hidden);
        if is_hidden || !handles.contains(&handle) || !differs(&files, &name, &asset)? {
            continue;
        }
        let content = server.content_of_asset(&asset).await.map_err(|error| failure(&error))?;
        let written = match files.get(&name) {
            // Its name may be decomposed.
            Some(path) => folder::write_file(path.clone(), &content),
            None => folder::assets::write(folder, &handle, file, &content),
        };
        println!("{}", written.map_err(|error| Failure::by_caller(&error))?.display());
    }
    Ok(())
}

/// Returns whether the file of an asset is missing, or has other content.
fn differs(files: &BTreeMap<String, PathBuf>, name: &str, asset: &StoredAsset) -> Result<bool, Failure> {
    let Some(path) = files.get(name) else {
        return Ok(true);
    };
    match folder::assets::content(path) {
        Ok(present) => Ok(asset::sha256(&present) != asset.sha256),
        // It is no asset.
        Err(FolderError::TooLarge { .. }) => Ok(true),
        Err(error) => Err(Failure::by_caller(&error)),
    }
}

/// Returns the assets that `push` stores: those of the folder's templates that differ from the account's. Lists assets that
/// these templates name and that don't exist on standard error, and those of their folders that only the account has, if the
/// folder has any.
pub(super) async fn changes(
    server: &Server,
    folder: &Path,
    local: &BTreeMap<Handle, TemplateFiles>,
) -> Result<Vec<AssetChange>, Failure> {
    let files = folder::assets::list(folder, local.keys(), Err).map_err(|error| Failure::by_caller(&error))?;
    let named: BTreeSet<_> = local
        .iter()
        .flat_map(|(handle, files)| named_assets(handle, files))
        .collect();
    if files.is_empty() && named.is_empty() {
        return Ok(Vec::new());
    }
    let mut stored = match server.assets().await {
        Ok(stored) => stored,
        // The key may not read assets, or the service is older than these. No asset is stored.
        Err(ServerError::Refused(refusal))
            if files.is_empty() && matches!(refusal.status, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(failure(&error)),
    };
    for (handle, name) in named {
        let is_there = |present: &String| *present == name || name.ends_with('/') && present.starts_with(&name);
        if !files.keys().any(is_there) && !stored.keys().any(is_there) {
            eprintln!(
                "platen: {handle}/template.html names asset:{name}, which neither the folder nor the account has: documents \
                 lack it, and renders fail if the template is strict"
            );
        }
    }
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut changes = Vec::new();
    for (name, path) in files {
        let asset = folder::assets::read(&name, &path).map_err(|error| Failure::by_caller(&error))?;
        let stored = stored.remove(&name);
        let is_same = |stored: &StoredAsset| stored.sha256 == asset::sha256(&asset.content);
        if !stored.as_ref().is_some_and(is_same) {
            changes.push(AssetChange { name, path, stored });
        }
    }
    let handles: BTreeSet<_> = local.keys().map(Handle::as_str).collect();
    for name in stored.keys() {
        if name.split_once('/').is_some_and(|(handle, _)| handles.contains(handle)) {
            super::only_in_account(&format!("asset:{name}"));
        }
    }
    Ok(changes)
}

/// Returns the assets, and folders of assets with their slash, that a template names, with its handle.
fn named_assets<'a>(handle: &'a Handle, files: &TemplateFiles) -> impl Iterator<Item = (&'a Handle, String)> {
    let written = asset_addresses::names_in_html(&files.content);
    let named = written.into_iter().filter_map(|name| asset::named_by(&name));
    named.filter(|name| name != FONT_SHEET).map(move |name| (handle, name))
}

/// Stores assets. Returns the handles of templates of which assets were refused, with the reasons on standard error.
pub(super) async fn push(server: &Server, changes: &[AssetChange]) -> Result<BTreeSet<String>, Failure> {
    let mut refused = BTreeSet::new();
    for AssetChange { name, path, stored } in changes {
        // Read again, so that only one is in memory.
        let asset = folder::assets::read(name, path).map_err(|error| Failure::by_caller(&error))?;
        match server.store_asset(stored.as_ref(), &asset).await {
            Ok(()) => println!("stored asset:{name}"),
            Err(error) => {
                let reason = error.of_asset(path).map_err(|error| {
                    eprintln!("{}: not stored", path.display());
                    failure(&error)
                })?;
                eprintln!("{reason}");
                let (handle, _) = name.split_once('/').unwrap_or_default();
                refused.insert(handle.to_owned());
            }
        }
    }
    Ok(refused)
}
