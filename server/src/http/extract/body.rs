//! What bodies say. The caller has to be extracted before: how much is read depends on who sends it.

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, HeaderName, header},
};
use http_body_util::{BodyExt, Limited};

use crate::{
    domain::{
        connection::NewConnection,
        idempotency::{Fingerprint, IdempotencyKey, IdempotentRequest},
        render::{AsynchronousRequest, SynchronousRequest},
        template::{Saved, Submission, preview::PreviewRequest, settings::SettingsChanges},
        validation::Fault,
    },
    http::{ApiState, error::ApiError, extract::extracted_caller},
    service::parsers::Busy,
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The body of a request to render.
pub(in crate::http) struct RenderBody<T> {
    pub(in crate::http) request: T,
    /// When it may come again.
    pub(in crate::http) idempotent: Option<IdempotentRequest>,
}

/// A request to render, as a body says it.
pub(in crate::http) trait FromBody: Sized + Send + 'static {
    fn from_body(body: &Bytes) -> Result<Self, Vec<Fault>>;
}

impl FromBody for SynchronousRequest {
    fn from_body(body: &Bytes) -> Result<Self, Vec<Fault>> {
        Self::parse(body)
    }
}

impl FromBody for AsynchronousRequest {
    fn from_body(body: &Bytes) -> Result<Self, Vec<Fault>> {
        Self::parse(body)
    }
}

impl<T: FromBody> FromRequest<ApiState> for RenderBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        let livemode = extracted_caller(request.extensions())?.livemode;
        let operation = format!("{} {}", request.method(), request.uri().path());
        let key = idempotency_key(request.headers());
        let parse = move |body: &Bytes| {
            let idempotent = key?.map(|key| IdempotentRequest {
                key,
                fingerprint: Fingerprint::new(&operation, livemode, body),
            });
            T::from_body(body).map(|request| Self { request, idempotent })
        };
        parsed_body(request, state, parse).await
    }
}

/// A header has no place in a body, so its fault is one of the whole.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Vec<Fault>> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let key = values
        .next()
        .map(|value| IdempotencyKey::parse(value.as_bytes()))
        .transpose();
    match (key, values.next()) {
        (Ok(key), None) => Ok(key),
        (Ok(_), Some(_)) => Err(vec![Fault::invalid(
            "",
            "The header Idempotency-Key came more than once",
        )]),
        (Err(error), _) => Err(vec![Fault::invalid("", error.to_string())]),
    }
}

/// The body of a request to save a template.
pub(in crate::http) struct TemplateBody<T>(pub(in crate::http) Submission<T>);

impl<T: Saved + Send + 'static> FromRequest<ApiState> for TemplateBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        parsed_body(request, state, |body| Submission::read(body))
            .await
            .map(Self)
    }
}

/// The body of a request for a preview.
pub(in crate::http) struct PreviewBody(pub(in crate::http) PreviewRequest);

impl FromRequest<ApiState> for PreviewBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        parsed_body(request, state, |body| PreviewRequest::parse(body))
            .await
            .map(Self)
    }
}

/// The body of a request to change a template's settings.
pub(in crate::http) struct SettingsBody(pub(in crate::http) SettingsChanges);

impl FromRequest<ApiState> for SettingsBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        parsed_body(request, state, |body| SettingsChanges::parse(body))
            .await
            .map(Self)
    }
}

/// The body of a request to make a storage connection.
pub(in crate::http) struct ConnectionBody(pub(in crate::http) NewConnection);

impl FromRequest<ApiState> for ConnectionBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        let stores = state.app.buckets.stores().clone();
        let parse = move |body: &Bytes| NewConnection::parse(body, stores.policy());
        parsed_body(request, state, parse).await.map(Self)
    }
}

/// A JSON body, parsed at one of the places for it. Waiting for the place is part of the time for the body.
async fn parsed_body<T: Send + 'static>(
    request: Request,
    state: &ApiState,
    parse: impl FnOnce(&Bytes) -> Result<T, Vec<Fault>> + Send + 'static,
) -> Result<T, ApiError> {
    let deadline = state.app.parsing_deadline();
    let account = extracted_caller(request.extensions())?.account;
    let body = json_body(request, state).await?;
    let parsed = state.app.parsers.run(account, deadline, move || parse(&body)).await;
    parsed.map_err(|Busy| ApiError::Busy)?.map_err(ApiError::Invalid)
}

/// The bytes of a JSON body, if its type and size are right.
async fn json_body(request: Request, state: &ApiState) -> Result<Bytes, ApiError> {
    let headers = request.headers();
    if !is_json(headers) {
        return Err(ApiError::MediaType(
            "The body has to be JSON: send the header Content-Type: application/json.",
        ));
    }
    if headers
        .get(header::CONTENT_ENCODING)
        .is_some_and(|encoding| encoding != "identity")
    {
        return Err(ApiError::MediaType(
            "Compressed bodies are not taken; leave the header Content-Encoding out.",
        ));
    }
    let limit = extracted_caller(request.extensions())?.limits.body_bytes;
    let patience = state.app.config.limits.body_time;
    let body = Limited::new(request.into_body(), limit).collect();
    let Ok(body) = tokio::time::timeout(patience, body).await else {
        return Err(ApiError::TooSlow(patience));
    };
    match body {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(ApiError::TooLarge(limit)),
        Err(_) => Err(ApiError::Invalid(vec![Fault::invalid("", "The body broke off")])),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn of_type(content_type: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(content_type))])
    }

    #[test]
    fn content_types() {
        for json in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/json ;x=y",
        ] {
            assert!(is_json(&of_type(json)), "{json}");
        }
        for other in [
            "",
            "text/json",
            "application/jsonp",
            "application/x-www-form-urlencoded",
            "text/plain",
        ] {
            assert!(!is_json(&of_type(other)), "{other}");
        }
    }
}
