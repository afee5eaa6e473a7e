//! `/api/v1/assets`

pub(in crate::http) mod one;

use axum::{
    Json,
    body::Body,
    extract::State,
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use platen_core::service::{Services, assets};
use platen_domain::{asset::AssetCreation, ids::AssetId};

use crate::http::{
    error::ApiError,
    extract::{AssetQuery, EveryTemplate, MayReadAssets, MayWriteAssets, PageQuery, body::JsonBody},
    held_body::HeldBody,
    v1::{Data, next_page},
};

/// Memory reserved for a list and its text, in bytes: 20,000 assets, the most of any plan, with long names and many tags.
const LIST_MEMORY: u64 = 128 << 20;

/// `GET`: lists assets, the newest first; with `tag` in the query, those that have it.
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadAssets(caller): MayReadAssets,
    PageQuery(request): PageQuery<AssetId>,
    AssetQuery(filter): AssetQuery,
    uri: Uri,
) -> Result<Response, ApiError> {
    let memory = app.memory.reserve(caller.account, LIST_MEMORY).await?;
    let page = assets::list(&app.db, caller.account, &filter, request).await?;
    let link = next_page(&uri, &request, page.next);
    let response = (link, Json(Data { data: page.items })).into_response();
    Ok(response.map(|body| Body::new(HeldBody::new(body, memory))))
}

/// `POST`: creates an asset. Keys that are restricted to certain templates may not, because others may name it.
pub(in crate::http) async fn post(
    State(app): State<Services>,
    MayWriteAssets(caller): MayWriteAssets,
    _: EveryTemplate,
    JsonBody(new, _memory): JsonBody<AssetCreation>,
) -> Result<Response, ApiError> {
    let asset = assets::create(&app, &caller, new).await?;
    let location = [(header::LOCATION, format!("/api/v1/assets/{}", asset.id))];
    Ok((StatusCode::CREATED, location, Json(Data { data: asset })).into_response())
}
