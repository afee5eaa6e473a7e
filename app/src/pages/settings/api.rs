//! What the page of settings asks of the server. All of it is for the person who is logged in.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{own_path::OwnPath, rejection::Field},
};

/// What the person calls themselves.
#[server(prefix = "/web", endpoint = "rename")]
pub async fn rename(
    /// The new name.
    name: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::Name, name.clone())];
    backend().rename(name).await.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/dashboard/settings?done=name"));
    Ok(())
}

/// Their log-in name.
#[server(prefix = "/web", endpoint = "request-email-change")]
pub async fn request_email_change(
    /// The new address.
    new_email: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::NewEmail, new_email.clone())];
    let asked = backend().request_email_change(new_email).await;
    asked.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/dashboard/settings?done=email"));
    Ok(())
}

/// Their password.
#[server(prefix = "/web", endpoint = "change-password")]
pub async fn change_password(
    /// What they choose.
    password: String,
) -> Result<(), AppError> {
    backend().change_password(password).await?;
    leave_for(&OwnPath::to("/dashboard/settings?done=password"));
    Ok(())
}

/// What the account is called.
#[server(prefix = "/web", endpoint = "rename-account")]
pub async fn rename_account(
    /// The new name.
    account_name: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::AccountName, account_name.clone())];
    let renamed = backend().rename_account(account_name).await;
    renamed.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/dashboard/settings?done=account"));
    Ok(())
}

/// Whether the content of requests is kept.
#[server(prefix = "/web", endpoint = "keep-content")]
pub async fn keep_content(
    /// There if it is.
    keep: Option<String>,
) -> Result<(), AppError> {
    backend().keep_content(keep.is_some()).await?;
    leave_for(&OwnPath::to("/dashboard/settings?done=content"));
    Ok(())
}

/// Whether everybody in the account needs a second factor.
#[server(prefix = "/web", endpoint = "require-second-factor")]
pub async fn require_second_factor(
    /// From this day on; empty: nobody needs one.
    second_factor_from: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::SecondFactorFrom, second_factor_from.clone())];
    let required = backend().require_second_factor(second_factor_from).await;
    required.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/dashboard/settings?done=factor-policy"));
    Ok(())
}

/// All that belongs to the account, as a file.
#[server(prefix = "/web", endpoint = "request-export")]
pub async fn request_export() -> Result<(), AppError> {
    backend().request_export().await?;
    leave_for(&OwnPath::to("/dashboard/settings?done=export"));
    Ok(())
}

/// Logs one browser out.
#[server(prefix = "/web", endpoint = "end-session")]
pub async fn end_session(
    /// Which one.
    subject: String,
) -> Result<(), AppError> {
    backend().end_session(subject).await?;
    leave_for(&OwnPath::to("/dashboard/settings?done=session"));
    Ok(())
}

/// Logs every other browser out.
#[server(prefix = "/web", endpoint = "end-other-sessions")]
pub async fn end_other_sessions() -> Result<(), AppError> {
    backend().end_other_sessions().await?;
    leave_for(&OwnPath::to("/dashboard/settings?done=sessions"));
    Ok(())
}

/// Lets the account be deleted.
#[server(prefix = "/web", endpoint = "request-deletion")]
pub async fn request_deletion(
    /// Its name, typed once more.
    confirmation: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::Confirmation, confirmation.clone())];
    let asked = backend().request_deletion(confirmation).await;
    asked.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/dashboard/settings?done=deletion"));
    Ok(())
}

/// Takes that back.
#[server(prefix = "/web", endpoint = "undo-deletion")]
pub async fn undo_deletion() -> Result<(), AppError> {
    backend().undo_deletion().await?;
    leave_for(&OwnPath::to("/dashboard/settings?done=kept"));
    Ok(())
}
