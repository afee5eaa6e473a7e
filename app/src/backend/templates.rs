//! What pages ask about stored templates.

use std::pin::Pin;

use async_trait::async_trait;
use futures::Stream;

use crate::{
    error::AppError,
    model::{
        live_preview::{PreviewEvent, PreviewWanted},
        template::{Beginning, EditedTemplate, SavedTemplate, TemplateFilter, TemplateForm, TemplateList, Versions},
    },
};

/// What there is to show of a preview, as it turns out.
pub type PreviewEvents = Pin<Box<dyn Stream<Item = Result<PreviewEvent, AppError>> + Send>>;

/// The account's templates.
#[async_trait]
pub trait TemplatesBackend: Send + Sync {
    /// Those that somebody looks for.
    async fn templates(&self, filter: TemplateFilter) -> Result<TemplateList, AppError>;

    /// One of them, in its newest version.
    async fn template(&self, id: String) -> Result<EditedTemplate, AppError>;

    /// Its versions, and the one of this number beside the newest.
    async fn template_versions(&self, id: String, compared: Option<i32>) -> Result<Versions, AppError>;

    /// Makes a new one, and says its id.
    async fn create_template(&self, name: String, beginning: Beginning) -> Result<String, AppError>;

    /// Makes another one like it, and says its id.
    async fn duplicate_template(&self, id: String) -> Result<String, AppError>;

    /// Deletes one whose name was typed for confirmation.
    async fn delete_template(&self, id: String, typed_name: String) -> Result<(), AppError>;

    /// Saves a new version, and publishes it if it is to be.
    async fn save_template(&self, form: TemplateForm) -> Result<SavedTemplate, AppError>;

    /// Saves a version once more, as a draft.
    async fn restore_template(&self, id: String, number: i32) -> Result<(), AppError>;

    /// Renders what is typed.
    async fn preview_template(&self, wanted: PreviewWanted) -> Result<PreviewEvents, AppError>;
}
