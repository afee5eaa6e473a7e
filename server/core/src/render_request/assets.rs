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

/// The member of the request.
const POINTER: &str = "/assets";

/// Files by name. In JSON, their content is base64 (RFC 4648, section 4).
#[derive(Clone, Default)]
pub struct RequestAssets(BTreeMap<String, Bytes>);

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
        let encoded = assets
            .into_iter()
            .flatten()
            .map(|(_, content)| content.as_str().map_or(0, str::len));
        json!({"count": assets.map_or(0, serde_json::Map::len), "bytes": encoded.sum::<usize>() / 4 * 3})
    }

    /// Returns whether the request brings none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the assets as the proxy of a session serves them.
    pub fn served(self) -> Assets {
        let served = self.0.into_iter().filter_map(|(name, bytes)| {
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
    let bytes = asset::decode(content)?;
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
        serializer.collect_map(self.0.iter().map(|(name, bytes)| (name, BASE64_STANDARD.encode(bytes))))
    }
}

impl<'de> Deserialize<'de> for RequestAssets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let encoded = BTreeMap::<String, String>::deserialize(deserializer)?;
        let decoded = encoded.into_iter().map(|(name, content)| {
            let bytes = BASE64_STANDARD.decode(content).map_err(D::Error::custom)?;
            Ok((name, bytes.into()))
        });
        decoded.collect::<Result<_, _>>().map(Self)
    }
}
