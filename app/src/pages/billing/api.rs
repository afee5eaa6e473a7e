//! Server functions of the billing page. All are for owners only.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for, leave_for_stripe},
    error::AppError,
};

/// Redirects to Stripe's checkout page for a plan.
#[server(prefix = "/web", endpoint = "subscribe")]
pub async fn subscribe(
    /// Name of the plan.
    plan: String,
) -> Result<(), AppError> {
    leave_for_stripe(&backend().subscribe(plan).await?)
}

/// Redirects to Stripe's checkout page for a credit pack.
#[server(prefix = "/web", endpoint = "buy-credits")]
pub async fn buy_credits(
    /// Product of the credit pack.
    subject: String,
) -> Result<(), AppError> {
    leave_for_stripe(&backend().buy_credits(subject).await?)
}

/// Redirects to the Stripe page where card, address and tax id are changed.
#[server(prefix = "/web", endpoint = "open-portal")]
pub async fn open_portal() -> Result<(), AppError> {
    leave_for_stripe(&backend().payment_portal().await?)
}

/// Switches to another plan.
#[server(prefix = "/web", endpoint = "change-plan")]
pub async fn change_plan(
    /// Name of the plan.
    plan: String,
    /// Time for which the displayed amount was calculated, in Unix seconds.
    as_of: i64,
) -> Result<(), AppError> {
    backend().change_plan(plan, as_of).await?;
    leave_for("/dashboard/billing?done=changed")
}

/// Cancels a scheduled change to a smaller plan.
#[server(prefix = "/web", endpoint = "keep-plan")]
pub async fn keep_plan() -> Result<(), AppError> {
    backend().keep_plan().await?;
    leave_for("/dashboard/billing?done=kept")
}

/// Sets how many credits may be used beyond those of each period.
#[server(prefix = "/web", endpoint = "set-overage-limit")]
pub async fn set_overage_limit(
    /// Number of credits, as typed. Empty means 0, which allows none.
    overage_limit: String,
) -> Result<(), AppError> {
    backend().set_overage_limit(overage_limit).await?;
    leave_for("/dashboard/billing?done=limited")
}

/// Cancels the subscription at the end of its period.
#[server(prefix = "/web", endpoint = "cancel-subscription")]
pub async fn cancel_subscription() -> Result<(), AppError> {
    backend().cancel_subscription().await?;
    leave_for("/dashboard/billing?done=cancelled")
}

/// Resumes a subscription that was cancelled and whose period hasn't ended.
#[server(prefix = "/web", endpoint = "resume-subscription")]
pub async fn resume_subscription() -> Result<(), AppError> {
    backend().resume_subscription().await?;
    leave_for("/dashboard/billing?done=resumed")
}
