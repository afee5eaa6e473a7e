//! The only place where errors become responses: status, headers, and one of the three error formats of the API.

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use platen_core::{
    drawing::DrawingError,
    memory::MemoryFull,
    service::{
        api_keys::AuthenticationError,
        assets::AssetError,
        batches::BatchError,
        callbacks::ResendError,
        connections::ConnectionError,
        renders::{
            cancel::CancelError,
            failure::{FailureReason, RenderFailure},
            links::LinkError,
        },
        templates::TemplateError,
    },
    store::{
        account_storage,
        error::{self, StoreError},
    },
};
use platen_domain::{
    allowed::NotAllowed, api_key::Scope, number::counted, render::accessibility::missing::MissingReport,
    sentence::sentence, storage::StorageFull, template::comparison::SAMPLE_SET, validation::Problem,
};
use platen_engine::error::RenderError;
use serde_json::{Value, json};

use crate::http::v1::renderers::pdf::{RENDER_ID, REPLAYED};

/// Seconds after which a slot, or one of the account's concurrent renders, is likely to be free.
const RETRY_PLACE: u64 = 1;
/// Seconds after which documents that hold memory are likely to have been sent.
const RETRY_MEMORY: u64 = 2;
/// Seconds after which another process has taken over from one that is shutting down.
const RETRY_RESTART: u64 = 5;
/// Seconds after which the database, or its replacement, is likely to be reachable.
pub(super) const RETRY_DATABASE: u64 = 5;

/// Why a request failed.
#[derive(Debug)]
pub(super) enum ApiError {
    /// The request has no `Authorization: Bearer <key>` header.
    NoToken,
    /// The key was rejected.
    Authentication(AuthenticationError),
    /// The key lacks this scope.
    MissingScope(Scope),
    /// The key is restricted to certain templates.
    NotAllowed(NotAllowed),
    NoSuchPath,
    /// The path exists, but not with this method.
    WrongMethod,
    /// The body is not JSON, or is compressed.
    MediaType(&'static str),
    /// The body has more than this many bytes.
    TooLarge(usize),
    /// The body was not complete after this time.
    TooSlow(Duration),
    /// The parsers were busy with other bodies for too long.
    Busy,
    /// Validation errors of the body or the query.
    Invalid(Vec<Problem>),
    /// There is not enough memory for the request.
    MemoryFull(MemoryFull),
    /// The account has exceeded its rate limit. Contains the seconds until the next request is allowed.
    RateLimited(u64),
    /// A render failed.
    Render(RenderFailure),
    /// The database returned an error.
    Store(StoreError),
    /// The account has no such render.
    NoSuchRender,
    /// The render has no accessibility report.
    NoReport(MissingReport),
    /// A render can't be cancelled.
    Cancel(CancelError),
    /// A delivery can't be retried.
    Resend(ResendError),
    /// A template couldn't be read or changed.
    Template(TemplateError),
    /// An asset couldn't be read or changed.
    Asset(AssetError),
    /// A batch couldn't be read or changed.
    Batch(BatchError),
    /// A storage connection couldn't be read or changed.
    Connection(ConnectionError),
    /// A link to a document couldn't be created or used.
    Link(LinkError),
}

macro_rules! from {
    ($($error:ident => $variant:ident),+ $(,)?) => {
        $(impl From<$error> for ApiError {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })+
    };
}

from! {
    AuthenticationError => Authentication,
    MissingReport => NoReport,
    StoreError => Store,
    MemoryFull => MemoryFull,
    NotAllowed => NotAllowed,
    RenderFailure => Render,
    ResendError => Resend,
    TemplateError => Template,
    AssetError => Asset,
    BatchError => Batch,
    ConnectionError => Connection,
    LinkError => Link,
}

impl ApiError {
    /// The error of a body that ended early, unless it exceeded a limit, whose error replaces this one.
    pub(super) fn incomplete() -> Self {
        Self::Invalid(vec![Problem::invalid("", "The body is incomplete; send it again")])
    }
}

impl From<CancelError> for ApiError {
    fn from(error: CancelError) -> Self {
        match error {
            CancelError::NotFound => Self::NoSuchRender,
            error => Self::Cancel(error),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        match self {
            Self::NoToken => unauthorized("unauthorized", "Send the header Authorization: Bearer <API key>."),
            Self::Authentication(AuthenticationError::Unknown) => {
                unauthorized("invalid_token", "The API key is unknown or revoked.")
            }
            Self::Authentication(AuthenticationError::Expired) => {
                unauthorized("expired_token", "The API key has expired.")
            }
            Self::Authentication(foreign @ AuthenticationError::ForeignAddress(_)) => {
                forbidden("insufficient_permissions", &sentence(&foreign.to_string()))
            }
            Self::Authentication(AuthenticationError::Suspended) => forbidden("forbidden", "The account is suspended."),
            Self::Authentication(AuthenticationError::Store(error))
            | Self::Cancel(CancelError::Store(error))
            | Self::Resend(ResendError::Store(error))
            | Self::Store(error) => internal(&error),
            Self::MissingScope(scope) => {
                let message = format!("The API key lacks the scope {}.", scope.into_str());
                forbidden("insufficient_permissions", &message)
            }
            Self::NotAllowed(refusal) => forbidden("insufficient_permissions", &sentence(&refusal.to_string())),
            Self::NoSuchPath => resource_error(StatusCode::NOT_FOUND, "There is nothing at this path."),
            // `Allow` is added by the router.
            Self::WrongMethod => resource_error(
                StatusCode::METHOD_NOT_ALLOWED,
                "This path doesn't support this method; see the header Allow.",
            ),
            Self::MediaType(message) => resource_error(StatusCode::UNSUPPORTED_MEDIA_TYPE, message),
            Self::TooLarge(limit) => {
                let message = format!("The body is larger than {limit} bytes.");
                resource_error(StatusCode::PAYLOAD_TOO_LARGE, &message)
            }
            Self::TooSlow(limit) => {
                let message = format!("The body was not complete after {} s.", limit.as_secs());
                let response = resource_error(StatusCode::REQUEST_TIMEOUT, &message);
                // The rest of the body must not be parsed as the next request.
                ([(header::CONNECTION, "close")], response).into_response()
            }
            Self::Busy => unavailable("The service is overloaded; send the request again.", RETRY_PLACE),
            Self::Invalid(problems) => validation_error(&problems),
            Self::MemoryFull(full) => memory_full(full),
            Self::RateLimited(seconds) => {
                let message = format!("Too many requests; retry after {seconds} s.");
                retry_after(resource_error(StatusCode::TOO_MANY_REQUESTS, &message), seconds)
            }
            Self::Render(failure) => {
                let mut response = render_failure(failure.reason);
                let id = failure.id.and_then(|id| HeaderValue::try_from(id.to_string()).ok());
                if let Some(id) = id {
                    response.headers_mut().insert(RENDER_ID, id);
                }
                response
            }
            Self::NoSuchRender => resource_error(StatusCode::NOT_FOUND, "There is no such render."),
            Self::NoReport(missing) => resource_error(StatusCode::NOT_FOUND, missing.reason()),
            Self::Cancel(conflict) => resource_error(StatusCode::CONFLICT, &sentence(&conflict.to_string())),
            Self::Resend(ResendError::Full(full)) => storage_full(full),
            Self::Resend(conflict) => resource_error(StatusCode::CONFLICT, &sentence(&conflict.to_string())),
            Self::Template(error) => template_error(error),
            Self::Asset(error) => asset_error(&error),
            Self::Batch(error) => batch_error(error),
            Self::Connection(error) => connection_error(&error),
            Self::Link(error) => link_error(&error),
        }
    }
}

fn link_error(error: &LinkError) -> Response {
    let status = match error {
        LinkError::NoSuchRender | LinkError::NoSuchLink => StatusCode::NOT_FOUND,
        LinkError::NoDocument | LinkError::TooMany => StatusCode::CONFLICT,
        LinkError::Ended => StatusCode::GONE,
        LinkError::Memory(full) => return memory_full(*full),
        LinkError::Storage(_) | LinkError::Store(_) => return internal(error),
    };
    resource_error(status, &sentence(&error.to_string()))
}

fn asset_error(error: &AssetError) -> Response {
    match error {
        AssetError::NotFound => resource_error(StatusCode::NOT_FOUND, "There is no such asset."),
        AssetError::Invalid(problems) => validation_error(problems),
        AssetError::Memory(full) => memory_full(*full),
        AssetError::DataKey(_)
        | AssetError::Examination(_)
        | AssetError::Encryption(_)
        | AssetError::Interrupted(_)
        | AssetError::Store(_) => internal(error),
    }
}

fn batch_error(error: BatchError) -> Response {
    match error {
        BatchError::NotFound => resource_error(StatusCode::NOT_FOUND, "There is no such batch."),
        BatchError::Invalid(problems) => validation_error(&problems),
        BatchError::Conflict(conflict) => resource_error(StatusCode::CONFLICT, &sentence(conflict)),
        BatchError::OfOtherKey => forbidden("insufficient_permissions", &sentence(&error.to_string())),
        BatchError::TooMany => forbidden("forbidden", &sentence(&error.to_string())),
        BatchError::KeyOfOtherRequest => render_failure(FailureReason::KeyOfOtherRequest),
        BatchError::StorageFull(full) => storage_full(full),
        BatchError::Memory(full) => memory_full(full),
        BatchError::Busy(_) => ApiError::Busy.into_response(),
        BatchError::DataKey(_)
        | BatchError::Encryption(_)
        | BatchError::Serialization(_)
        | BatchError::Unreadable(_)
        | BatchError::Content(_)
        | BatchError::RowLost(_)
        | BatchError::Interrupted(_)
        | BatchError::Store(_) => internal(&error),
    }
}

fn connection_error(error: &ConnectionError) -> Response {
    match error {
        ConnectionError::NotFound => resource_error(StatusCode::NOT_FOUND, "There is no such connection."),
        ConnectionError::Invalid(problems) => validation_error(problems),
        ConnectionError::Buckets(_) | ConnectionError::Store(_) => internal(error),
    }
}

fn template_error(error: TemplateError) -> Response {
    match error {
        TemplateError::NotFound => resource_error(StatusCode::NOT_FOUND, "There is no such template."),
        TemplateError::Changed => resource_error(
            StatusCode::PRECONDITION_FAILED,
            "The template's published version doesn't match If-Match; get the template again and repeat the change.",
        ),
        TemplateError::PartialsChanged => {
            let message = "The template, or a partial that it uses, was changed at the same time; repeat the request.";
            retry_after(resource_error(StatusCode::SERVICE_UNAVAILABLE, message), 1)
        }
        TemplateError::Invalid(problems) => validation_error(&problems),
        TemplateError::InUse(users) => {
            let message = format!(
                "{} this partial: {}. Publish them without it, or delete them, and then delete the partial.",
                counted(users.count, "published template uses", "published templates use"),
                users.names()
            );
            resource_error(StatusCode::CONFLICT, &message)
        }
        TemplateError::NoSuchPromotion => resource_error(StatusCode::NOT_FOUND, "There is no such promotion."),
        TemplateError::PromotionEnded => resource_error(
            StatusCode::CONFLICT,
            "The promotion no longer waits; list the template's promotions for its state.",
        ),
        // Only the dashboard approves.
        TemplateError::OwnRelease | TemplateError::NotCompared { .. } => internal(&error),
        TemplateError::NotAllowed(refusal) => forbidden("insufficient_permissions", &sentence(&refusal.to_string())),
        TemplateError::Render(error) => preview_failure(error.into()),
        TemplateError::Conformance(unmet) => preview_failure(unmet.into()),
        TemplateError::Memory(full) => memory_full(full),
        TemplateError::Busy(_) => unavailable(
            "The account's earlier comparisons, or views of documents' structures, are still running; send the request again.",
            RETRY_PLACE,
        ),
        TemplateError::Picture(DrawingError::TooMuch(detail)) => {
            validation_error(&[Problem::invalid("/dots_per_inch", sentence(&detail))])
        }
        // The only problem of requests that name a set.
        TemplateError::SampleSets(_) => validation_error(&[Problem::invalid(
            SAMPLE_SET,
            "The template has no such set of sample data",
        )]),
        TemplateError::Asset(_) | TemplateError::Picture(_) | TemplateError::Process(_) | TemplateError::Store(_) => {
            internal(&error)
        }
    }
}

/// Responds to the failure of a preview. Its pointers refer to the preview's only part, the template, and to its
/// options.
fn preview_failure(reason: FailureReason) -> Response {
    let Some(problems) = reason.caller_problems() else {
        return render_failure(reason);
    };
    let problems = problems.into_iter().map(|problem| Problem {
        pointer: if problem.pointer.starts_with("/parts") {
            "/content".to_owned()
        } else {
            format!("/options{}", problem.pointer)
        },
        ..problem
    });
    validation_error(&problems.collect::<Vec<_>>())
}

fn render_failure(reason: FailureReason) -> Response {
    if let Some(problems) = reason.caller_problems() {
        return validation_error(&problems);
    }
    let error = match reason {
        FailureReason::Engine(error) => error,
        FailureReason::Replayed(problems) => return ([REPLAYED], validation_error(&problems)).into_response(),
        FailureReason::KeyInUse => {
            let message = "A request with this Idempotency-Key is in progress.";
            return retry_after(resource_error(StatusCode::CONFLICT, message), RETRY_PLACE);
        }
        FailureReason::KeyOfOtherRequest => {
            let detail = "The header Idempotency-Key was already used for a request with another body; use a new key.";
            return validation_error(&[Problem::invalid("", detail)]);
        }
        FailureReason::StorageFull(full) => return storage_full(full),
        FailureReason::Authentication(error) => return ApiError::from(error).into_response(),
        refusal @ (FailureReason::Credits(_) | FailureReason::NoConnection(_)) => {
            return forbidden("forbidden", &sentence(&refusal.to_string()));
        }
        FailureReason::Memory(full) | FailureReason::Asset(AssetError::Memory(full)) => return memory_full(full),
        unrecorded => return internal(&unrecorded),
    };
    let message = sentence(&error.to_string());
    match error {
        RenderError::TooManyConcurrent { .. } => {
            retry_after(resource_error(StatusCode::TOO_MANY_REQUESTS, &message), RETRY_PLACE)
        }
        RenderError::QueueFull => unavailable(&message, RETRY_PLACE),
        RenderError::ShuttingDown => unavailable("The service is restarting.", RETRY_RESTART),
        RenderError::Deadline { .. } => resource_error(StatusCode::GATEWAY_TIMEOUT, &message),
        RenderError::Browser(_) | RenderError::Problem { .. } => internal(&error),
    }
}

fn memory_full(full: MemoryFull) -> Response {
    let message = format!(
        "{} Send the request again after {RETRY_MEMORY} s.",
        sentence(&full.to_string())
    );
    unavailable(&message, RETRY_MEMORY)
}

fn storage_full(full: StorageFull) -> Response {
    forbidden("forbidden", &full.to_string())
}

/// Logs the error and responds with 500. The client gets only the request id, from [`super::request_log`]. An
/// unreachable database is a temporary failure (503), and a full storage is the client's error.
fn internal(error: &(dyn std::error::Error + 'static)) -> Response {
    if let Some(full) = account_storage::full(error) {
        return storage_full(full);
    }
    if error::is_away(error) {
        tracing::error!(error = %error, "the database can't be reached");
        let message = format!("The service can't reach its database; send the request again after {RETRY_DATABASE} s.");
        return unavailable(&message, RETRY_DATABASE);
    }
    tracing::error!(error = %error, "internal error");
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}

/// Returns the body of the response to an internal error.
pub(super) fn internal_body(request_id: &str) -> Json<Value> {
    resource_body(&format!("Internal error; the request's id is {request_id}."))
}

fn answer(status: StatusCode, body: Json<Value>) -> Response {
    (status, body).into_response()
}

fn unauthorized(error: &str, message: &str) -> Response {
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (StatusCode::UNAUTHORIZED, challenge, auth_error(error, message)).into_response()
}

fn forbidden(error: &str, message: &str) -> Response {
    answer(StatusCode::FORBIDDEN, auth_error(error, message))
}

fn unavailable(message: &str, retry_seconds: u64) -> Response {
    retry_after(resource_error(StatusCode::SERVICE_UNAVAILABLE, message), retry_seconds)
}

fn auth_error(error: &str, message: &str) -> Json<Value> {
    Json(json!({"error": error, "message": message}))
}

fn resource_error(status: StatusCode, message: &str) -> Response {
    answer(status, resource_body(message))
}

fn resource_body(message: &str) -> Json<Value> {
    Json(json!({"error": {"message": message}}))
}

fn validation_error(problems: &[Problem]) -> Response {
    let errors: Vec<_> = problems
        .iter()
        .map(
            |problem| json!({"title": problem.title, "source": {"pointer": problem.pointer}, "detail": problem.detail}),
        )
        .collect();
    answer(StatusCode::UNPROCESSABLE_ENTITY, Json(json!({"errors": errors})))
}

fn retry_after(mut response: Response, seconds: u64) -> Response {
    response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    response
}
