//! What pages ask about what people decide of themselves and of their account.

use async_trait::async_trait;

use crate::{error::AppError, model::settings::Settings};

/// The person who is logged in, their sessions and their account.
#[async_trait]
pub trait SettingsBackend: Send + Sync {
    /// All of it.
    async fn settings(&self) -> Result<Settings, AppError>;

    /// Gives the person another name.
    async fn rename(&self, name: String) -> Result<(), AppError>;

    /// Mails a link to another address, which is theirs once they have followed it.
    async fn request_email_change(&self, email: String) -> Result<(), AppError>;

    /// Replaces their password, and ends their other sessions.
    async fn change_password(&self, password: String) -> Result<(), AppError>;

    /// Gives their account another name.
    async fn rename_account(&self, name: String) -> Result<(), AppError>;

    /// Decides whether the content of requests is kept once their renders have ended.
    async fn keep_content(&self, keep: bool) -> Result<(), AppError>;

    /// Decides from which day on everybody in their account needs a second factor; empty: nobody does.
    async fn require_second_factor(&self, from: String) -> Result<(), AppError>;

    /// Lets all that belongs to their account be put into a file.
    async fn request_export(&self) -> Result<(), AppError>;

    /// Ends one of their sessions.
    async fn end_session(&self, id: String) -> Result<(), AppError>;

    /// Ends all of them but for this one.
    async fn end_other_sessions(&self) -> Result<(), AppError>;

    /// Lets their account be deleted in seven days, if its name was typed rightly.
    async fn request_deletion(&self, name: String) -> Result<(), AppError>;

    /// Takes that back.
    async fn undo_deletion(&self) -> Result<(), AppError>;
}
