//! Security headers of the dashboard.

use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use leptos::{nonce::use_nonce, prelude::use_context};
use leptos_axum::ResponseOptions;
use platen_core::config::billing::{BillingConfig, StripeConfig};

/// Headers of all dashboard responses. Forms return to their page by the referrer, so it is sent to the same origin,
/// but to no other.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
    // For responses other than pages, which have a policy of their own.
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'",
    ),
];

/// Adds [`HEADERS`] to responses that lack them.
pub(super) async fn keep(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Sets the policy of a page: only scripts and styles with the nonce of this response.
pub(super) fn announce(billing: &BillingConfig) {
    let (Some(nonce), Some(response)) = (use_nonce(), use_context::<ResponseOptions>()) else {
        return;
    };
    // Forms may redirect to Stripe's payment pages.
    let stripe = billing.stripe.iter().flat_map(StripeConfig::page_origins);
    let pages: Vec<String> = stripe.map(|origin| format!(" {origin}")).collect();
    let pages = pages.concat();
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'; \
         style-src 'self' 'nonce-{nonce}'; font-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'{pages}; \
         base-uri 'none'; frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::try_from(policy) {
        response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
    }
}
