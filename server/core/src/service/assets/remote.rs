//! Assets that requests name by URL. The service loads them itself, so that a session receives no data from the network.

use futures::{StreamExt, TryStreamExt, stream};
use platen_domain::{
    ids::AccountId,
    sentence::sentence,
    validation::{Problem, member},
};
use url::Url;

use crate::{
    memory::Reservation,
    outbound::files::{self, FileError},
    render_request::assets::{POINTER, RequestAssets},
    service::{
        Services,
        assets::{AssetError, library::LibraryRenderError},
    },
};

/// Maximum number of files that a render loads at a time.
const CONCURRENT: usize = 6;

/// Loads the assets of a request that have to be. Returns the reservations of their memory.
pub(in crate::service) async fn load_remote(
    app: &Services,
    account: AccountId,
    assets: &mut RequestAssets,
) -> Result<Vec<Reservation>, LibraryRenderError> {
    let urls: Vec<_> = assets
        .remote()
        .map(|(name, url)| (name.to_owned(), url.clone()))
        .collect();
    let loading = urls.into_iter().map(|(name, url)| load(app, account, name, url));
    let loaded: Vec<_> = stream::iter(loading).buffer_unordered(CONCURRENT).try_collect().await?;
    let mut reservations = Vec::with_capacity(loaded.len());
    for (name, content, memory) in loaded {
        let added = assets.add_loaded(&name, content.into());
        added.map_err(|reason| unusable(&name, reason))?;
        reservations.push(memory);
    }
    Ok(reservations)
}

async fn load(
    app: &Services,
    account: AccountId,
    name: String,
    url: Url,
) -> Result<(String, Vec<u8>, Reservation), LibraryRenderError> {
    let mut memory = app.memory.try_reserve(account, 0).map_err(AssetError::from)?;
    match files::get(&app.outbound, url, &mut memory).await {
        Ok(content) => Ok((name, content, memory)),
        Err(FileError::Memory(full)) => Err(AssetError::from(full).into()),
        Err(error) => Err(unusable(&name, &format!("The file can't be loaded: {error}"))),
    }
}

fn unusable(name: &str, reason: &str) -> LibraryRenderError {
    LibraryRenderError::Remote(Problem::invalid(member(POINTER, name), sentence(reason)))
}
