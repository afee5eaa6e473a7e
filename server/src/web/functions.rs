//! Functions of pages, called by forms or by the app in the browser.

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use leptos::server_fn::{
    axum::get_server_fn_service,
    error::{FromServerFnError, SERVER_FN_ERROR_HEADER, ServerFnUrlError},
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
    let request = without_former_outcome(request);
    let answer = leptos_axum::handle_server_fns_with_context(move || provide(&web), request).await;
    with_own_status(answer.into_response()).await
}

/// What the page's address says of an earlier try goes: Leptos adds what comes of this one.
fn without_former_outcome(mut request: Request) -> Request {
    let headers = request.headers_mut();
    if let Some(Ok(page)) = headers.get(header::REFERER).map(HeaderValue::to_str) {
        let mut page = page.to_owned();
        ServerFnUrlError::<AppError>::strip_error_info(&mut page);
        if let Ok(page) = HeaderValue::try_from(page) {
            headers.insert(header::REFERER, page);
        }
    }
    request
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
