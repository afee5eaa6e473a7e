//! Server functions of the page of releases.

use leptos::prelude::*;
use platen_domain::{
    ids::{PromotionId, TemplateId},
    template::promotions::PromotionState,
};

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    pages::template::releases::{Done, done},
};

/// Promotes a release to a channel, for the logged-in user.
#[server(prefix = "/web", endpoint = "promote-template")]
pub async fn promote_template(
    /// Id of the template.
    id: TemplateId,
    /// Channel and version, as in [`promoted`].
    subject: String,
    /// When it is to be done, in UTC; empty: at once.
    due_at: String,
) -> Result<(), AppError> {
    let (channel, version) = subject.rsplit_once(':').ok_or(AppError::Malformed)?;
    let version = version.parse().map_err(|_| AppError::Malformed)?;
    let promoted = backend()
        .promote_template(id, channel.to_owned(), version, due_at)
        .await?;
    leave_for(done(id, promoted.into()))
}

/// Approves a promotion, for the logged-in user.
#[server(prefix = "/web", endpoint = "approve-promotion")]
pub async fn approve_promotion(
    /// Id of the template.
    id: TemplateId,
    /// Id of the promotion.
    subject: PromotionId,
) -> Result<(), AppError> {
    let done_now = match backend().approve_promotion(id, subject).await? {
        PromotionState::Scheduled => Done::ApprovedForLater,
        _ => Done::Approved,
    };
    leave_for(done(id, done_now))
}

/// Cancels a promotion that waits, for the logged-in user.
#[server(prefix = "/web", endpoint = "cancel-promotion")]
pub async fn cancel_promotion(
    /// Id of the template.
    id: TemplateId,
    /// Id of the promotion.
    subject: PromotionId,
) -> Result<(), AppError> {
    backend().cancel_promotion(id, subject).await?;
    leave_for(done(id, Done::Cancelled))
}

/// Returns the form value of a version that is promoted to a channel.
pub(super) fn promoted(channel: &str, version: i32) -> String {
    format!("{channel}:{version}")
}
