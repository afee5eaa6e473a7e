//! The part of [`Backend`](super::Backend) for settings.

use async_trait::async_trait;
use platen_domain::{download_link::DocumentLinks, ids::SessionId};

use crate::{error::AppError, model::settings::Settings};

/// Settings of the user and of the account. Each method authorizes itself, as those of [`Backend`](super::Backend).
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

    async fn set_document_links(&self, links: DocumentLinks) -> Result<(), AppError>;

    /// Sets the channels of templates before `production`, separated by commas, and whether promotions to `production` need
    /// the approval of another member.
    async fn set_channels(&self, before_production: String, approval: bool) -> Result<(), AppError>;

    /// Sets the day from which all members need a second factor. Empty: no requirement.
    async fn require_second_factor(&self, from: String) -> Result<(), AppError>;

    /// Starts an export of all data of the account.
    async fn request_export(&self) -> Result<(), AppError>;

    /// Ends one of the user's sessions.
    async fn end_session(&self, id: SessionId) -> Result<(), AppError>;

    /// Ends all sessions of the user except this one.
    async fn end_other_sessions(&self) -> Result<(), AppError>;

    /// Schedules deletion of the account in seven days, if `name` is its name.
    async fn request_deletion(&self, name: String) -> Result<(), AppError>;

    /// Cancels the scheduled deletion.
    async fn undo_deletion(&self) -> Result<(), AppError>;
}
