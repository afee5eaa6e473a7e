//! `/dev/mail`: undelivered mail, for developers who run the service without a mail server.
//!
//! Mails contain links that grant access to accounts. The page is therefore served only if all of these hold: according
//! to its settings the service is local; the request comes from loopback and not through a proxy; and its host name is
//! one of loopback (a page elsewhere could point its own name at this machine). A proxy that adds no headers speaks
//! HTTP/1.0, as nginx does by default; browsers never do.

use std::net::{IpAddr, SocketAddr};

use axum::{
    Router,
    extract::{ConnectInfo, FromRef, FromRequestParts, Path, State},
    http::{HeaderMap, Version, header, request::Parts},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use platen_core::service::{
    Services,
    mail::{self, Delivery},
};
use platen_domain::{html::escaped, ids::MailId};
use time::format_description::well_known::Rfc3339;

use crate::http::error::ApiError;

/// Forbids scripts, subresources and form submissions.
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/// As [`POLICY`], but allows the styles of mails and isolates them in a sandbox.
const MAIL_POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Headers that proxies add.
const FORWARDED: [&str; 6] = [
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
];

/// Returns the routes, if mail is stored instead of sent.
pub(super) fn routes<S: Clone + Send + Sync + 'static>(delivery: &Delivery) -> Router<S>
where
    Services: FromRef<S>,
{
    match delivery {
        Delivery::Stored => Router::new()
            .route("/dev/mail", get(list))
            .route("/dev/mail/{id}", get(one))
            .route("/dev/mail/{id}/html", get(html)),
        Delivery::Smtp(_) | Delivery::None => Router::new(),
    }
}

/// A direct request from this machine. Others get 404.
struct Developer;

impl<S: Send + Sync> FromRequestParts<S> for Developer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let direct = parts.version > Version::HTTP_10
            && peer.is_some_and(|ConnectInfo(peer)| peer.ip().to_canonical().is_loopback())
            && !FORWARDED.iter().any(|name| parts.headers.contains_key(*name));
        (direct && is_for_loopback(&parts.headers))
            .then_some(Self)
            .ok_or(ApiError::NoSuchPath)
    }
}

fn is_for_loopback(headers: &HeaderMap) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
    name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

async fn list(_: Developer, State(app): State<Services>) -> Result<Response, ApiError> {
    let mails = mail::list_stored(&app.db).await?;
    let rows = mails.iter().map(|mail| {
        let (id, to, subject) = (mail.id, escaped(&mail.recipient), escaped(&mail.written.subject));
        let at = mail.inserted_at.format(&Rfc3339).unwrap_or_default();
        format!("<tr><td>{to}<td><a href=\"/dev/mail/{id}\">{subject}</a><td>{at}\n")
    });
    let rows: String = rows.collect();
    let body = format!(
        "<h1>Mail</h1>\n<p>PLATEN_SMTP_URL is not set, so no email is sent. Newest first.</p>\n\
         <table><thead><tr><th scope=\"col\">To<th scope=\"col\">Subject<th scope=\"col\">At</thead>\n\
         <tbody>\n{rows}</tbody></table>\n"
    );
    Ok(page(POLICY, document("Mail", &body)))
}

async fn one(_: Developer, State(app): State<Services>, path: Path<String>) -> Result<Response, ApiError> {
    let mail = find(&app, &path).await?;
    let lines = mail.written.text.lines().map(|line| {
        let text = escaped(line);
        if line.starts_with(app.base_url.as_str()) {
            format!("<a href=\"{text}\">{text}</a>\n")
        } else {
            format!("{text}\n")
        }
    });
    let text: String = lines.collect();
    let subject = escaped(&mail.written.subject);
    let body = format!(
        "<h1>{subject}</h1>\n<p>To {} · <a href=\"/dev/mail/{}/html\">as a page</a> · <a href=\"/dev/mail\">all</a></p>\n\
         <pre>{text}</pre>\n",
        escaped(&mail.recipient),
        mail.id
    );
    Ok(page(POLICY, document(&subject, &body)))
}

async fn html(_: Developer, State(app): State<Services>, path: Path<String>) -> Result<Response, ApiError> {
    Ok(page(MAIL_POLICY, find(&app, &path).await?.written.html))
}

async fn find(app: &Services, path: &str) -> Result<platen_core::store::mails::StoredMail, ApiError> {
    let id = MailId::parse(path).ok_or(ApiError::NoSuchPath)?;
    mail::find_stored(&app.db, id).await?.ok_or(ApiError::NoSuchPath)
}

/// Wraps `body` in an HTML document. `body` and `title` must be escaped.
fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{title}</title></head>\n\
         <body>\n{body}</body>\n</html>\n"
    )
}

fn page(policy: &'static str, html: String) -> Response {
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, Html(html)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_loopback_are_answered() {
        let asked = |host: &'static str| {
            is_for_loopback(&HeaderMap::from_iter([(header::HOST, host.parse().expect("a host"))]))
        };
        for host in ["localhost", "localhost:3000", "127.0.0.1:3000", "[::1]:3000", "[::1]"] {
            assert!(asked(host), "{host}");
        }
        for host in [
            "",
            "platen.example",
            "localhost.evil.example:3000",
            "127.0.0.1.nip.io",
            "192.0.2.1:3000",
        ] {
            assert!(!asked(host), "{host}");
        }
        assert!(!is_for_loopback(&HeaderMap::new()));
    }
}
