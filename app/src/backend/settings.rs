//! Settings of the user and of the account.

use async_trait::async_trait;

use crate::{error::AppError, model::settings::Settings};

/// The logged-in user, their sessions and their account.
#[async_trait]
pub trait SettingsBackend: Send + Sync {
    /// Returns all settings.
    async fn settings(&self) -> Result<Settings, AppError>;

    /// Renames the user.
    async fn rename(&self, name: String) -> Result<(), AppError>;

    /// Mails a confirmation link to a new address, which applies once the link is followed.
    async fn request_email_change(&self, email: String) -> Result<(), AppError>;

    /// Replaces the user's password and ends their other sessions.
    async fn change_password(&self, password: String) -> Result<(), AppError>;

    /// Renames the account.
    async fn rename_account(&self, name: String) -> Result<(), AppError>;

    /// Sets whether the content of requests is stored after their renders have ended.
    async fn keep_content(&self, keep: bool) -> Result<(), AppError>;

    /// Sets the day from which all members need a second factor. Empty: no requirement.
    async fn require_second_factor(&self, from: String) -> Result<(), AppError>;

    /// Starts an export of all data of the account.
    async fn request_export(&self) -> Result<(), AppError>;

    /// Ends one of the user's sessions.
    async fn end_session(&self, id: String) -> Result<(), AppError>;

    /// Ends all sessions of the user except this one.
    async fn end_other_sessions(&self) -> Result<(), AppError>;

    /// Schedules deletion of the account in seven days, if `name` is its name.
    async fn request_deletion(&self, name: String) -> Result<(), AppError>;

    /// Cancels the scheduled deletion.
    async fn undo_deletion(&self) -> Result<(), AppError>;
}
