//! `/api/v1/renders/{id}` and actions on a render.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use platen_core::service::{
    Services, callbacks,
    renders::{cancel, history, shown::WholeRender},
};
use platen_domain::{caller::Caller, ids::RenderId};

use crate::http::{
    error::ApiError,
    extract::{MayReadRenders, MayRender, RenderPath},
    v1::Data,
};

/// `GET`
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadRenders(caller): MayReadRenders,
    RenderPath(id): RenderPath,
) -> Result<Response, ApiError> {
    shown(&app, &caller, id).await
}

/// `POST …/cancel`
pub(in crate::http) async fn cancel(
    State(app): State<Services>,
    MayRender(caller): MayRender,
    RenderPath(id): RenderPath,
) -> Result<Response, ApiError> {
    cancel::cancel(&app, caller.account, id, caller.sees_renders_of()).await?;
    Ok((StatusCode::ACCEPTED, shown(&app, &caller, id).await?).into_response())
}

/// `POST …/callback/resend`
pub(in crate::http) async fn resend(
    State(app): State<Services>,
    MayRender(caller): MayRender,
    RenderPath(id): RenderPath,
) -> Result<Response, ApiError> {
    history::find(&app.db, caller.account, id, caller.sees_renders_of())
        .await?
        .ok_or(ApiError::NoSuchRender)?;
    callbacks::resend(&app, caller.account, id).await?;
    Ok((StatusCode::ACCEPTED, shown(&app, &caller, id).await?).into_response())
}

async fn shown(app: &Services, caller: &Caller, id: RenderId) -> Result<Response, ApiError> {
    let found = history::find(&app.db, caller.account, id, caller.sees_renders_of()).await?;
    let (render, callback) = found.ok_or(ApiError::NoSuchRender)?;
    Ok(Json(Data {
        data: WholeRender::new(render, callback),
    })
    .into_response())
}
