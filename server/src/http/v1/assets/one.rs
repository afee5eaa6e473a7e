//! `/api/v1/assets/{id}` and below.

use std::slice;

use axum::{
    Json,
    body::Body,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use platen_core::service::{Services, assets};
use platen_domain::{
    api_key::Scope,
    asset::{Asset, AssetReplacement, AssetUser},
};
use serde::Serialize;

use crate::http::{
    error::ApiError,
    extract::{AssetPath, EveryTemplate, MayReadAssets, MayWriteAssets, body::JsonBody},
    held_body::HeldBody,
    v1::Data,
};

/// An asset with the templates that use it.
#[derive(Serialize)]
pub(in crate::http) struct UsedAsset {
    #[serde(flatten)]
    asset: Asset,
    /// At most 100, of those that the key may use; `None` if it may not read templates.
    used_by: Option<Vec<AssetUser>>,
}

/// `GET`
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadAssets(caller): MayReadAssets,
    AssetPath(id): AssetPath,
) -> Result<Json<Data<UsedAsset>>, ApiError> {
    let asset = assets::get(&app.db, caller.account, id).await?;
    let used_by = if caller.scopes.contains(Scope::TemplatesRead) {
        let users = assets::users(&app.db, caller.account, &caller.templates, slice::from_ref(&asset)).await?;
        Some(users.into_values().flat_map(|users| users.listed).collect())
    } else {
        None
    };
    let data = UsedAsset { asset, used_by };
    Ok(Json(Data { data }))
}

/// `GET …/content`: returns the file, as one to save. Its own type would let a browser run the scripts of an SVG picture.
pub(in crate::http) async fn content(
    State(app): State<Services>,
    MayReadAssets(caller): MayReadAssets,
    AssetPath(id): AssetPath,
) -> Result<Response, ApiError> {
    let asset = assets::get(&app.db, caller.account, id).await?;
    let (content, memory) = assets::content(&app, caller.account, &asset).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment"),
    ];
    let response = (headers, content).into_response();
    Ok(response.map(|body| Body::new(HeldBody::new(body, memory))))
}

/// `PUT`: replaces the content, the tags, or both.
pub(in crate::http) async fn put(
    State(app): State<Services>,
    MayWriteAssets(caller): MayWriteAssets,
    _: EveryTemplate,
    AssetPath(id): AssetPath,
    JsonBody(replacement, _memory): JsonBody<AssetReplacement>,
) -> Result<Json<Data<Asset>>, ApiError> {
    let data = assets::replace(&app, &caller, id, replacement).await?;
    Ok(Json(Data { data }))
}

/// `DELETE`
pub(in crate::http) async fn delete(
    State(app): State<Services>,
    MayWriteAssets(caller): MayWriteAssets,
    _: EveryTemplate,
    AssetPath(id): AssetPath,
) -> Result<StatusCode, ApiError> {
    assets::delete(&app.db, &caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
