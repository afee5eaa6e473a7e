//! Server functions of the settings page. All act for the logged-in user.

use leptos::prelude::*;
use platen_domain::{download_link::DocumentLinks, ids::SessionId};

use crate::{
    backend::{backend, leave_for},
    error::AppError,
};

/// Renames the user.
#[server(prefix = "/web", endpoint = "rename")]
pub async fn rename(
    /// The new name.
    name: String,
) -> Result<(), AppError> {
    backend().rename(name).await?;
    leave_for("/dashboard/settings?done=name")
}

/// Mails a confirmation link to a new address, which applies once the link is followed.
#[server(prefix = "/web", endpoint = "request-email-change")]
pub async fn request_email_change(
    /// The new address.
    new_email: String,
) -> Result<(), AppError> {
    backend().request_email_change(new_email).await?;
    leave_for("/dashboard/settings?done=email")
}

/// Replaces the user's password and ends their other sessions.
#[server(prefix = "/web", endpoint = "change-password")]
pub async fn change_password(
    /// The new password.
    password: String,
) -> Result<(), AppError> {
    backend().change_password(password).await?;
    leave_for("/dashboard/settings?done=password")
}

/// Renames the account.
#[server(prefix = "/web", endpoint = "rename-account")]
pub async fn rename_account(
    /// The new name.
    account_name: String,
) -> Result<(), AppError> {
    backend().rename_account(account_name).await?;
    leave_for("/dashboard/settings?done=account")
}

/// Sets whether the content of requests is stored after their renders have ended.
#[server(prefix = "/web", endpoint = "keep-content")]
pub async fn keep_content(
    /// Present if it is stored.
    keep: Option<String>,
) -> Result<(), AppError> {
    backend().keep_content(keep.is_some()).await?;
    leave_for("/dashboard/settings?done=content")
}

/// Sets whether new documents get public addresses, or links that expire.
#[server(prefix = "/web", endpoint = "set-document-links")]
pub async fn set_document_links(
    /// A choice of [`DocumentLinks`].
    links: String,
) -> Result<(), AppError> {
    let links = DocumentLinks::parse(&links).ok_or(AppError::Malformed)?;
    backend().set_document_links(links).await?;
    leave_for("/dashboard/settings?done=links")
}

/// Sets the channels of the account's templates.
#[server(prefix = "/web", endpoint = "set-channels")]
pub async fn set_channels(
    /// The names before `production`, separated by commas; may be empty.
    channels: String,
    /// Present if another member must approve promotions to `production`.
    approval: Option<String>,
) -> Result<(), AppError> {
    backend().set_channels(channels, approval.is_some()).await?;
    leave_for("/dashboard/settings?done=channels")
}

/// Sets the day from which all members of the account need a second factor.
#[server(prefix = "/web", endpoint = "require-second-factor")]
pub async fn require_second_factor(
    /// First day of the requirement. Empty: no requirement.
    second_factor_from: String,
) -> Result<(), AppError> {
    backend().require_second_factor(second_factor_from).await?;
    leave_for("/dashboard/settings?done=factor-policy")
}

/// Starts an export of all data of the account.
#[server(prefix = "/web", endpoint = "request-export")]
pub async fn request_export() -> Result<(), AppError> {
    backend().request_export().await?;
    leave_for("/dashboard/settings?done=export")
}

/// Ends one of the user's sessions.
#[server(prefix = "/web", endpoint = "end-session")]
pub async fn end_session(
    /// Id of the session.
    subject: SessionId,
) -> Result<(), AppError> {
    backend().end_session(subject).await?;
    leave_for("/dashboard/settings?done=session")
}

/// Ends all sessions of the user except this one.
#[server(prefix = "/web", endpoint = "end-other-sessions")]
pub async fn end_other_sessions() -> Result<(), AppError> {
    backend().end_other_sessions().await?;
    leave_for("/dashboard/settings?done=sessions")
}

/// Schedules the deletion of the account in seven days.
#[server(prefix = "/web", endpoint = "request-deletion")]
pub async fn request_deletion(
    /// Name of the account, typed to confirm.
    confirmation: String,
) -> Result<(), AppError> {
    backend().request_deletion(confirmation).await?;
    leave_for("/dashboard/settings?done=deletion")
}

/// Cancels the scheduled deletion.
#[server(prefix = "/web", endpoint = "undo-deletion")]
pub async fn undo_deletion() -> Result<(), AppError> {
    backend().undo_deletion().await?;
    leave_for("/dashboard/settings?done=kept")
}
