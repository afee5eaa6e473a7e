//! `/api/v1/batches/{id}` and actions on a batch.

use axum::{
    Json,
    body::{Body, Bytes},
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use futures::{Stream, TryStreamExt};
use platen_core::service::{
    Services,
    batches::{self, documents::ArchiveError},
};
use platen_domain::{batch::Batch, ids::BatchId};

use crate::http::{
    error::ApiError,
    extract::{BatchPath, MayReadRenders, MayRender},
    v1::Data,
};

/// `GET`
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadRenders(caller): MayReadRenders,
    BatchPath(id): BatchPath,
) -> Result<Json<Data<Batch>>, ApiError> {
    let data = batches::get(&app, &caller, id).await?;
    Ok(Json(Data { data }))
}

/// `POST …/pause`
pub(in crate::http) async fn pause(
    State(app): State<Services>,
    MayRender(caller): MayRender,
    BatchPath(id): BatchPath,
) -> Result<Json<Data<Batch>>, ApiError> {
    let data = batches::pause(&app, &caller, id).await?;
    Ok(Json(Data { data }))
}

/// `POST …/resume`
pub(in crate::http) async fn resume(
    State(app): State<Services>,
    MayRender(caller): MayRender,
    BatchPath(id): BatchPath,
) -> Result<Json<Data<Batch>>, ApiError> {
    let data = batches::resume(&app, &caller, id).await?;
    Ok(Json(Data { data }))
}

/// `POST …/cancel`
pub(in crate::http) async fn cancel(
    State(app): State<Services>,
    MayRender(caller): MayRender,
    BatchPath(id): BatchPath,
) -> Result<Json<Data<Batch>>, ApiError> {
    let data = batches::cancel(&app, &caller, id).await?;
    Ok(Json(Data { data }))
}

/// `POST …/retry`
pub(in crate::http) async fn retry(
    State(app): State<Services>,
    MayRender(caller): MayRender,
    BatchPath(id): BatchPath,
) -> Result<Json<Data<Batch>>, ApiError> {
    let data = batches::retry(&app, &caller, id).await?;
    Ok(Json(Data { data }))
}

/// `GET …/documents`: the documents in the default storage, as a ZIP archive.
pub(in crate::http) async fn documents(
    State(app): State<Services>,
    MayReadRenders(caller): MayReadRenders,
    BatchPath(id): BatchPath,
) -> Result<Response, ApiError> {
    let archive = batches::documents::archive(&app, &caller, id).await?;
    Ok(zip(id, archive))
}

/// Responds with a ZIP archive.
pub(crate) fn zip(id: BatchId, archive: impl Stream<Item = Result<Bytes, ArchiveError>> + Send + 'static) -> Response {
    let archive = archive.inspect_err(move |error| tracing::warn!(batch_id = %id, %error, "archive of a batch ended"));
    let headers = [
        (header::CONTENT_TYPE, "application/zip".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{id}.zip\""),
        ),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
    ];
    (headers, Body::from_stream(archive)).into_response()
}
