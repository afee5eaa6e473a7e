//! Errors of services, as visitors see them.

use std::{error::Error, time::Duration};

use platen_app::{
    error::AppError,
    model::rejection::{
        Field, Reason, Rejection,
        page::PageReason,
        refusal::{PaymentRefusal, RenderRefusal},
    },
};
use platen_billing::client::StripeError;
use platen_core::{
    service::{
        api_keys::{EndKeyError, KeySettingsError, new_key::NewKeyError},
        assets::AssetError,
        batches::{BatchError, columns::COLUMNS},
        billing::BillingError,
        callbacks::{ResendError, StopError},
        connections::ConnectionError,
        exports::RequestExportError,
        operators::{OperatorError, accounts::OperationError, look::ImpersonationError},
        parsers::Busy,
        people::{PeopleError, callers::CallerError},
        renders::{cancel::CancelError, links::LinkError, structure::StructureError},
        templates::{TemplateError, channels::ChannelsError, live::LiveError},
        webhook_endpoints::{EndpointError, EndpointField},
        webhook_secrets::WebhookSecretError,
    },
    store::error::StoreError,
};
use platen_domain::{
    template::{
        CONTENT,
        identity::{HANDLE, KIND},
    },
    validation::Problem,
};
use strum::VariantArray;

/// An error of a service.
pub(super) trait VisitorError: Error + 'static {
    /// Returns the error for the visitor, or `None` if it is internal.
    fn for_visitor(&self) -> Option<AppError> {
        None
    }
}

impl VisitorError for NewKeyError {}
impl VisitorError for StoreError {}
impl VisitorError for WebhookSecretError {}
impl VisitorError for tower_sessions::session::Error {}
impl VisitorError for url::ParseError {}

impl VisitorError for CallerError {
    fn for_visitor(&self) -> Option<AppError> {
        Some(match self {
            Self::NoAccount => AppError::NoAccount,
            Self::NotMember => AppError::NotMember,
            Self::SecondFactorFirst => AppError::SecondFactorFirst,
            Self::Session(_) | Self::Store(_) => return None,
        })
    }
}

impl VisitorError for OperatorError {
    fn for_visitor(&self) -> Option<AppError> {
        Some(match self {
            Self::NotOperator => AppError::NotFound,
            Self::SecondFactorFirst => AppError::SecondFactorFirst,
            Self::Store(_) => return None,
        })
    }
}

impl VisitorError for PeopleError {
    fn for_visitor(&self) -> Option<AppError> {
        let reason = match self {
            Self::Invalid(problems) => {
                let is_faulty = |field: &Field| {
                    let mut pointers = problems.iter().map(|problem| problem.pointer.as_str());
                    pointers.any(|pointer| pointer.strip_prefix('/') == Some(field.into_str()))
                };
                Reason::Invalid(Field::VARIANTS.iter().copied().filter(is_faulty).collect())
            }
            Self::WrongCredentials => PageReason::WrongCredentials.into(),
            Self::WrongPassword => PageReason::WrongPassword.into(),
            Self::WrongCode => Reason::Invalid(vec![Field::Code]),
            Self::PasskeyTooLate => PageReason::PasskeyTooLate.into(),
            Self::PasskeyRefused => PageReason::PasskeyRefused.into(),
            Self::TooManyPasskeys => PageReason::TooManyPasskeys.into(),
            Self::LogInAnew => return Some(AppError::LogInFirst),
            Self::TooMany { retry_after } => return Some(too_many(*retry_after)),
            Self::WorthlessLink => PageReason::WorthlessLink.into(),
            Self::EmailTaken => PageReason::EmailTaken.into(),
            Self::OthersInvitation => PageReason::OthersInvitation.into(),
            Self::TooManyInvitations => PageReason::TooManyInvitations.into(),
            Self::OwnerStays => PageReason::OwnerStays.into(),
            Self::NotFound | Self::NoPasskeysHere => return Some(AppError::NotFound),
            Self::Hash(_) | Self::Passkey(_) | Self::Encryption(_) | Self::Session(_) | Self::Store(_) => return None,
        };
        Some(rejected(reason))
    }
}

impl VisitorError for RequestExportError {
    fn for_visitor(&self) -> Option<AppError> {
        Some(rejected(match self {
            Self::UnderWay => PageReason::ExportUnderWay,
            Self::TooMany => PageReason::ExportsSpent,
            Self::Store(_) => return None,
        }))
    }
}

impl VisitorError for KeySettingsError {
    fn for_visitor(&self) -> Option<AppError> {
        Some(match self {
            Self::Name => invalid(vec![Field::KeyName]),
            Self::Expiry => invalid(vec![Field::ExpiryDay]),
            Self::CreditLimit | Self::CreditLimitOfTestKey => invalid(vec![Field::CreditLimit]),
            Self::Template(_) | Self::Channel(_) | Self::NoSuchKey(_) => AppError::NotFound,
            Self::Store(_) => return None,
        })
    }
}

impl VisitorError for EndKeyError {
    fn for_visitor(&self) -> Option<AppError> {
        Some(match self {
            Self::NoSuchKey(_) => AppError::NotFound,
            Self::Ended(_) => rejected(PageReason::KeyEnded),
            Self::OtherName(_) => invalid(vec![Field::Confirmation]),
            Self::Store(_) => return None,
        })
    }
}

impl VisitorError for AssetError {
    fn for_visitor(&self) -> Option<AppError> {
        matches!(self, Self::NotFound).then_some(AppError::NotFound)
    }
}

impl VisitorError for BatchError {
    fn for_visitor(&self) -> Option<AppError> {
        Some(match self {
            Self::NotFound => AppError::NotFound,
            Self::Invalid(problems) => invalid_batch(problems),
            Self::Conflict(_) => rejected(PageReason::BatchChanged),
            Self::TooMany => rejected(PageReason::TooManyBatches),
            Self::StorageFull(full) => rejected(Reason::StorageFull(*full)),
            Self::Memory(_) | Self::Busy(_) => too_many(Duration::ZERO),
            // Forms have neither idempotency keys nor API keys.
            Self::KeyOfOtherRequest
            | Self::OfOtherKey
            | Self::DataKey(_)
            | Self::Encryption(_)
            | Self::Serialization(_)
            | Self::Unreadable(_)
            | Self::Content(_)
            | Self::RowLost(_)
            | Self::Interrupted(_)
            | Self::Store(_) => return None,
        })
    }
}

impl VisitorError for LinkError {
    fn for_visitor(&self) -> Option<AppError> {
        matches!(self, Self::NoSuchRender).then_some(AppError::NotFound)
    }
}

impl VisitorError for ConnectionError {
    fn for_visitor(&self) -> Option<AppError> {
        matches!(self, Self::NotFound).then_some(AppError::NotFound)
    }
}

impl VisitorError for BillingError {
    fn for_visitor(&self) -> Option<AppError> {
        let refusal = match self {
            Self::NotForSale | Self::NoSuchOffer => PaymentRefusal::NotForSale,
            Self::WrongMoment => PaymentRefusal::ChangedMeanwhile,
            Self::Stripe(StripeError::Declined(_)) => PaymentRefusal::Declined,
            Self::Stripe(error) => {
                tracing::error!(%error, "a request to Stripe failed");
                PaymentRefusal::NoAnswer
            }
            Self::Store(_) => return None,
        };
        Some(rejected(PageReason::Payment(refusal)))
    }
}

impl VisitorError for CancelError {
    fn for_visitor(&self) -> Option<AppError> {
        let refusal = match self {
            Self::NotFound => return Some(AppError::NotFound),
            Self::Ended => RenderRefusal::HasEnded,
            Self::Synchronous => RenderRefusal::IsAwaited,
            Self::Store(_) => return None,
        };
        Some(rejected(PageReason::Render(refusal)))
    }
}

impl VisitorError for ResendError {
    fn for_visitor(&self) -> Option<AppError> {
        let refusal = match self {
            Self::None => return Some(AppError::NotFound),
            Self::NotYet => RenderRefusal::NotToldYet,
            Self::UnderWay => RenderRefusal::BeingSent,
            Self::Disabled => RenderRefusal::EndpointDisabled,
            Self::Full(full) => return Some(rejected(Reason::StorageFull(*full))),
            Self::Store(_) => return None,
        };
        Some(rejected(PageReason::Render(refusal)))
    }
}

impl VisitorError for StopError {
    fn for_visitor(&self) -> Option<AppError> {
        Some(match self {
            Self::None => AppError::NotFound,
            Self::NotSending => rejected(PageReason::Render(RenderRefusal::NotTried)),
            Self::Store(_) => return None,
        })
    }
}

impl VisitorError for EndpointError {
    fn for_visitor(&self) -> Option<AppError> {
        Some(match self {
            Self::NotFound => AppError::NotFound,
            Self::Invalid(fields) => invalid(fields.iter().copied().map(endpoint_field).collect()),
            Self::TooMany => rejected(PageReason::TooManyEndpoints),
            Self::DataKey(_) | Self::Encryption(_) | Self::Store(_) => return None,
        })
    }
}

fn endpoint_field(field: EndpointField) -> Field {
    match field {
        EndpointField::Url => Field::WebhookUrl,
        EndpointField::Description => Field::EndpointDescription,
        EndpointField::Events => Field::Events,
    }
}

impl VisitorError for TemplateError {
    fn for_visitor(&self) -> Option<AppError> {
        Some(match self {
            Self::NotFound => AppError::NotFound,
            Self::Changed | Self::PartialsChanged => rejected(Reason::SavedMeanwhile),
            Self::Invalid(problems) => invalid_template(problems),
            Self::NoSuchPromotion | Self::PromotionEnded => rejected(PageReason::NotPromotable),
            Self::OwnRelease => rejected(PageReason::OwnRelease),
            Self::NotCompared { missing } => rejected(PageReason::NotCompared { sets: *missing }),
            Self::SampleSets(problem) => rejected(Reason::SampleSets(*problem)),
            Self::Busy(Busy) => too_many(Duration::ZERO),
            // Forms of the dashboard demand no conformance and use no keys; partials in use lead to a page of their own.
            Self::InUse(_)
            | Self::NotAllowed(_)
            | Self::Process(_)
            | Self::Render(_)
            | Self::Conformance(_)
            | Self::Memory(_)
            | Self::Asset(_)
            | Self::Picture(_)
            | Self::Store(_) => return None,
        })
    }
}

impl VisitorError for ChannelsError {
    fn for_visitor(&self) -> Option<AppError> {
        match self {
            Self::Differing(_) => Some(rejected(PageReason::ChannelsDiffer)),
            Self::Store(_) => None,
        }
    }
}

impl VisitorError for LiveError {
    fn for_visitor(&self) -> Option<AppError> {
        match self {
            Self::TooMany { retry_after } => Some(too_many(*retry_after)),
            Self::Template(error) => error.for_visitor(),
        }
    }
}

impl VisitorError for StructureError {
    fn for_visitor(&self) -> Option<AppError> {
        match self {
            Self::TooMany { retry_after } => Some(too_many(*retry_after)),
            Self::Busy(Busy) | Self::Memory(_) => Some(too_many(Duration::ZERO)),
            Self::File(_) | Self::Interrupted(_) | Self::Store(_) => None,
        }
    }
}

impl VisitorError for OperationError {
    fn for_visitor(&self) -> Option<AppError> {
        Some(match self {
            Self::NotFound => AppError::NotFound,
            Self::UnknownPlan(_) => invalid(vec![Field::Plan]),
            Self::Store(_) => return None,
        })
    }
}

impl VisitorError for ImpersonationError {
    fn for_visitor(&self) -> Option<AppError> {
        matches!(self, Self::NotFound).then_some(AppError::NotFound)
    }
}

/// Returns the error for a rejected form.
pub(super) fn rejected(reason: impl Into<Reason>) -> AppError {
    AppError::Rejected(Rejection {
        reason: reason.into(),
        typed: Vec::new(),
    })
}

/// Returns the error for too many attempts. The waiting time is rounded up to minutes.
pub(super) fn too_many(retry_after: Duration) -> AppError {
    rejected(Reason::TooMany {
        minutes: retry_after.as_secs().div_ceil(60).max(1),
    })
}

/// Returns the error for a form with invalid fields.
pub(super) fn invalid(fields: Vec<Field>) -> AppError {
    rejected(Reason::Invalid(fields))
}

/// Returns the error for a form of a batch.
pub(super) fn invalid_batch(problems: &[Problem]) -> AppError {
    let fields = [
        ("/batch/name", Field::Name),
        ("/batch/render/parts", Field::BatchTemplate),
        ("/batch/render/destination", Field::DocumentPath),
        ("/batch/file_names", Field::FileNames),
        (COLUMNS, Field::BatchMembers),
    ];
    let named = fields.into_iter().filter(|(pointer, _)| {
        let mut pointers = problems.iter().map(|problem| problem.pointer.as_str());
        pointers.any(|found| found.starts_with(pointer))
    });
    invalid(named.map(|(_, field)| field).collect())
}

/// Returns the error for the form of a template.
pub(super) fn invalid_template(problems: &[Problem]) -> AppError {
    let fields = [
        // The page offers this only for partials that aren't used.
        (KIND, Field::Subject),
        (HANDLE, Field::TemplateHandle),
        ("/template/name", Field::TemplateName),
        (CONTENT, Field::TemplateContent),
        ("/template/preview_context", Field::TemplateData),
        ("/template/translations", Field::TemplateTranslations),
    ];
    let named = fields.into_iter().filter(|(pointer, _)| {
        let mut pointers = problems.iter().map(|problem| problem.pointer.as_str());
        pointers.any(|found| found.starts_with(pointer))
    });
    invalid(named.map(|(_, field)| field).collect())
}
