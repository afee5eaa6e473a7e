//! Server functions of the account page for operators.

use leptos::prelude::*;
use platen_domain::ids::AccountId;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    layout::shell::admin::PATH,
    model::own_path::{DASHBOARD, OwnPath},
};

fn back_to(account: AccountId, done: &str) -> Result<(), AppError> {
    let page = OwnPath::parse(&format!("{PATH}/{account}?done={done}"));
    leave_for(page.unwrap_or_else(|| PATH.into()))
}

/// Suspends an account.
#[server(prefix = "/web", endpoint = "suspend-account")]
pub async fn suspend_account(
    /// Id of the account.
    subject: AccountId,
    /// Reason, for the audit log.
    reason: String,
    /// Present if the owner is notified by mail.
    #[server(default)]
    tell_owner: Option<String>,
) -> Result<(), AppError> {
    backend().suspend_account(subject, reason, tell_owner.is_some()).await?;
    back_to(subject, "suspended")
}

/// Lifts a suspension.
#[server(prefix = "/web", endpoint = "restore-account")]
pub async fn restore_account(
    /// Id of the account.
    subject: AccountId,
    /// Reason, for the audit log.
    reason: String,
    /// Present if the owner is notified by mail.
    #[server(default)]
    tell_owner: Option<String>,
) -> Result<(), AppError> {
    backend().restore_account(subject, reason, tell_owner.is_some()).await?;
    back_to(subject, "restored")
}

/// Grants credits to an account.
#[server(prefix = "/web", endpoint = "grant-credits")]
pub async fn grant_credits(
    /// Id of the account.
    subject: AccountId,
    /// Number of credits.
    credits: String,
    /// How long they are valid: a word of `GrantLasts`.
    lasts: String,
    /// Reason, for the audit log.
    reason: String,
) -> Result<(), AppError> {
    backend().grant_credits(subject, credits, lasts, reason).await?;
    back_to(subject, "granted")
}

/// Changes the plan of an account.
#[server(prefix = "/web", endpoint = "set-plan")]
pub async fn set_plan(
    /// Id of the account.
    subject: AccountId,
    /// Name of the plan.
    plan: String,
    /// Credits of each period. Empty: those of the plan.
    period_credits: String,
    /// Reason, for the audit log.
    reason: String,
) -> Result<(), AppError> {
    backend().set_plan(subject, plan, period_credits, reason).await?;
    back_to(subject, "plan")
}

/// Sets limits of an account that override its plan's. Empty values leave those of the plan.
#[server(prefix = "/web", endpoint = "set-limits")]
pub async fn set_limits(
    /// Id of the account.
    subject: AccountId,
    /// Maximum number of renders running or waiting at once.
    concurrency: String,
    /// Maximum number of requests per minute.
    rate_per_minute: String,
    /// Maximum size of a request, in MiB.
    body_mib: String,
    /// Deadline of a synchronous render, in seconds.
    deadline_seconds: String,
    /// Storage limits, one per line.
    #[server(default)]
    storage_limits: String,
    /// Reason, for the audit log.
    reason: String,
) -> Result<(), AppError> {
    let limits = [concurrency, rate_per_minute, body_mib, deadline_seconds, storage_limits];
    backend().set_limits(subject, limits, reason).await?;
    back_to(subject, "limits")
}

/// Starts impersonation: a read-only view of the account as its owner.
#[server(prefix = "/web", endpoint = "look-into-account")]
pub async fn impersonate(
    /// Id of the account.
    subject: AccountId,
    /// Reason, for the audit log.
    reason: String,
) -> Result<(), AppError> {
    backend().impersonate(subject, reason).await?;
    leave_for(DASHBOARD)
}

/// Ends impersonation, and redirects to the page of the account.
#[server(prefix = "/web", endpoint = "stop-looking")]
pub async fn stop_impersonation() -> Result<(), AppError> {
    match backend().stop_impersonation().await? {
        Some(account) => back_to(account, "looked"),
        None => leave_for(PATH),
    }
}
