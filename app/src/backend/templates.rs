//! Stored templates.

use std::pin::Pin;

use async_trait::async_trait;
use futures::Stream;
use platen_domain::{
    editor::SavedTemplate,
    template::{TemplateGlance, TemplateVersion, VersionSummary},
};

use crate::{
    error::AppError,
    model::{
        live_preview::{PreviewEvent, PreviewRequest},
        template::{Beginning, TemplateFilter, TemplateForm},
    },
};

/// Events of a preview, in order.
pub type PreviewEvents = Pin<Box<dyn Stream<Item = Result<PreviewEvent, AppError>> + Send>>;

/// A page of templates.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateList {
    /// Templates, the newest first, each with a text that distinguishes it from others with the same name.
    pub templates: Vec<(TemplateGlance, Option<String>)>,
    /// Cursor of the next page.
    pub next: Option<String>,
}

/// A template in the editor.
#[derive(Debug, Clone, PartialEq)]
pub struct EditedTemplate {
    pub id: String,
    /// Number of the published version, which renders use.
    pub published: i32,
    pub newest: TemplateVersion,
}

/// Versions of a template, and a comparison with the newest.
#[derive(Debug, Clone, PartialEq)]
pub struct Versions {
    /// Id of the template.
    pub id: String,
    /// Number of the published version, which renders use.
    pub published: i32,
    /// The latest versions, the newest first.
    pub versions: Vec<VersionSummary>,
    pub newest: TemplateVersion,
    /// The version to compare with.
    pub compared: Option<TemplateVersion>,
}

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
    async fn preview_template(&self, wanted: PreviewRequest) -> Result<PreviewEvents, AppError>;
}
