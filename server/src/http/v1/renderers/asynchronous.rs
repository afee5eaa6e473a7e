//! `/api/v1/renderers/pdf/async`

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::{
    domain::render::AsynchronousRequest,
    http::{
        error::ApiError,
        extract::{MayRender, body::RenderBody},
        v1::renderers::pdf::{RENDER_ID, REPLAYED},
    },
    service::renders::enqueue::enqueue,
    state::AppState,
};

/// `POST`: accepts an asynchronous render.
pub(in crate::http) async fn post(
    State(app): State<AppState>,
    MayRender(caller): MayRender,
    RenderBody {
        request,
        idempotent,
        memory: _memory,
    }: RenderBody<AsynchronousRequest>,
) -> Result<Response, ApiError> {
    request.render.check_templates(&caller.templates)?;
    let accepted = enqueue(&app, &caller, request, idempotent).await?;
    let headers = [
        (RENDER_ID, accepted.id.to_string()),
        (header::LOCATION, format!("/api/v1/renders/{}", accepted.id)),
    ];
    let replayed = accepted.replayed.then_some([REPLAYED]);
    Ok((headers, replayed, Json(json!({"status": "success"}))).into_response())
}
