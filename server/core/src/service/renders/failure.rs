//! Failures of renders.

use platen_domain::{
    credits::NotEnoughCredits, destination::Destination, health::failure_kind::FailureKind, ids::RenderId,
    job::CRASHES, render::accessibility::unmet::ConformanceNotReached, sentence::sentence, storage::StorageFull,
    validation::Problem,
};
use platen_engine::error::RenderError;
use platen_template::pool;
use serde_json::{Value, json};
use tokio::task::JoinError;

use crate::{
    memory::MemoryFull,
    service::{
        api_keys::AuthenticationError,
        assets::{AssetError, library::LibraryRenderError},
        connections::delivery::CoveringError,
        metrics::outcome::Outcome,
        renders::{
            deliver::DeliveryError,
            engine_failure::{class_of_engine_error, error_pointer},
            idempotent_responses::ContentError,
        },
    },
    storage::bucket::BucketError,
    store::{account_storage, error::StoreError, renders::NotAdded},
};

/// A failed or refused render.
#[derive(Debug)]
pub struct RenderFailure {
    /// Id of the render; `None` if it was refused before it was opened.
    pub id: Option<RenderId>,
    /// Reason of the failure.
    pub reason: FailureReason,
}

/// Reason why a render has no document.
#[derive(Debug, thiserror::Error)]
pub enum FailureReason {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] RenderError),
    /// The request names an unknown template, or one that can't be filled.
    #[error("a template can't be used")]
    Templates(Vec<Problem>),
    /// The document doesn't reach the levels of conformance that the request demands.
    #[error(transparent)]
    Conformance(#[from] Box<ConformanceNotReached>),
    /// The memory limit of requests is reached.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
    /// An asset of the account could not be loaded.
    #[error(transparent)]
    Asset(AssetError),
    /// An asset that the request names by URL could not be loaded.
    #[error("an asset can't be loaded")]
    RemoteAsset(Problem),
    /// No worker process could fill the templates.
    #[error(transparent)]
    TemplateProcess(pool::Error),
    /// The webhook's address is forbidden.
    #[error("the webhook's URL is blocked")]
    Callback(Problem),
    /// No storage connection of the account covers the destination.
    #[error("no storage connection of the account covers the path {:?} in the bucket {:?} of {}", .0.path, .0.bucket, .0.provider.into_str())]
    NoConnection(Destination),
    /// The document could not be delivered.
    #[error(transparent)]
    Delivery(#[from] DeliveryError),
    /// The request's content can't be encrypted or decrypted.
    #[error("the content of the request: {0}")]
    Content(#[source] ContentError),
    /// Several processes crashed while they rendered it.
    #[error("the service crashed {CRASHES} times during this render, which is not retried")]
    Poisonous,
    /// The account has too few credits.
    #[error(transparent)]
    Credits(#[from] NotEnoughCredits),
    /// An earlier request with the same idempotency key failed with these validation errors.
    #[error("an earlier request with the same idempotency key could not be rendered")]
    Replayed(Vec<Problem>),
    /// The API key is no longer accepted.
    #[error(transparent)]
    Authentication(#[from] AuthenticationError),
    /// The API key or its account has changed since it was looked up.
    #[error("the API key or its account has changed")]
    CredentialsChanged,
    /// The idempotency key belongs to a request in progress.
    #[error("a request with this idempotency key is in progress")]
    KeyInUse,
    /// The idempotency key belongs to another request.
    #[error("the idempotency key was used for a request with another body")]
    KeyOfOtherRequest,
    /// A storage limit of the account is reached.
    #[error(transparent)]
    StorageFull(#[from] StorageFull),
    /// The idempotent response could not be stored.
    #[error(transparent)]
    Keep(ContentError),
    /// The outcome could not be recorded.
    #[error(transparent)]
    Store(StoreError),
    /// Recording the outcome panicked.
    #[error("recording the render was interrupted: {0}")]
    Interrupted(#[from] JoinError),
    /// The render was cancelled, or ended by another process.
    #[error("the render was ended before it finished")]
    Ended,
}

/// Reason why a render can't begin.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// No slot became free, or the engine failed.
    #[error(transparent)]
    Engine(#[from] RenderError),
    /// The memory limit of requests is reached.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
}

/// How a failure is treated, alike in metrics, records and webhooks, for synchronous and asynchronous renders.
pub(in crate::service) struct FailureClass {
    /// Kind under which it is counted.
    pub(in crate::service) kind: FailureKind,
    /// Whether the caller gets the message, or only learns of an internal error.
    pub(in crate::service) disclosure: Disclosure,
    /// Whether a background render is tried again.
    pub(in crate::service) retry: Retry,
}

/// See [`FailureClass::disclosure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::service) enum Disclosure {
    Message,
    InternalError,
}

/// Consequence of a failure for a background render.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::service) enum Retry {
    /// The failure is final: a retry would end alike.
    Never,
    /// The failure may be transient.
    Later,
    /// The attempt doesn't count, because the render could not begin.
    NotCounted,
    /// The render has ended, or another worker holds its job: there is nothing to record.
    Ended,
}

impl FailureReason {
    /// Classifies the failure.
    pub(in crate::service) fn class(&self) -> FailureClass {
        use Disclosure::{InternalError, Message};
        use FailureKind as Kind;
        let (kind, disclosure, retry) = match self {
            Self::Engine(error) => return class_of_engine_error(error),
            Self::Templates(_) => (Kind::Template, Message, Retry::Never),
            Self::Conformance(_) => (Kind::Document, Message, Retry::Never),
            Self::Callback(_) => (Kind::AddressRefused, Message, Retry::Never),
            Self::RemoteAsset(_) => (Kind::Unreachable, Message, Retry::Never),
            Self::NoConnection(_)
            | Self::Delivery(DeliveryError::Client(BucketError::Refused(_) | BucketError::Blocked(_))) => {
                (Kind::Destination, Message, Retry::Never)
            }
            Self::Delivery(DeliveryError::Client(_)) => (Kind::Storage, Message, Retry::Later),
            Self::Delivery(DeliveryError::Own(_)) => (Kind::Storage, InternalError, Retry::Later),
            Self::Credits(_) => (Kind::Credits, Message, Retry::Never),
            Self::StorageFull(_) => (Kind::StorageFull, Message, Retry::Never),
            Self::Memory(_) => (Kind::NoSlot, Message, Retry::NotCounted),
            Self::Poisonous => (Kind::Lost, Message, Retry::Never),
            Self::Ended => (Kind::Internal, Message, Retry::Ended),
            // Only requests fail for these reasons, never jobs.
            Self::Replayed(_)
            | Self::KeyInUse
            | Self::KeyOfOtherRequest
            | Self::Authentication(_)
            | Self::CredentialsChanged => (Kind::Conflict, Message, Retry::Never),
            // Counted, because the render may need more than it can ever have.
            Self::Asset(AssetError::Memory(_)) => (Kind::NoSlot, Message, Retry::Later),
            Self::Asset(_)
            | Self::TemplateProcess(_)
            | Self::Content(_)
            | Self::Keep(_)
            | Self::Store(_)
            | Self::Interrupted(_) => (Kind::Internal, InternalError, Retry::Later),
        };
        FailureClass {
            kind,
            disclosure,
            retry,
        }
    }

    /// Returns the error for the caller, as the render's row stores it: a message, a code, and the JSON pointer into the
    /// request or the phase in which the time ran out. Internal details are omitted.
    pub(in crate::service) fn to_error(&self) -> Value {
        let mut error = self.message_and_place();
        if let Value::Object(error) = &mut error {
            error.insert("code".into(), self.class().kind.into_str().into());
        }
        error
    }

    fn message_and_place(&self) -> Value {
        if self.class().disclosure == Disclosure::InternalError {
            return json!({"message": "internal error"});
        }
        let message = self.to_string();
        match self {
            Self::Engine(RenderError::Problem { part, problem }) => {
                json!({"message": message, "pointer": error_pointer(*part, problem)})
            }
            Self::Engine(RenderError::Deadline { phase, .. }) => {
                json!({"message": message, "phase": phase.to_string()})
            }
            Self::Templates(problems) => problems.first().map_or(Value::Null, stored_problem),
            Self::Callback(problem) | Self::RemoteAsset(problem) => stored_problem(problem),
            // The message contains nothing of the document, unlike the validation errors.
            Self::Conformance(_) => json!({"message": message, "pointer": ConformanceNotReached::POINTER}),
            _ => json!({"message": message}),
        }
    }

    /// Returns the validation errors that the caller can correct, or `None`. Such a failure is final.
    pub fn caller_problems(&self) -> Option<Vec<Problem>> {
        match self {
            Self::Engine(RenderError::Problem { part, problem }) => Some(vec![Problem {
                pointer: error_pointer(*part, problem),
                title: "Can't be rendered".into(),
                detail: sentence(&problem.to_string()),
            }]),
            Self::Templates(problems) => Some(problems.clone()),
            Self::Callback(problem) | Self::RemoteAsset(problem) => Some(vec![problem.clone()]),
            Self::Conformance(unmet) => Some(unmet.problems()),
            _ => None,
        }
    }

    /// Returns the outcome under which metrics count the failure.
    pub(in crate::service) fn counted(&self) -> Outcome {
        Outcome::Failed(self.class().kind)
    }
}

fn stored_problem(problem: &Problem) -> Value {
    json!({"message": problem.detail, "pointer": problem.pointer})
}

impl From<EnterError> for FailureReason {
    fn from(error: EnterError) -> Self {
        match error {
            EnterError::Engine(error) => Self::Engine(error),
            EnterError::Memory(full) => Self::Memory(full),
        }
    }
}

impl From<LibraryRenderError> for FailureReason {
    fn from(error: LibraryRenderError) -> Self {
        match error {
            LibraryRenderError::Engine(error) => Self::Engine(error),
            LibraryRenderError::Asset(error) => Self::Asset(error),
            LibraryRenderError::Remote(problem) => Self::RemoteAsset(problem),
        }
    }
}

impl From<NotAdded> for FailureReason {
    fn from(reason: NotAdded) -> Self {
        match reason {
            NotAdded::Credits(credits) => Self::Credits(credits),
            NotAdded::Concurrency { limit } => Self::Engine(RenderError::TooManyConcurrent { limit }),
            NotAdded::Credentials => Self::CredentialsChanged,
        }
    }
}

impl From<StoreError> for FailureReason {
    fn from(error: StoreError) -> Self {
        account_storage::full(&error).map_or(Self::Store(error), Self::StorageFull)
    }
}

impl From<ContentError> for FailureReason {
    fn from(error: ContentError) -> Self {
        match error {
            ContentError::Full(full) => Self::StorageFull(full),
            error => Self::Keep(error),
        }
    }
}

impl From<CoveringError> for FailureReason {
    fn from(error: CoveringError) -> Self {
        match error {
            CoveringError::NoConnection(destination) => Self::NoConnection(destination),
            CoveringError::Store(error) => Self::Store(error),
        }
    }
}
