//! Assets that requests name by URL. The service loads them itself, so that a session receives no data from the network.

use std::collections::BTreeMap;

use bytes::Bytes;
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
        assets::{
            AssetError,
            library::{LibraryRenderError, MOST_BYTES, too_large},
        },
    },
};

/// Maximum number of files that a render loads at a time.
const CONCURRENT: usize = 6;

/// Loads the assets that a request names by URL, each URL once. Returns the reservations of their memory.
pub(in crate::service) async fn load_remote(
    app: &Services,
    account: AccountId,
    assets: &mut RequestAssets,
) -> Result<Vec<Reservation>, LibraryRenderError> {
    let mut named = BTreeMap::<_, Vec<_>>::new();
    for (name, url) in assets.remote() {
        named.entry(url.clone()).or_default().push(name.to_owned());
    }
    let loading = named.into_iter().map(|(url, names)| load(app, account, url, names));
    let mut loading = stream::iter(loading).buffer_unordered(CONCURRENT);
    let (mut reservations, mut bytes) = (Vec::new(), 0);
    while let Some((names, content, memory)) = loading.try_next().await? {
        bytes += content.len() as u64;
        if bytes > MOST_BYTES {
            return Err(too_large().into());
        }
        for name in names {
            let added = assets.add_loaded(&name, content.clone());
            added.map_err(|reason| unusable(&name, reason))?;
        }
        reservations.push(memory);
    }
    Ok(reservations)
}

async fn load(
    app: &Services,
    account: AccountId,
    url: Url,
    names: Vec<String>,
) -> Result<(Vec<String>, Bytes, Reservation), LibraryRenderError> {
    let mut memory = app.memory.try_reserve(account, 0).map_err(AssetError::from)?;
    match files::get(&app.files, url, &mut memory).await {
        Ok(content) => Ok((names, content.into(), memory)),
        Err(FileError::Memory(full)) => Err(AssetError::from(full).into()),
        Err(error) => {
            let name = names.first().map_or("", String::as_str);
            Err(unusable(name, &format!("The file can't be loaded: {error}")))
        }
    }
}

fn unusable(name: &str, reason: &str) -> LibraryRenderError {
    LibraryRenderError::Remote(Problem::invalid(member(POINTER, name), sentence(reason)))
}
