//! Protection against cross-site request forgery. Two checks apply to requests that change anything: the browser's
//! statement of the request's origin, and a token that only the session's own pages contain.

use aws_lc_rs::hmac;
use axum::{
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{HeaderMap, HeaderName, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use subtle::ConstantTimeEq;
use tower_sessions::Session;
use url::{Origin, Url, form_urlencoded};

use crate::http::body_limits::FORM_BYTES;

/// The header with the token, for requests other than forms.
const HEADER: HeaderName = HeaderName::from_static(platen_app::csrf::HEADER);

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Returns the token for forms of a session, or `None` if there is no session. It changes with every log-in.
pub fn token(session: &Session) -> Option<String> {
    // The token doesn't reveal the session's id, which the cookie contains.
    let key = hmac::Key::new(hmac::HMAC_SHA256, &session.id()?.0.to_le_bytes());
    Some(BASE64_URL_SAFE_NO_PAD.encode(hmac::sign(&key, b"csrf")))
}

/// Passes requests that change nothing, or that come from the service's own pages. `ours` is the origin at which
/// browsers reach the service.
pub(super) async fn check(ours: Origin, request: Request, next: Next) -> Response {
    if matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS) {
        return next.run(request).await;
    }
    let session = request.extensions().get::<Session>().and_then(token);
    match comes_from(request.headers(), &ours) {
        Source::Ours => {}
        // Not a browser: it has neither a session nor the headers that browsers add.
        Source::Unknown if session.is_none() => {}
        Source::Unknown | Source::Foreign => {
            let message = format!(
                "This request came from another site, and nothing was changed. Open {} and try again there.\n",
                ours.ascii_serialization()
            );
            return refused(message);
        }
    }
    let Some(token) = session else {
        return next.run(request).await;
    };
    match with_token(request, &token).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => refusal,
    }
}

/// Extension of the response to a form of the service's own pages that was refused because its token is another
/// session's. The form was not passed on.
#[derive(Clone)]
pub(crate) struct OutdatedForm(pub(crate) Bytes);

enum Source {
    Ours,
    Foreign,
    /// The request has no header that states its origin.
    Unknown,
}

/// Determines the origin of a request. With every request other than a simple retrieval, browsers send one of these
/// headers or both (Fetch, 3.2; Fetch Metadata, 2.4).
fn comes_from(headers: &HeaderMap, ours: &Origin) -> Source {
    if let Some(site) = headers.get(FETCH_SITE) {
        // `none`: initiated by the user, not by a page.
        return match site.as_bytes() {
            b"same-origin" | b"none" => Source::Ours,
            _ => Source::Foreign,
        };
    }
    let Some(origin) = headers.get(header::ORIGIN) else {
        return Source::Unknown;
    };
    let origin = origin.to_str().ok().and_then(|origin| Url::parse(origin).ok());
    match origin {
        Some(origin) if origin.origin() == *ours => Source::Ours,
        _ => Source::Foreign,
    }
}

/// Returns the request if its header or its form contains the token.
async fn with_token(request: Request, token: &str) -> Result<Request, Response> {
    let same = |given: &[u8]| bool::from(given.ct_eq(token.as_bytes()));
    let has_token = |pairs: &[u8]| {
        let given = form_urlencoded::parse(pairs).find(|(name, _)| name == platen_app::csrf::FIELD);
        given.is_some_and(|(_, given)| same(given.as_bytes()))
    };
    if let Some(given) = request.headers().get(HEADER) {
        return if same(given.as_bytes()) {
            Ok(request)
        } else {
            Err(outdated())
        };
    }
    let media_type = request.headers().get(header::CONTENT_TYPE);
    let is_form = media_type.is_some_and(|media_type| {
        let media_type = media_type.as_bytes();
        media_type.starts_with(b"application/x-www-form-urlencoded")
    });
    if !is_form {
        // A form with files has the token in the query of its action, because its body is read field by field.
        let with_files = media_type.is_some_and(|media_type| media_type.as_bytes().starts_with(b"multipart/form-data"));
        return if with_files && has_token(request.uri().query().unwrap_or_default().as_bytes()) {
            Ok(request)
        } else {
            Err(outdated())
        };
    }
    let (parts, body) = request.into_parts();
    let form = to_bytes(body, FORM_BYTES).await.map_err(|_| {
        let message = "The form was not received completely. Submit it again.\n";
        (StatusCode::BAD_REQUEST, message).into_response()
    })?;
    if has_token(&form) {
        Ok(Request::from_parts(parts, Body::from(form)))
    } else {
        let mut response = outdated();
        response.extensions_mut().insert(OutdatedForm(form));
        Err(response)
    }
}

/// Usually caused by a page that was open during a new log-in.
fn outdated() -> Response {
    refused(
        "This form is out of date, and nothing was changed. Go back, reload the page, and submit it again.\n"
            .to_owned(),
    )
}

fn refused(message: String) -> Response {
    (StatusCode::FORBIDDEN, message).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(headers: &[(&'static str, &'static str)], base: &str) -> &'static str {
        let headers = headers
            .iter()
            .map(|&(name, value)| (HeaderName::from_static(name), value.parse().expect("a value")))
            .collect();
        match comes_from(&headers, &Url::parse(base).expect("a URL").origin()) {
            Source::Ours => "ours",
            Source::Foreign => "foreign",
            Source::Unknown => "unknown",
        }
    }

    #[test]
    fn the_browser_says_where_a_request_comes_from() {
        let base = "https://platen.example/";
        for (headers, expected) in [
            (&[][..], "unknown"),
            (&[("origin", "https://platen.example")], "ours"),
            (&[("origin", "https://platen.example:443")], "ours"),
            (&[("origin", "http://platen.example")], "foreign"),
            (&[("origin", "https://platen.example.evil.example")], "foreign"),
            (&[("origin", "null")], "foreign"),
            (&[("sec-fetch-site", "same-origin")], "ours"),
            (&[("sec-fetch-site", "same-site")], "foreign"),
            (&[("sec-fetch-site", "cross-site")], "foreign"),
            // The browser's statement counts, not the host name, which a proxy may have changed.
            (
                &[("sec-fetch-site", "same-origin"), ("origin", "http://localhost:3000")],
                "ours",
            ),
            (
                &[("sec-fetch-site", "cross-site"), ("origin", "https://platen.example")],
                "foreign",
            ),
        ] {
            assert_eq!(source(headers, base), expected, "{headers:?}");
        }
    }
}
