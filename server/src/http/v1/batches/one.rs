//! `/api/v1/batches/{id}` and actions on a batch.

use axum::{Json, extract::State};
use platen_core::service::{Services, batches};
use platen_domain::batch::Batch;

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
