//! Extractors of request bodies. The caller must be extracted before, because the size limit depends on the account.

use std::error::Error;

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{FromRequest, Request},
    http::{HeaderMap, HeaderName, header},
};
use bytes::BytesMut;
use http_body_util::{BodyExt, Limited};
use platen_core::{
    memory::Reservation,
    render_request::{
        AsynchronousRequest, SynchronousRequest,
        batch::{BatchCreation, RowsSource},
        preview::PreviewRequest,
    },
    service::parsers::Busy,
    storage::object_stores::ObjectStores,
};
use platen_domain::{
    asset::{AssetCreation, AssetReplacement},
    connection::NewConnection,
    download_link::LinkRequest,
    idempotency::{Fingerprint, IdempotencyKey, IdempotentRequest},
    template::{
        Saved, Submission, comparison::ComparisonRequest, promotions::PromotionRequest,
        sample_sets::SampleSetReplacement, settings::SettingsChanges,
    },
    validation::Problem,
};

use crate::http::{ApiState, error::ApiError, extract::extracted_caller};

/// The raw bytes and the parsed values.
const COPIES_OF_A_BODY: u64 = 2;
/// Initial capacity; most bodies are shorter.
const FIRST_ROOM: usize = 64 * 1024;
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The body of a render request.
pub(in crate::http) struct RenderBody<T> {
    pub(in crate::http) request: T,
    /// The reservation for the request's memory.
    pub(in crate::http) memory: Reservation,
    /// Present if the request has an `Idempotency-Key`.
    pub(in crate::http) idempotent: Option<IdempotentRequest>,
}

/// A value that can be parsed from a body.
pub(in crate::http) trait FromBody: Sized + Send + 'static {
    /// Number of copies of the body that the value contains.
    const COPIES: u64 = 1;

    fn from_body(body: &Bytes, stores: &ObjectStores) -> Result<Self, Vec<Problem>>;
}

impl FromBody for SynchronousRequest {
    /// The raw bytes are stored after the render.
    const COPIES: u64 = COPIES_OF_A_BODY;

    fn from_body(body: &Bytes, _: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::parse(body)
    }
}

impl FromBody for AsynchronousRequest {
    fn from_body(body: &Bytes, _: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::parse(body)
    }
}

impl FromBody for BatchCreation {
    /// The request and the rows, and their encrypted copy.
    const COPIES: u64 = COPIES_OF_A_BODY;

    fn from_body(body: &Bytes, _: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::parse(body)
    }
}

impl FromBody for RowsSource {
    fn from_body(body: &Bytes, _: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::parse(body)
    }
}

impl FromBody for PreviewRequest {
    fn from_body(body: &Bytes, _: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::parse(body)
    }
}

impl FromBody for ComparisonRequest {
    fn from_body(body: &Bytes, _: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::parse(body)
    }
}

impl FromBody for SettingsChanges {
    fn from_body(body: &Bytes, _: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::parse(body)
    }
}

impl FromBody for SampleSetReplacement {
    fn from_body(body: &Bytes, _: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::parse(body)
    }
}

impl FromBody for PromotionRequest {
    fn from_body(body: &Bytes, _: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::parse(body)
    }
}

impl FromBody for LinkRequest {
    fn from_body(body: &Bytes, _: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::parse(body)
    }
}

impl FromBody for AssetCreation {
    /// The content, and the copy that is sent to the database.
    const COPIES: u64 = COPIES_OF_A_BODY;

    fn from_body(body: &Bytes, _: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::parse(body)
    }
}

impl FromBody for AssetReplacement {
    /// As for [`AssetCreation`].
    const COPIES: u64 = COPIES_OF_A_BODY;

    fn from_body(body: &Bytes, _: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::parse(body)
    }
}

impl<T: Saved + Send + 'static> FromBody for Submission<T> {
    fn from_body(body: &Bytes, _: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::read(body)
    }
}

impl FromBody for NewConnection {
    fn from_body(body: &Bytes, stores: &ObjectStores) -> Result<Self, Vec<Problem>> {
        Self::parse(body, |url| stores.check_endpoint(url))
    }
}

impl<T: FromBody> FromRequest<ApiState> for RenderBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        let livemode = extracted_caller(request.extensions())?.livemode;
        let operation = format!("{} {}", request.method(), request.uri().path());
        let key = idempotency_key(request.headers());
        let parse = move |body: &Bytes, stores: &ObjectStores| {
            let idempotent = key?.map(|key| IdempotentRequest {
                key,
                fingerprint: Fingerprint::new(&operation, livemode, body),
            });
            T::from_body(body, stores).map(|request| (request, idempotent))
        };
        let ((request, idempotent), memory) = parsed_body(request, state, T::COPIES, parse).await?;
        Ok(Self {
            request,
            memory,
            idempotent,
        })
    }
}

/// Parses the `Idempotency-Key` header. Its errors point to the whole body, because headers have no JSON pointer.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Vec<Problem>> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let key = values
        .next()
        .map(|value| IdempotencyKey::parse(value.as_bytes()))
        .transpose();
    match (key, values.next()) {
        (Ok(key), None) => Ok(key),
        (Ok(_), Some(_)) => Err(vec![Problem::invalid(
            "",
            "The header Idempotency-Key was sent more than once",
        )]),
        (Err(error), _) => Err(vec![Problem::invalid("", error.to_string())]),
    }
}

/// The body of a request, and the reservation for its memory.
pub(in crate::http) struct JsonBody<T>(pub(in crate::http) T, pub(in crate::http) Reservation);

impl<T: FromBody> FromRequest<ApiState> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        let (body, memory) = parsed_body(request, state, T::COPIES, T::from_body).await?;
        Ok(Self(body, memory))
    }
}

/// Reads a JSON body, and parses it once a parser is free. Waiting for the parser counts toward the time for the body.
/// Also returns the memory reservation for the parsed value, which contains `copies` copies of the body.
async fn parsed_body<T: Send + 'static>(
    request: Request,
    state: &ApiState,
    copies: u64,
    parse: impl FnOnce(&Bytes, &ObjectStores) -> Result<T, Vec<Problem>> + Send + 'static,
) -> Result<(T, Reservation), ApiError> {
    let deadline = state.app.parsing_deadline();
    let account = extracted_caller(request.extensions())?.account;
    let (body, mut memory) = json_body(request, state).await?;
    let bytes = body.len();
    let stores = state.app.buckets.stores().clone();
    let parse = move || parse(&body, &stores);
    let parsing = state.app.parsers.run(account, deadline, bytes, parse);
    let parsed = parsing
        .await
        .map_err(|Busy| ApiError::Busy)?
        .map_err(ApiError::Invalid)?;
    memory.shrink_to(copies * bytes as u64);
    Ok((parsed, memory))
}

/// Reads a JSON body, after checks of its type and size. Memory for the bytes and for the parsed value is reserved
/// before the first byte is read.
async fn json_body(request: Request, state: &ApiState) -> Result<(Bytes, Reservation), ApiError> {
    let headers = request.headers();
    if !is_json(headers) {
        return Err(ApiError::MediaType(
            "The body must be JSON: send the header Content-Type: application/json.",
        ));
    }
    if headers
        .get(header::CONTENT_ENCODING)
        .is_some_and(|encoding| encoding != "identity")
    {
        return Err(ApiError::MediaType(
            "Compressed bodies aren't supported; omit the header Content-Encoding.",
        ));
    }
    let caller = extracted_caller(request.extensions())?;
    let (account, limit) = (caller.account, caller.limits.body_bytes);
    let size = request.body().size_hint();
    if size.lower() > limit as u64 {
        return Err(ApiError::TooLarge(limit));
    }
    let longest = size.upper().unwrap_or(limit as u64).min(limit as u64);
    let mut memory = state.app.memory.reserve(account, COPIES_OF_A_BODY * longest).await?;
    match read_body(Limited::new(request.into_body(), limit), longest as usize).await {
        Ok(body) => {
            memory.shrink_to(COPIES_OF_A_BODY * body.len() as u64);
            Ok((body, memory))
        }
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(ApiError::TooLarge(limit)),
        Err(_) => Err(ApiError::incomplete()),
    }
}

/// Reads the whole body into one buffer. If its length is known, the buffer isn't reallocated beyond that length.
async fn read_body(mut body: Limited<Body>, longest: usize) -> Result<Bytes, Box<dyn Error + Send + Sync>> {
    let mut read = BytesMut::with_capacity(longest.min(FIRST_ROOM));
    while let Some(frame) = body.frame().await.transpose()? {
        if let Ok(data) = frame.into_data() {
            if read.capacity() - read.len() < data.len() {
                // At most doubled, so that a client that announces much and sends little uses little memory.
                read.reserve(read.len().max(data.len()).min(longest - read.len()));
            }
            read.extend_from_slice(&data);
        }
    }
    Ok(read.freeze())
}

/// Returns whether the body is JSON, according to its media type.
pub(in crate::http) fn is_json(headers: &HeaderMap) -> bool {
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
