//! Failures of renders.

use platen_domain::{
    credits::NotEnoughCredits, destination::Destination, health::failure_kind::FailureKind, ids::RenderId,
    job::CRASHES, sentence::sentence, storage::StorageFull, validation::Problem,
};
use platen_engine::error::RenderError;
use platen_template::pool;
use serde_json::{Value, json};
use tokio::task::JoinError;

use crate::{
    memory::MemoryFull,
    service::{
        api_keys::AuthenticationError,
        connections::delivery::CoveringError,
        metrics::outcome::Outcome,
        renders::{
            deliver::DeliveryError,
            engine_failure::{error_pointer, failure_kind},
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
    /// The memory limit of requests is reached.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
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

impl FailureReason {
    /// Returns the error for the caller, as the render's row stores it. Internal details are omitted.
    pub(in crate::service) fn to_error(&self) -> Value {
        let message = self.to_string();
        let error = match self {
            Self::Engine(error) => error,
            Self::Authentication(_)
            | Self::CredentialsChanged
            | Self::Credits(_)
            | Self::Ended
            | Self::Memory(_)
            | Self::NoConnection(_)
            | Self::Delivery(DeliveryError::Client(_))
            | Self::Poisonous
            | Self::StorageFull(_)
            | Self::Replayed(_)
            | Self::KeyInUse
            | Self::KeyOfOtherRequest => return json!({"message": message}),
            Self::Templates(problems) => {
                return problems.first().map_or(
                    Value::Null,
                    |problem| json!({"message": problem.detail, "pointer": problem.pointer}),
                );
            }
            Self::Callback(problem) => return json!({"message": problem.detail, "pointer": problem.pointer}),
            Self::Keep(_)
            | Self::Delivery(DeliveryError::Own(_))
            | Self::Content(_)
            | Self::TemplateProcess(_)
            | Self::Store(_)
            | Self::Interrupted(_) => {
                return json!({"message": "internal error"});
            }
        };
        match error {
            RenderError::Problem { part, problem } => {
                json!({"message": message, "pointer": error_pointer(*part, problem)})
            }
            RenderError::Deadline { phase, .. } => json!({"message": message, "phase": phase.to_string()}),
            RenderError::Browser(_) => json!({"message": "internal error"}),
            RenderError::TooManyConcurrent { .. } | RenderError::QueueFull | RenderError::ShuttingDown => {
                json!({"message": message})
            }
        }
    }

    /// Returns the validation errors that the caller can correct, or `None`. Such a failure is final: the same request
    /// would fail alike.
    pub fn caller_problems(&self) -> Option<Vec<Problem>> {
        match self {
            Self::Engine(RenderError::Problem { part, problem }) => Some(vec![Problem {
                pointer: error_pointer(*part, problem),
                title: "Can't be rendered".into(),
                detail: sentence(&problem.to_string()),
            }]),
            Self::Templates(problems) => Some(problems.clone()),
            Self::Callback(problem) => Some(vec![problem.clone()]),
            _ => None,
        }
    }

    /// Returns the outcome under which metrics count the failure.
    pub(in crate::service) fn counted(&self) -> Outcome {
        Outcome::Failed(match self {
            Self::Engine(error) => failure_kind(error),
            Self::Templates(_) => FailureKind::Template,
            Self::Callback(_) => FailureKind::AddressRefused,
            Self::NoConnection(_) | Self::Delivery(DeliveryError::Client(BucketError::Refused(_))) => {
                FailureKind::Destination
            }
            Self::Credits(_) => FailureKind::Credits,
            Self::Memory(_) => FailureKind::NoSlot,
            Self::StorageFull(_) => FailureKind::StorageFull,
            Self::Replayed(_)
            | Self::KeyInUse
            | Self::KeyOfOtherRequest
            | Self::Authentication(_)
            | Self::CredentialsChanged => FailureKind::Conflict,
            Self::Poisonous => FailureKind::Lost,
            Self::Delivery(_) => FailureKind::Storage,
            Self::TemplateProcess(_)
            | Self::Content(_)
            | Self::Keep(_)
            | Self::Store(_)
            | Self::Interrupted(_)
            | Self::Ended => FailureKind::Internal,
        })
    }
}

impl From<EnterError> for FailureReason {
    fn from(error: EnterError) -> Self {
        match error {
            EnterError::Engine(error) => Self::Engine(error),
            EnterError::Memory(full) => Self::Memory(full),
        }
    }
}

impl From<NotAdded> for FailureReason {
    fn from(reason: NotAdded) -> Self {
        match reason {
            NotAdded::Credits(credits) => Self::Credits(credits),
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
