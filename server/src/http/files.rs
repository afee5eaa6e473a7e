//! Documents in the default storage: `/files/renders/<uuid>.pdf`, protected by their random names, if they are on disk; and
//! `/files/links/<token>`, which expire.

use std::{convert::Infallible, path::Path as FilePath};

use axum::{
    body::Body,
    extract::{Path, Request, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use platen_core::service::{
    Services,
    renders::links::{self, LocatedDocument},
};
use tower::ServiceExt;
use tower_http::services::ServeFile;
use uuid::Uuid;

use crate::http::{error::ApiError, held_body::HeldBody};

const PDF: &str = "application/pdf";

/// `GET`, including range requests (RFC 9110, 14) and conditional requests (RFC 9110, 13).
pub(super) async fn get(State(app): State<Services>, Path(name): Path<String>, request: Request) -> Response {
    let Some(id) = document_id(&name) else {
        return ApiError::NoSuchPath.into_response();
    };
    // A document never changes.
    let tag = format!("\"{id}\"");
    let known = request.headers().get_all(header::IF_NONE_MATCH).into_iter();
    if known
        .filter_map(|value| value.to_str().ok())
        .any(|tags| tags.contains(&tag))
    {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response();
    }
    let mut response = send(&app.documents.files().path(id), request).await;
    if response.status().is_success() {
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=3600"));
        response
            .headers_mut()
            .extend(HeaderValue::try_from(tag).ok().map(|tag| (header::ETAG, tag)));
    }
    response
}

/// `GET` of a link. A link for one use ends when it is responded to with the whole document.
pub(super) async fn linked(
    State(app): State<Services>,
    Path(token): Path<String>,
    mut request: Request,
) -> Result<Response, ApiError> {
    let link = links::open(&app, &token).await?;
    if !link.single_use {
        return Ok(located(&app, link.document, request).await);
    }
    // A range, or a response without a document, would use it up.
    let is_get = request.method() == Method::GET;
    request.headers_mut().clear();
    let mut response = located(&app, link.document.clone(), request).await;
    if is_get && response.status() == StatusCode::OK {
        links::use_up(&app, &link).await?;
    }
    response
        .headers_mut()
        .insert(header::ACCEPT_RANGES, HeaderValue::from_static("none"));
    Ok(response)
}

/// Responds with a document that must not be cached, because access to it can end.
pub(crate) async fn located(app: &Services, document: LocatedDocument, request: Request) -> Response {
    let mut response = match document {
        LocatedDocument::File(path) => send(&path, request).await,
        LocatedDocument::InBucket(object) if request.method() == Method::HEAD => {
            with_headers([(header::CONTENT_LENGTH, object.bytes.to_string())])
        }
        LocatedDocument::InBucket(object) => match links::download(app, object).await {
            Ok((content, memory)) => with_headers(Body::new(HeldBody::new(content, memory))),
            Err(error) => return ApiError::from(error).into_response(),
        },
    };
    if response.status().is_success() {
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    }
    response
}

/// Responds with a file, or the requested range of it.
async fn send(path: &FilePath, request: Request) -> Response {
    let file = ServeFile::new_with_mime(path, &PDF.parse().expect("a media type"));
    let served: Result<_, Infallible> = file.oneshot(request).await;
    let Ok(served) = served;
    if served.status().is_client_error() && served.status() != StatusCode::RANGE_NOT_SATISFIABLE {
        return ApiError::NoSuchPath.into_response();
    }
    with_headers(served.map(Body::new))
}

/// Adds the headers of a document. Its address is a secret, which must not leak to shared caches, search engines or other sites.
fn with_headers(response: impl IntoResponse) -> Response {
    let mut response = response.into_response();
    for (name, value) in [
        (header::CONTENT_TYPE, PDF),
        (header::CONTENT_DISPOSITION, "inline; filename=\"document.pdf\""),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Parses the name of a document. Only the canonical spelling is accepted.
fn document_id(name: &str) -> Option<Uuid> {
    let id: Uuid = name.strip_suffix(".pdf")?.parse().ok()?;
    (name == format!("{id}.pdf")).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_documents() {
        let id = Uuid::new_v4();
        assert_eq!(document_id(&format!("{id}.pdf")), Some(id));
        for name in [
            id.to_string(),
            format!("{}.pdf", id.simple()),
            format!("{id}.PDF"),
            format!("{}.pdf", id.to_string().to_uppercase()),
            format!("../{id}.pdf"),
            ".pdf".to_owned(),
        ] {
            assert_eq!(document_id(&name), None, "{name}");
        }
    }
}
