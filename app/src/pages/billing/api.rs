//! What the page of billing asks of the server. All of it is for the owners of the account.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for, leave_for_stripe},
    error::AppError,
    model::{own_path::OwnPath, rejection::Field},
};

/// Leads to where a plan is paid for.
#[server(prefix = "/web", endpoint = "subscribe")]
pub async fn subscribe(
    /// Its name.
    plan: String,
) -> Result<(), AppError> {
    leave_for_stripe(&backend().subscribe(plan).await?);
    Ok(())
}

/// Leads to where credits are paid for.
#[server(prefix = "/web", endpoint = "buy-credits")]
pub async fn buy_credits(
    /// Which ones.
    subject: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::Subject, subject.clone())];
    let page = backend().buy_credits(subject).await;
    leave_for_stripe(&page.map_err(|error| error.with_typed(typed))?);
    Ok(())
}

/// Leads to where card, address and tax id are looked after.
#[server(prefix = "/web", endpoint = "open-portal")]
pub async fn open_portal() -> Result<(), AppError> {
    leave_for_stripe(&backend().payment_portal().await?);
    Ok(())
}

/// Takes another plan.
#[server(prefix = "/web", endpoint = "change-plan")]
pub async fn change_plan(
    /// Its name.
    plan: String,
    /// When the amount was worked out that was shown.
    as_of: i64,
) -> Result<(), AppError> {
    backend().change_plan(plan, as_of).await?;
    leave_for(&OwnPath::to("/dashboard/billing?done=changed"));
    Ok(())
}

/// Stays with the plan although a smaller one was chosen.
#[server(prefix = "/web", endpoint = "keep-plan")]
pub async fn keep_plan() -> Result<(), AppError> {
    backend().keep_plan().await?;
    leave_for(&OwnPath::to("/dashboard/billing?done=kept"));
    Ok(())
}

/// Says how many credits may be used beyond those of each period.
#[server(prefix = "/web", endpoint = "set-overage-limit")]
pub async fn set_overage_limit(
    /// 0 or nothing: none.
    overage_limit: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::OverageLimit, overage_limit.clone())];
    let done = backend().set_overage_limit(overage_limit).await;
    done.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/dashboard/billing?done=limited"));
    Ok(())
}

/// Lets the subscription end with its period.
#[server(prefix = "/web", endpoint = "cancel-subscription")]
pub async fn cancel_subscription() -> Result<(), AppError> {
    backend().cancel_subscription().await?;
    leave_for(&OwnPath::to("/dashboard/billing?done=cancelled"));
    Ok(())
}

/// Takes that back.
#[server(prefix = "/web", endpoint = "resume-subscription")]
pub async fn resume_subscription() -> Result<(), AppError> {
    backend().resume_subscription().await?;
    leave_for(&OwnPath::to("/dashboard/billing?done=resumed"));
    Ok(())
}
