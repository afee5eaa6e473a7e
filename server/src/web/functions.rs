//! Functions of pages, called by forms or by the app in the browser.

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use leptos::server_fn::{
    axum::get_server_fn_service,
    error::{FromServerFnError, SERVER_FN_ERROR_HEADER},
};
use platen_app::error::AppError;

use crate::{
    http,
    web::{Web, provide},
};

/// An error of ours is far smaller.
const LARGEST_ERROR: usize = 64 * 1024;

/// Calls the function that has the path.
pub(super) async fn call(State(web): State<Web>, request: Request) -> Response {
    if get_server_fn_service(request.uri().path(), request.method().clone()).is_none() {
        return http::no_such_path().await;
    }
    let answer = leptos_axum::handle_server_fns_with_context(move || provide(&web.app), request).await;
    with_own_status(answer.into_response()).await
}

/// Leptos says 500 of any error; whose fault it is stands in the body.
async fn with_own_status(answer: Response) -> Response {
    if answer.status() != StatusCode::INTERNAL_SERVER_ERROR || !answer.headers().contains_key(SERVER_FN_ERROR_HEADER) {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let body = to_bytes(body, LARGEST_ERROR).await.unwrap_or_default();
    let error = AppError::de(body.clone());
    parts.status = StatusCode::from_u16(error.status()).unwrap_or(parts.status);
    Response::from_parts(parts, Body::from(body))
}
