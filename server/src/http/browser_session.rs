//! Browser sessions over HTTP: cookies, the logged-in user, and protection against cross-site requests.
//!
//! Pages for logged-in users are wrapped in [`protect`], once:
//!
//! ```ignore
//! let proxies = app.config.http.trusted_proxies.clone();
//! let pages = browser_session::protect(pages, &app.people, &app.base_url, proxies, form_limits);
//! ```
//!
//! Handlers find among the extensions of a request: `tower_sessions::Session`, for functions that act on it
//! (`service::people::log_in`, `service::sessions`); `domain::client::Client`, the client's address and browser; and,
//! if a user is logged in, `service::sessions::LoggedIn`. A log-in also sets a second cookie that outlasts the session,
//! by which the browser is recognized. Handlers put [`csrf::token`](super::csrf::token) into each form as the hidden
//! field `csrf`; scripts send it as the header `X-CSRF-Token`. The token changes with every log-in, so the next page
//! must be reloaded.

use std::{net::Ipv4Addr, sync::Arc};

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use platen_app::cookies;
use platen_core::{
    clock,
    service::{
        people::{People, devices::LIFETIME},
        sessions::{self, PostgresSessions},
    },
};
use platen_domain::{
    client::{Client, DeviceToken},
    network::Network,
};
use tower_sessions::{Session, SessionManagerLayer, cookie::SameSite};
use url::Url;

use crate::http::{body_limits::FormLimits, client_address::client, csrf};

/// Wraps pages in sessions, limits on request bodies, and protection against cross-site requests. `base_url` is the
/// address at which browsers reach the service; `trusted_proxies` are the proxies whose forwarding headers are trusted.
pub fn protect<S: Clone + Send + Sync + 'static>(
    pages: Router<S>,
    people: &People,
    base_url: &Url,
    trusted_proxies: Vec<Network>,
    form_limits: FormLimits,
) -> Router<S> {
    let secure = base_url.scheme() == "https";
    let (name, device) = cookie_names(secure);
    let layer = SessionManagerLayer::new(PostgresSessions(people.db.clone()))
        .with_name(name)
        .with_path("/")
        .with_same_site(SameSite::Lax)
        .with_http_only(true)
        .with_secure(secure);
    let origin = base_url.origin();
    let trusted_proxies: Arc<[Network]> = trusted_proxies.into();
    // The last layer runs first.
    pages
        .layer(middleware::from_fn(move |request: Request, next: Next| {
            csrf::check(origin.clone(), request, next)
        }))
        .layer(middleware::from_fn(move |request: Request, next: Next| {
            form_limits.clone().of_form(request, next)
        }))
        .layer(middleware::from_fn(
            move |session: Session, request: Request, next: Next| {
                let trusted_proxies = Arc::clone(&trusted_proxies);
                async move {
                    let token = device_token(request.headers(), device);
                    let request = with_client(request, &trusted_proxies, &token);
                    let (mut response, has_logged_in) = know(session, request, next).await;
                    if has_logged_in && let Ok(cookie) = HeaderValue::try_from(device_cookie(device, &token, secure)) {
                        response.headers_mut().append(header::SET_COOKIE, cookie);
                    }
                    response
                }
            },
        ))
        .layer(layer)
        .layer(middleware::map_response(move |response: Response| async move {
            complete_removal(response, name, secure)
        }))
}

/// Returns the names of the session cookie and of the device cookie. With the prefix, browsers refuse the cookies from
/// other hosts, other paths and unencrypted connections (RFC 6265bis, 4.1.3.2).
fn cookie_names(secure: bool) -> (&'static str, &'static str) {
    if secure {
        ("__Host-platen", "__Host-platen-device")
    } else {
        ("platen", "platen-device")
    }
}

/// Returns the token of the device cookie, or a new one if there is none.
fn device_token(headers: &HeaderMap, name: &str) -> DeviceToken {
    let token = cookies::find(headers, name).and_then(DeviceToken::parse);
    token.unwrap_or_else(|| DeviceToken::from_random(rand::random()))
}

fn device_cookie(name: &str, token: &DeviceToken, secure: bool) -> String {
    let (token, seconds) = (token.expose(), LIFETIME.whole_seconds());
    let secure = if secure { "; Secure" } else { "" };
    format!("{name}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
}

/// Adds the client's address and browser to the request's extensions.
fn with_client(request: Request, trusted_proxies: &[Network], device: &DeviceToken) -> Request {
    let (mut parts, body) = request.into_parts();
    // Every connection that the service accepts has an address.
    let client = client(&parts, trusted_proxies).unwrap_or_else(|| Client::new(Ipv4Addr::UNSPECIFIED.into(), ""));
    parts.extensions.insert(client.with_device(device.digest()));
    Request::from_parts(parts, body)
}

/// Finds the logged-in user and extends the session. The `bool` is whether this request was a log-in.
async fn know(session: Session, mut request: Request, next: Next) -> (Response, bool) {
    let id = session.id();
    match sessions::current(&session, clock::now()).await {
        Ok(Some(person)) => {
            request.extensions_mut().insert(person);
        }
        Ok(None) => {}
        Err(error) => return (unavailable(&error), false),
    }
    let response = next.run(request).await;
    if !session.is_modified() {
        return (response, false);
    }
    match sessions::extend(&session).await {
        // A log-in changes the session's id. The new id is known once the session is saved.
        Ok(whose) => (
            response,
            whose.is_some() && session.id().is_none_or(|now| Some(now) != id),
        ),
        Err(error) => (unavailable(&error), false),
    }
}

fn unavailable(error: &tower_sessions::session::Error) -> Response {
    tracing::error!(%error, "a session could not be read");
    let message = "The service can't read sessions right now. Try again in a minute.\n";
    (StatusCode::SERVICE_UNAVAILABLE, message).into_response()
}

/// Browsers remove a cookie only if the attributes match. With the prefix, they ignore one without `Secure`.
fn complete_removal(mut response: Response, name: &str, secure: bool) -> Response {
    let header::Entry::Occupied(mut cookies) = response.headers_mut().entry(header::SET_COOKIE) else {
        return response;
    };
    for cookie in cookies.iter_mut() {
        let Ok(text) = cookie.to_str() else { continue };
        let removes = text.strip_prefix(name).is_some_and(|rest| rest.starts_with("=;")) && !text.contains("HttpOnly");
        if removes {
            let secure = if secure { "; Secure" } else { "" };
            let completed = HeaderValue::try_from(format!("{text}; HttpOnly; SameSite=Lax{secure}"));
            *cookie = completed.unwrap_or_else(|_| cookie.clone());
        }
    }
    response
}
