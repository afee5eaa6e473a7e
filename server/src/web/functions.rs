//! Server functions, called by forms or by islands.

use axum::{
    body::{Body, Bytes, to_bytes},
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
        rejection::{Field, Reason, Rejection},
    },
};
use platen_core::service::sessions::LoggedIn;
use url::{Position, Url, form_urlencoded};

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
    let function = request.uri().path().to_owned();
    let (request, form) = with_form(without_former_outcome(request)).await;
    let answer = leptos_axum::handle_server_fns_with_context(move || provide(&web), request).await;
    with_own_status(by_way_of(answer.into_response(), &function, &form)).await
}

/// Reads the form of a page. Requests of islands are left unread.
async fn with_form(request: Request) -> (Request, Bytes) {
    if !wants_page(request.headers()) {
        return (request, Bytes::new());
    }
    let (parts, body) = request.into_parts();
    // Bounded by `body_limits`, which also responds if the form is incomplete.
    let form = to_bytes(body, usize::MAX).await.unwrap_or_default();
    (Request::from_parts(parts, Body::from(form.clone())), form)
}

/// Completes the redirect of a rejected form. It leads to the form's page, with the typed values, which would be lost
/// without JavaScript. If the user must do something else first, it leads there: to the confirmation of their identity,
/// which leads back to the page and its typed values, or to the setup of a second factor.
fn by_way_of(mut answer: Response, function: &str, form: &[u8]) -> Response {
    let Some((page, mut error)) = rejection(&answer) else {
        return answer;
    };
    if let AppError::Rejected(rejection) = &mut error {
        rejection.typed = typed_values(form);
    }
    let Ok(page) = ServerFnUrlError::new(function, error.clone()).to_url(&page) else {
        return answer;
    };
    let way = match error {
        AppError::Rejected(Rejection {
            reason: Reason::Unconfirmed,
            ..
        }) => OwnPath::after_log_in(Some(&page[Position::BeforePath..]))
            .after(CONFIRM)
            .to_string(),
        AppError::SecondFactorFirst => SECOND_FACTOR_FIRST.to_owned(),
        _ => page.into(),
    };
    if let Ok(way) = HeaderValue::try_from(way) {
        answer.headers_mut().insert(header::LOCATION, way);
    }
    answer
}

/// Returns the page to which a rejected form redirects, and the error, which Leptos has added to its address.
fn rejection(answer: &Response) -> Option<(String, AppError)> {
    let location = answer.headers().get(header::LOCATION)?.to_str().ok()?;
    let address = Url::parse(location).ok()?;
    let (_, error) = address.query_pairs().find(|(name, _)| name == ERROR)?;
    let mut page = location.to_owned();
    ServerFnUrlError::<AppError>::strip_error_info(&mut page);
    Some((page, ServerFnUrlError::decode_err(&error)))
}

/// Returns the values of a form that its page shows again.
fn typed_values(form: &[u8]) -> Vec<(Field, String)> {
    let mut typed: Vec<(Field, String)> = Vec::new();
    for (name, value) in form_urlencoded::parse(form) {
        // Lists are submitted as `scopes[0]`, `scopes[1]`.
        let name = name.split_once('[').map_or(&*name, |(name, _)| name);
        let Some(field) = name.parse().ok().filter(|field: &Field| field.is_shown_again()) else {
            continue;
        };
        match typed.iter_mut().find(|(known, _)| *known == field) {
            Some((_, values)) => *values = format!("{values} {value}"),
            None => typed.push((field, value.into_owned())),
        }
    }
    typed
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
    fn a_page_shows_what_was_typed_but_no_secrets() {
        let form =
            b"csrf=a&email=ada%40example.org&password=secret&scopes%5B0%5D=render&scopes[3]=usage%3Aread&content=b";
        let typed = [
            (Field::Email, "ada@example.org".to_owned()),
            (Field::Scopes, "render usage:read".to_owned()),
        ];
        assert_eq!(typed_values(form), typed);
    }

    #[test]
    fn what_is_not_listed_is_for_people() {
        assert!(is_for_everybody("/web/log-in"));
        for path in ["/web/confirm-email", "/web/log-in-not", "/web/"] {
            assert!(!is_for_everybody(path), "{path}");
        }
    }
}
