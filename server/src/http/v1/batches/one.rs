//! `/api/v1/batches/{id}` and actions on a batch.

use axum::{
    Json,
    body::Body,
    extract::State,
    http::{Uri, header},
    response::{IntoResponse, Response},
};
use futures::TryStreamExt;
use platen_core::service::{
    Services,
    batches::{self, documents::Download},
};
use platen_domain::{
    batch::{Batch, DocumentsFormat},
    ids::BatchId,
};

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

/// `GET …/documents`: the documents in the default storage, as a ZIP archive or one PDF.
pub(in crate::http) async fn documents(
    State(app): State<Services>,
    MayReadRenders(caller): MayReadRenders,
    BatchPath(id): BatchPath,
    uri: Uri,
) -> Result<Response, ApiError> {
    let format = DocumentsFormat::parse(uri.query().unwrap_or_default()).map_err(ApiError::Invalid)?;
    let download = batches::documents::download(&app, &caller, id, format).await?;
    Ok(file(id, format, download))
}

/// Responds with a file that contains documents.
pub(crate) fn file(id: BatchId, format: DocumentsFormat, download: Download) -> Response {
    let download =
        download.inspect_err(move |error| tracing::warn!(batch_id = %id, %error, "download of a batch ended"));
    let (media_type, extension) = match format {
        DocumentsFormat::Zip => ("application/zip", "zip"),
        DocumentsFormat::Pdf => ("application/pdf", "pdf"),
    };
    let headers = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{id}.{extension}\""),
        ),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
    ];
    (headers, Body::from_stream(download)).into_response()
}
