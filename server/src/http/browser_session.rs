//! Sessions of browsers over HTTP: the cookie, who is logged in, and the defence against requests that other sites make in
//! a person's name.
//!
//! Pages that know people are put under [`protect`], once:
//!
//! ```ignore
//! let proxies = app.config.http.trusted_proxies.clone();
//! let pages = browser_session::protect(pages, &app.people, &app.base_url, proxies);
//! ```
//!
//! Their handlers find among the extensions of a request: `tower_sessions::Session`, for what acts on it
//! (`service::people::log_in`, `service::sessions`); `domain::client::Client`, where it comes from; and, if somebody is
//! logged in, `service::sessions::LoggedIn`. They put [`csrf::token`](super::csrf::token) into each form as the hidden field
//! `csrf`; scripts send it as the header `X-CSRF-Token`. After a log-in it is another one, so that the next page has to be
//! loaded anew.

use std::{net::Ipv4Addr, sync::Arc};

use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use tower_sessions::{Session, SessionManagerLayer, cookie::SameSite};
use url::Url;

use crate::{
    clock,
    domain::{client::Client, network::Network},
    http::{client_address::client, csrf},
    service::{
        people::People,
        sessions::{self, PostgresSessions},
    },
};

/// Wraps pages in sessions and in the defence against forged requests. `base_url`: where browsers reach the service;
/// `trusted_proxies`: whose word counts for where a request comes from.
pub fn protect<S: Clone + Send + Sync + 'static>(
    pages: Router<S>,
    people: &People,
    base_url: &Url,
    trusted_proxies: Vec<Network>,
) -> Router<S> {
    let secure = base_url.scheme() == "https";
    let name = cookie_name(secure);
    let layer = SessionManagerLayer::new(PostgresSessions(people.db.clone()))
        .with_name(name)
        .with_path("/")
        .with_same_site(SameSite::Lax)
        .with_http_only(true)
        .with_secure(secure);
    let origin = base_url.origin();
    let trusted_proxies: Arc<[Network]> = trusted_proxies.into();
    // The last one is asked first.
    pages
        .layer(middleware::from_fn(move |request: Request, next: Next| {
            csrf::check(origin.clone(), request, next)
        }))
        .layer(middleware::from_fn(know))
        .layer(middleware::map_request(move |request: Request| {
            let trusted_proxies = Arc::clone(&trusted_proxies);
            async move { with_client(request, &trusted_proxies) }
        }))
        .layer(layer)
        .layer(middleware::map_response(move |response: Response| async move {
            complete_removal(response, name, secure)
        }))
}

/// The prefix makes browsers refuse the cookie from other hosts, other paths and unencrypted connections
/// (RFC 6265bis, 4.1.3.2).
fn cookie_name(secure: bool) -> &'static str {
    if secure { "__Host-platen" } else { "platen" }
}

/// Notes where a request comes from.
fn with_client(request: Request, trusted_proxies: &[Network]) -> Request {
    let (mut parts, body) = request.into_parts();
    // Every connection of ours has an address.
    let client = client(&parts, trusted_proxies);
    parts
        .extensions
        .insert(client.unwrap_or_else(|| Client::new(Ipv4Addr::UNSPECIFIED.into(), "")));
    Request::from_parts(parts, body)
}

/// Finds who is logged in, and lets the session last.
async fn know(session: Session, mut request: Request, next: Next) -> Response {
    match sessions::current(&session, clock::now()).await {
        Ok(Some(person)) => {
            request.extensions_mut().insert(person);
        }
        Ok(None) => {}
        Err(error) => return unavailable(&error),
    }
    let response = next.run(request).await;
    if session.is_modified()
        && let Err(error) = sessions::extend(&session).await
    {
        return unavailable(&error);
    }
    response
}

fn unavailable(error: &tower_sessions::session::Error) -> Response {
    tracing::error!(%error, "a session could not be read");
    let message = "The service can't look up sessions at this moment; try again in a minute.\n";
    (StatusCode::SERVICE_UNAVAILABLE, message).into_response()
}

/// A cookie is removed by one with the same attributes; with the prefix, browsers pass over one that is not `Secure`.
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
