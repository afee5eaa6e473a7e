//! Assets that a request brings along.

use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use platen_domain::{
    asset,
    validation::{Problem, Problems, member},
};
use platen_egress::assets::{Asset, Assets};
use platen_engine::asset_addresses;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::{Value, json};
use url::Url;

use crate::render_request::wire::is_url;

/// The member of the request.
pub(crate) const POINTER: &str = "/assets";

/// Maximum length of a URL in bytes, as of those of parts.
const LONGEST_URL: usize = 65_536;

/// Files by name.
#[derive(Clone, Default)]
pub struct RequestAssets(BTreeMap<String, RequestAsset>);

/// A file. In JSON, its URL, or its content in base64 (RFC 4648, section 4), which contains no colon.
#[derive(Clone)]
enum RequestAsset {
    Content(Bytes),
    /// From which it is loaded before the render.
    Url(Url),
}

impl RequestAssets {
    /// Adds the validation errors of the member.
    pub(super) fn check(assets: &Value, problems: &mut Problems) {
        if problems.within(POINTER) {
            return;
        }
        for (name, content) in assets.as_object().into_iter().flatten() {
            if problems.is_full() {
                break;
            }
            if let Err(detail) = check(name, content.as_str().unwrap_or_default()) {
                problems.add(Problem::invalid(member(POINTER, name), detail));
            }
        }
    }

    /// Returns what is stored with the render's options, which contain no content.
    pub(super) fn option(assets: &Value) -> Value {
        let assets = assets.as_object();
        let contents = assets.into_iter().flatten().filter_map(|(_, content)| content.as_str());
        let encoded = contents.filter(|content| !is_url(content)).map(str::len);
        json!({"count": assets.map_or(0, serde_json::Map::len), "bytes": encoded.sum::<usize>() / 4 * 3})
    }

    /// Returns whether the request brings none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the assets that have to be loaded, with their URLs.
    pub fn remote(&self) -> impl Iterator<Item = (&str, &Url)> {
        self.0.iter().filter_map(|(name, asset)| match asset {
            RequestAsset::Url(url) => Some((name.as_str(), url)),
            RequestAsset::Content(_) => None,
        })
    }

    /// Adds the content of an asset that has been loaded. The error says why the asset can't have it.
    pub fn add_loaded(&mut self, name: &str, content: Bytes) -> Result<(), &'static str> {
        asset::content_type(name, &content)?;
        self.0.insert(name.to_owned(), RequestAsset::Content(content));
        Ok(())
    }

    /// Returns the assets as the proxy of a session serves them, without those that have not been loaded.
    pub fn served(self) -> Assets {
        let served = self.0.into_iter().filter_map(|(name, asset)| {
            let RequestAsset::Content(bytes) = asset else {
                return None;
            };
            let asset = served(&name, bytes)?;
            Some((name, asset))
        });
        served.collect()
    }
}

/// Returns an asset as the proxy of a session serves it. `None` if its name doesn't allow its content.
pub(crate) fn served(name: &str, content: Bytes) -> Option<Asset> {
    let content_type = asset::content_type(name, &content).ok()?;
    let bytes = match std::str::from_utf8(&content) {
        Ok(css) if content_type.starts_with("text/css") => asset_addresses::served_in_style_sheet(css).into(),
        _ => content,
    };
    Some(Asset { content_type, bytes })
}

fn check(name: &str, content: &str) -> Result<(), String> {
    if let Some(problem) = asset::name_problem(name) {
        return Err(problem);
    }
    if is_url(content) {
        if content.len() > LONGEST_URL {
            return Err(format!(
                "URLs have at most {LONGEST_URL} bytes; this one has {}",
                content.len()
            ));
        }
        let url = content.parse::<Url>();
        return url.map(drop).map_err(|error| format!("Must be a valid URL: {error}"));
    }
    let bytes = asset::decode(content).map_err(|reason| format!("{reason}. Or an http:// or https:// URL"))?;
    asset::content_type(name, &bytes).map(drop).map_err(ToOwned::to_owned)
}

/// Omits names and content, which must not be logged.
impl std::fmt::Debug for RequestAssets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "RequestAssets({})", self.0.len())
    }
}

impl Serialize for RequestAssets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, asset)| match asset {
            RequestAsset::Content(bytes) => (name, BASE64_STANDARD.encode(bytes)),
            RequestAsset::Url(url) => (name, url.to_string()),
        }))
    }
}

impl<'de> Deserialize<'de> for RequestAssets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let encoded = BTreeMap::<String, String>::deserialize(deserializer)?;
        let decoded = encoded.into_iter().map(|(name, content)| {
            let asset = if is_url(&content) {
                RequestAsset::Url(content.parse().map_err(D::Error::custom)?)
            } else {
                RequestAsset::Content(BASE64_STANDARD.decode(content).map_err(D::Error::custom)?.into())
            };
            Ok((name, asset))
        });
        decoded.collect::<Result<_, _>>().map(Self)
    }
}
