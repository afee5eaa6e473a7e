//! Stored templates.

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

/// Events of a preview, in order.
pub type PreviewEvents = Pin<Box<dyn Stream<Item = Result<PreviewEvent, AppError>> + Send>>;

/// The account's templates.
#[async_trait]
pub trait TemplatesBackend: Send + Sync {
    /// Lists the templates that match `filter`.
    async fn templates(&self, filter: TemplateFilter) -> Result<TemplateList, AppError>;

    /// Returns a template in its newest version.
    async fn template(&self, id: String) -> Result<EditedTemplate, AppError>;

    /// Lists the versions of a template. `compared` is the number of the version that is compared with the newest.
    async fn template_versions(&self, id: String, compared: Option<i32>) -> Result<Versions, AppError>;

    /// Creates a template and returns its id.
    async fn create_template(&self, name: String, beginning: Beginning) -> Result<String, AppError>;

    /// Copies a template and returns the id of the copy.
    async fn duplicate_template(&self, id: String) -> Result<String, AppError>;

    /// Deletes a template, if `typed_name` is its name.
    async fn delete_template(&self, id: String, typed_name: String) -> Result<(), AppError>;

    /// Saves a new version, and publishes it if the form asks for that.
    async fn save_template(&self, form: TemplateForm) -> Result<SavedTemplate, AppError>;

    /// Saves an earlier version again, as a draft.
    async fn restore_template(&self, id: String, number: i32) -> Result<(), AppError>;

    /// Renders the unsaved content of the editor.
    async fn preview_template(&self, wanted: PreviewWanted) -> Result<PreviewEvents, AppError>;
}
