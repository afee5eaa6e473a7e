//! Why a render came to nothing.

use platen_app::model::storage::StorageFull;
use platen_engine::error::RenderError;
use platen_template::pool;
use serde_json::{Value, json};
use tokio::task::JoinError;

use crate::{
    domain::{
        credits::NotEnoughCredits, destination::Destination, health::failure_kind::FailureKind, ids::RenderId,
        job::CRASHES, render::blamed_member, sentence::sentence, validation::Fault,
    },
    memory::MemoryFull,
    service::{
        api_keys::AuthenticationError,
        connections::delivery::CoveringError,
        metrics::outcome::Outcome,
        renders::{deliver::DeliveryError, kept::KeepError},
    },
    storage::bucket::BucketError,
    store::{account_storage, error::StoreError, renders::NotAdded},
};

/// A render that came to nothing.
#[derive(Debug)]
pub struct RenderFailure {
    /// The render; `None` when it was refused before there was one.
    pub id: Option<RenderId>,
    /// Why.
    pub reason: FailureReason,
}

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
pub enum FailureReason {
    /// It could not be made.
    #[error(transparent)]
    Engine(#[from] RenderError),
    /// It names templates that the account does not have, or one that can't be filled.
    #[error("a template can't be used")]
    Templates(Vec<Fault>),
    /// The service has no memory for it now.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
    /// No process fills its templates.
    #[error(transparent)]
    TemplateProcess(pool::Error),
    /// The callback's address is refused.
    #[error("the callback's address is refused")]
    Callback(Fault),
    /// No storage connection of the account covers where the document is to go.
    #[error("no storage connection of the account covers the path {:?} in the bucket {:?} of {}", .0.path, .0.bucket, .0.provider.as_str())]
    NoConnection(Destination),
    /// The store did not take the document.
    #[error(transparent)]
    Delivery(#[from] DeliveryError),
    /// The request's content can't be encrypted, or decrypted again.
    #[error("the content of the request: {0}")]
    Content(#[source] KeepError),
    /// Several processes have ended over it.
    #[error("the service crashed {CRASHES} times while it was rendered; it is not tried again")]
    Poisonous,
    /// It can't be paid for.
    #[error(transparent)]
    Credits(#[from] NotEnoughCredits),
    /// It could not be made when it was asked for first.
    #[error("it could not be rendered for an earlier request with the same idempotency key")]
    Replayed(Vec<Fault>),
    /// Its key is not accepted any more.
    #[error(transparent)]
    Authentication(#[from] AuthenticationError),
    /// Its key, or its account, has changed since the key was looked up.
    #[error("the API key or its account has changed")]
    CredentialsChanged,
    /// The idempotency key belongs to a request that is not done yet.
    #[error("a request with this idempotency key is under way")]
    KeyInUse,
    /// The idempotency key belongs to another request.
    #[error("the idempotency key was used for a request with another body")]
    KeyOfOtherRequest,
    /// The account stores as much as it may of something that the render needs.
    #[error(transparent)]
    StorageFull(#[from] StorageFull),
    /// It could not be kept for a request that comes again.
    #[error(transparent)]
    Keep(KeepError),
    /// It could not be recorded.
    #[error(transparent)]
    Store(StoreError),
    /// Recording broke off.
    #[error("recording the render broke off: {0}")]
    Interrupted(#[from] JoinError),
    /// It was cancelled, or ended by another process.
    #[error("the render was ended before it was finished")]
    Ended,
}

/// Why a render does not begin.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// It got no slot.
    #[error(transparent)]
    Engine(#[from] RenderError),
    /// The service has no memory for it now.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
}

impl FailureReason {
    /// The error as the render's row stores it for the caller.
    pub(in crate::service) fn told(&self) -> Value {
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
            Self::Templates(faults) => {
                return faults.first().map_or(
                    Value::Null,
                    |fault| json!({"message": fault.detail, "pointer": fault.pointer}),
                );
            }
            Self::Callback(fault) => return json!({"message": fault.detail, "pointer": fault.pointer}),
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
            RenderError::Fault { part, fault } => json!({"message": message, "pointer": blamed_member(*part, fault)}),
            RenderError::Deadline { phase, .. } => json!({"message": message, "phase": phase.as_str()}),
            RenderError::Browser(_) => json!({"message": "internal error"}),
            RenderError::TooManyConcurrent { .. } | RenderError::QueueFull | RenderError::ShuttingDown => {
                json!({"message": message})
            }
        }
    }

    /// The validation errors that the caller can correct. Such an outcome is final: the same request would fail alike.
    pub fn caller_faults(&self) -> Option<Vec<Fault>> {
        match self {
            Self::Engine(RenderError::Fault { part, fault }) => Some(vec![Fault {
                pointer: blamed_member(*part, fault),
                title: "Can't be rendered".into(),
                detail: sentence(&fault.to_string()),
            }]),
            Self::Templates(faults) => Some(faults.clone()),
            Self::Callback(fault) => Some(vec![fault.clone()]),
            _ => None,
        }
    }

    /// The outcome under which metrics count the failure.
    pub(in crate::service) fn counted(&self) -> Outcome {
        Outcome::Failed(match self {
            Self::Engine(error) => FailureKind::of_engine(error),
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

impl From<KeepError> for FailureReason {
    fn from(error: KeepError) -> Self {
        match error {
            KeepError::Full(full) => Self::StorageFull(full),
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
