//! Server functions, called by forms or by islands.

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use leptos::server_fn::{
    axum::get_server_fn_service,
    error::{FromServerFnError, SERVER_FN_ERROR_HEADER, ServerFnUrlError},
};
use platen_app::{
    error::AppError,
    model::{
        own_path::{CONFIRM, OwnPath, SECOND_FACTOR_FIRST},
        rejection::{Reason, Rejection},
    },
};
use platen_core::service::sessions::LoggedIn;
use url::{Position, Url};

use crate::{
    http,
    web::{Web, provide, wants_page},
};

/// Functions that visitors may call without a log-in. Every function authorizes itself; in addition, requests of others
/// are rejected before their body is read.
const FOR_EVERYBODY: [&str; 10] = [
    "join-as-new",
    "log-in",
    "log-out",
    "request-password-reset",
    "reset-password",
    "send-sign-up-again",
    "show-second-factor",
    "sign-up",
    "theme",
    "verify-sign-up",
];
/// Leptos' name of the query parameter with the error of a rejected form.
const ERROR: &str = "__err";
/// Errors of the application are far smaller.
const LARGEST_ERROR: usize = 64 * 1024;

/// Calls the server function at the path.
pub(super) async fn call(State(web): State<Web>, request: Request) -> Response {
    if get_server_fn_service(request.uri().path(), request.method().clone()).is_none() {
        return http::no_such_path().await;
    }
    let logged_in = request.extensions().get::<LoggedIn>().is_some();
    if !logged_in && !is_for_everybody(request.uri().path()) {
        return log_in_first(request.headers());
    }
    let request = without_former_outcome(request);
    let answer = leptos_axum::handle_server_fns_with_context(move || provide(&web), request).await;
    with_own_status(by_way_of(answer.into_response())).await
}

/// Changes the redirect of a rejected form if the user must do something else first: confirm their identity, which
/// leads back to the page and its typed values, or set up a second factor. Otherwise the form redirects to its page.
fn by_way_of(mut answer: Response) -> Response {
    let location = answer.headers().get(header::LOCATION);
    let location = location.and_then(|location| Url::parse(location.to_str().ok()?).ok());
    let Some((page, error)) = location.and_then(|page| {
        let (_, error) = page.query_pairs().find(|(name, _)| name == ERROR)?;
        let error = ServerFnUrlError::<AppError>::decode_err(&error);
        Some((page, error))
    }) else {
        return answer;
    };
    let way = match error {
        AppError::Rejected(Rejection {
            reason: Reason::Unconfirmed,
            ..
        }) => OwnPath::after_log_in(Some(&page[Position::BeforePath..])).after(CONFIRM),
        AppError::SecondFactorFirst => OwnPath::to(SECOND_FACTOR_FIRST),
        _ => return answer,
    };
    if let Ok(way) = HeaderValue::try_from(way.to_string()) {
        answer.headers_mut().insert(header::LOCATION, way);
    }
    answer
}

fn is_for_everybody(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|name| FOR_EVERYBODY.contains(&name))
}

/// Redirects forms to the log-in; requests of islands get the error.
fn log_in_first(headers: &HeaderMap) -> Response {
    if wants_page(headers) {
        return Redirect::to("/log-in").into_response();
    }
    let error = AppError::LogInFirst;
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::UNAUTHORIZED);
    (status, error.ser()).into_response()
}

/// Removes the result of an earlier submission from the page's address, to which Leptos adds the new one.
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

/// Replaces the status 500, with which Leptos responds to all errors, by the status of the error in the body.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_for_people() {
        assert!(is_for_everybody("/web/log-in"));
        for path in ["/web/confirm-email", "/web/log-in-not", "/web/"] {
            assert!(!is_for_everybody(path), "{path}");
        }
    }
}
