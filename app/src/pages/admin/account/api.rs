//! What the page of an account asks of the server. What is refused was about the account in the subject.

use std::iter;

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    layout::shell::admin::PATH,
    model::{
        own_path::{DASHBOARD, OwnPath},
        rejection::Field,
    },
};

fn back_to(account: &str, done: &str) {
    let page = OwnPath::parse(&format!("{PATH}/{account}?done={done}"));
    leave_for(&page.unwrap_or_else(|| OwnPath::to(PATH)));
}

/// What is refused keeps what was typed, and the account that it was about.
fn or_typed(
    done: Result<(), AppError>,
    account: &str,
    typed: impl IntoIterator<Item = (Field, String)>,
) -> Result<(), AppError> {
    let about = iter::once((Field::Subject, account.to_owned()));
    done.map_err(|error| error.with_typed(about.chain(typed).collect()))
}

/// Suspends an account.
#[server(prefix = "/web", endpoint = "suspend-account")]
pub async fn suspend_account(
    /// Which one.
    subject: String,
    /// Why.
    reason: String,
    /// There, if the owner is to be told.
    #[server(default)]
    tell_owner: Option<String>,
) -> Result<(), AppError> {
    let typed = [(Field::OperatorsReason, reason.clone())];
    let done = backend()
        .suspend_account(subject.clone(), reason, tell_owner.is_some())
        .await;
    or_typed(done, &subject, typed)?;
    back_to(&subject, "suspended");
    Ok(())
}

/// Lifts a suspension.
#[server(prefix = "/web", endpoint = "restore-account")]
pub async fn restore_account(
    /// Of which account.
    subject: String,
    /// Why.
    reason: String,
    /// There, if the owner is to be told.
    #[server(default)]
    tell_owner: Option<String>,
) -> Result<(), AppError> {
    let typed = [(Field::OperatorsReason, reason.clone())];
    let done = backend()
        .restore_account(subject.clone(), reason, tell_owner.is_some())
        .await;
    or_typed(done, &subject, typed)?;
    back_to(&subject, "restored");
    Ok(())
}

/// Gives an account credits.
#[server(prefix = "/web", endpoint = "grant-credits")]
pub async fn grant_credits(
    /// Which one.
    subject: String,
    /// How many.
    credits: String,
    /// Until when.
    lasts: String,
    /// Why.
    reason: String,
) -> Result<(), AppError> {
    let typed = [
        (Field::CreditAmount, credits.clone()),
        (Field::GrantLasts, lasts.clone()),
        (Field::OperatorsReason, reason.clone()),
    ];
    let done = backend().grant_credits(subject.clone(), credits, lasts, reason).await;
    or_typed(done, &subject, typed)?;
    back_to(&subject, "granted");
    Ok(())
}

/// Gives an account another plan.
#[server(prefix = "/web", endpoint = "set-plan")]
pub async fn set_plan(
    /// Which one.
    subject: String,
    /// Its name.
    plan: String,
    /// Credits of each period, instead of the plan's.
    period_credits: String,
    /// Why.
    reason: String,
) -> Result<(), AppError> {
    let typed = [
        (Field::Plan, plan.clone()),
        (Field::PeriodCredits, period_credits.clone()),
        (Field::OperatorsReason, reason.clone()),
    ];
    let done = backend().set_plan(subject.clone(), plan, period_credits, reason).await;
    or_typed(done, &subject, typed)?;
    back_to(&subject, "plan");
    Ok(())
}

/// Gives an account limits of its own.
#[server(prefix = "/web", endpoint = "set-limits")]
pub async fn set_limits(
    /// Which one.
    subject: String,
    /// Renders at a time.
    concurrency: String,
    /// Requests a minute.
    rate_per_minute: String,
    /// MiB of a request.
    body_mib: String,
    /// Seconds of a synchronous render.
    deadline_seconds: String,
    /// What it may store, a line each.
    #[server(default)]
    storage_limits: String,
    /// Why.
    reason: String,
) -> Result<(), AppError> {
    let typed = [
        (Field::Concurrency, concurrency.clone()),
        (Field::RatePerMinute, rate_per_minute.clone()),
        (Field::BodyMib, body_mib.clone()),
        (Field::DeadlineSeconds, deadline_seconds.clone()),
        (Field::StorageLimits, storage_limits.clone()),
        (Field::OperatorsReason, reason.clone()),
    ];
    let limits = [concurrency, rate_per_minute, body_mib, deadline_seconds, storage_limits];
    let done = backend().set_limits(subject.clone(), limits, reason).await;
    or_typed(done, &subject, typed)?;
    back_to(&subject, "limits");
    Ok(())
}

/// Looks into an account as its owner.
#[server(prefix = "/web", endpoint = "look-into-account")]
pub async fn look_into_account(
    /// Which one.
    subject: String,
    /// Why.
    reason: String,
) -> Result<(), AppError> {
    let typed = [(Field::OperatorsReason, reason.clone())];
    let done = backend().look_into_account(subject.clone(), reason).await;
    or_typed(done, &subject, typed)?;
    leave_for(&OwnPath::to(DASHBOARD));
    Ok(())
}

/// Stops looking.
#[server(prefix = "/web", endpoint = "stop-looking")]
pub async fn stop_looking() -> Result<(), AppError> {
    match backend().stop_looking().await? {
        Some(account) => back_to(&account, "looked"),
        None => leave_for(&OwnPath::to(PATH)),
    }
    Ok(())
}
