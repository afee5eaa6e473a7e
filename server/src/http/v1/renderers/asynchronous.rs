//! `/api/v1/renderers/pdf/async`

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use platen_core::{
    render_request::AsynchronousRequest,
    service::{Services, renders::enqueue::enqueue},
};
use serde_json::json;

use crate::http::{
    error::ApiError,
    extract::{MayRender, body::RenderBody},
    v1::renderers::pdf::{RENDER_ID, REPLAYED},
};

/// `POST`: accepts an asynchronous render.
pub(in crate::http) async fn post(
    State(app): State<Services>,
    MayRender(caller): MayRender,
    RenderBody {
        request,
        idempotent,
        memory: _memory,
    }: RenderBody<AsynchronousRequest>,
) -> Result<Response, ApiError> {
    request.render.check_allowed(&caller)?;
    let accepted = enqueue(&app, &caller, request, idempotent).await?;
    let headers = [
        (RENDER_ID, accepted.id.to_string()),
        (header::LOCATION, format!("/api/v1/renders/{}", accepted.id)),
    ];
    let replayed = accepted.replayed.then_some([REPLAYED]);
    Ok((headers, replayed, Json(json!({"status": "success"}))).into_response())
}
