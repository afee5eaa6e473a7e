//! What browsers may do with our pages, and from where requests that change something may come.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use leptos::{nonce::use_nonce, prelude::use_context};
use leptos_axum::ResponseOptions;

/// On every answer of the dashboard. A form's referrer brings its sender back, so it goes to ourselves and nobody else.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
    // For what is no page; pages bring their own.
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'",
    ),
];

/// Sets the headers, and turns away what other sites' pages make a visitor's browser send.
pub(super) async fn keep(request: Request, next: Next) -> Response {
    let mut response = if changes(request.method()) && !comes_from_us(request.headers()) {
        tracing::warn!("a request from another site was refused");
        (StatusCode::FORBIDDEN, "This request comes from another site.\n").into_response()
    } else {
        next.run(request).await
    };
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

/// The policy of a page: scripts and styles of ours only, known by a word that is made for this one answer.
pub(super) fn announce() {
    let (Some(nonce), Some(response)) = (use_nonce(), use_context::<ResponseOptions>()) else {
        return;
    };
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'; \
         style-src 'self' 'nonce-{nonce}'; font-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::try_from(policy) {
        response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
    }
}

fn changes(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Browsers say where a request comes from: all of today in `Sec-Fetch-Site`, which no page can forge; older ones in
/// `Origin`, which has to name the host that was asked. What says neither is no browser, and has no visitor's cookies.
fn comes_from_us(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if let Some(site) = text(HeaderName::from_static("sec-fetch-site")) {
        return matches!(site, "same-origin" | "none");
    }
    let Some(origin) = text(header::ORIGIN) else {
        return true;
    };
    let host = origin.split_once("://").map(|(_, host)| host);
    host.is_some() && host == text(header::HOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_us(headers: &[(&'static str, &'static str)]) -> bool {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        comes_from_us(&headers.collect())
    }

    #[test]
    fn where_requests_come_from() {
        for ours in [
            &[][..],
            &[("sec-fetch-site", "same-origin")],
            &[("sec-fetch-site", "none")],
            &[("origin", "https://platen.example"), ("host", "platen.example")],
            &[("origin", "http://127.0.0.1:3000"), ("host", "127.0.0.1:3000")],
        ] {
            assert!(from_us(ours), "{ours:?}");
        }
        for foreign in [
            &[("sec-fetch-site", "cross-site")][..],
            &[("sec-fetch-site", "same-site")],
            &[
                ("sec-fetch-site", "cross-site"),
                ("origin", "https://platen.example"),
                ("host", "platen.example"),
            ],
            &[("origin", "https://evil.example"), ("host", "platen.example")],
            &[("origin", "https://platen.example:8443"), ("host", "platen.example")],
            &[("origin", "null"), ("host", "platen.example")],
            &[("origin", "https://platen.example")],
        ] {
            assert!(!from_us(foreign), "{foreign:?}");
        }
    }
}
