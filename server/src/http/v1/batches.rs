//! `/api/v1/batches`

pub(crate) mod one;
pub(crate) mod rows;

use std::num::NonZeroU16;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use platen_core::{
    render_request::batch::BatchCreation,
    service::{Services, batches},
};
use platen_domain::ids::BatchId;

use crate::http::{
    error::ApiError,
    extract::{MayReadRenders, MayRender, PageQuery, body::RenderBody},
    v1::{Data, next_page, renderers::pdf::REPLAYED},
};

/// Default page size.
const PAGE_SIZE: NonZeroU16 = NonZeroU16::MIN.saturating_add(99);

/// `GET`: lists batches, the newest first.
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadRenders(caller): MayReadRenders,
    PageQuery(mut request): PageQuery<BatchId>,
    uri: Uri,
) -> Result<Response, ApiError> {
    request.size.get_or_insert(PAGE_SIZE);
    let page = batches::list(&app.db, &caller, request).await?;
    let link = next_page(&uri, &request, page.next);
    Ok((link, Json(Data { data: page.items })).into_response())
}

/// `POST`: creates a batch.
pub(in crate::http) async fn post(
    State(app): State<Services>,
    MayRender(caller): MayRender,
    RenderBody {
        request,
        idempotent,
        memory: _memory,
    }: RenderBody<BatchCreation>,
) -> Result<Response, ApiError> {
    request.request.render.check_allowed(&caller)?;
    let (batch, is_replayed) = batches::create(&app, &caller, request, idempotent.as_ref()).await?;
    let location = [(header::LOCATION, format!("/api/v1/batches/{}", batch.id))];
    let replayed = is_replayed.then_some([REPLAYED]);
    Ok((StatusCode::CREATED, location, replayed, Json(Data { data: batch })).into_response())
}
