//! The part of [`Backend`](super::Backend) for templates.

use async_trait::async_trait;
use platen_domain::{
    editor::{SampleSet, SavedTemplate, UnpublishedChanges},
    ids::{PromotionId, TemplateId},
    page::Page,
    template::{
        EditedTemplate, TemplateFilter, TemplateGlance, channels::Channels, identity::TemplateKind,
        promotions::PromotionState,
    },
};

use crate::{
    backend::PreviewEvents,
    error::AppError,
    model::{
        live_preview::PreviewRequest,
        template::{GeneratedData, NewTemplateForm, PublicationForm, TemplateForm},
        template_releases::Releases,
        template_settings::TemplateSettings,
        template_versions::{PageComparisons, Versions},
    },
};

/// Templates. Each method authorizes itself, as those of [`Backend`](super::Backend).
#[async_trait]
pub trait TemplateBackend: Send + Sync {
    /// Returns a page of templates, each with a text that distinguishes it from others with the same name.
    async fn templates(
        &self,
        filter: TemplateFilter,
        after: Option<TemplateId>,
    ) -> Result<Page<(TemplateGlance, Option<String>), TemplateId>, AppError>;

    /// Returns a template in its newest version.
    async fn template(&self, id: TemplateId) -> Result<EditedTemplate, AppError>;

    /// Returns the channels of the account's templates.
    async fn channels(&self) -> Result<Channels, AppError>;

    /// Returns the sets of sample data of a template, as the editor shows them. The first one is that of the newest
    /// version.
    async fn sample_sets(&self, id: TemplateId) -> Result<Vec<SampleSet>, AppError>;

    /// Adds values to sample data for everything that a template uses and the data lacks.
    async fn generate_sample(&self, content: String, data: String) -> Result<GeneratedData, AppError>;

    /// Compares the editor's HTML and translations with the published version.
    async fn unpublished_changes(
        &self,
        id: String,
        content: String,
        translations: String,
    ) -> Result<UnpublishedChanges, AppError>;

    /// Lists the versions of a template. With `from`, compares that version with `to`, by default the newest; the one with
    /// the lower number is the older one.
    async fn template_versions(&self, id: TemplateId, from: Option<i32>, to: Option<i32>)
    -> Result<Versions, AppError>;

    /// Returns two versions of a template, by default the published and the newest one, with the names of the sets of
    /// sample data. With `set`, renders both versions with this set and compares their pages.
    async fn page_comparisons(
        &self,
        id: TemplateId,
        older: Option<i32>,
        newer: Option<i32>,
        set: Option<String>,
    ) -> Result<PageComparisons, AppError>;

    /// Returns the settings of a template, and the templates that use it as a partial.
    async fn template_settings(&self, id: TemplateId) -> Result<TemplateSettings, AppError>;

    /// Changes kind and handle of a template. The handle of a document may be empty.
    async fn change_template_kind(&self, id: TemplateId, kind: TemplateKind, handle: String) -> Result<(), AppError>;

    /// Publishes templates that use a partial again, given with the numbers of their published versions. Those that can't
    /// be published don't prevent the others.
    async fn publish_users_of_partial(&self, id: TemplateId, users: Vec<(TemplateId, i32)>) -> Result<(), AppError>;

    /// Returns the releases of a template by channel, with its latest promotions.
    async fn template_releases(&self, id: TemplateId) -> Result<Releases, AppError>;

    /// Promotes a version to a channel, at once or at a time in UTC, such as `2027-01-31T18:00`. Returns the state of the
    /// promotion.
    async fn promote_template(
        &self,
        id: TemplateId,
        channel: String,
        version: i32,
        due_at: String,
    ) -> Result<PromotionState, AppError>;

    /// Approves a promotion that another member has requested. Returns its new state.
    async fn approve_promotion(&self, id: TemplateId, promotion: PromotionId) -> Result<PromotionState, AppError>;

    /// Cancels a promotion that waits for its approval or its time.
    async fn cancel_promotion(&self, id: TemplateId, promotion: PromotionId) -> Result<(), AppError>;

    /// Creates a template and returns its id.
    async fn create_template(&self, form: NewTemplateForm) -> Result<TemplateId, AppError>;

    /// Copies a template and returns the id of the copy.
    async fn duplicate_template(&self, id: TemplateId) -> Result<TemplateId, AppError>;

    /// Deletes a template, if `typed_name` is its name. Returns `false` if published templates use it as a partial, so that
    /// it stays.
    async fn delete_template(&self, id: TemplateId, typed_name: String) -> Result<bool, AppError>;

    /// Saves a new version, and publishes it if the form asks for that.
    async fn save_template(&self, form: TemplateForm) -> Result<SavedTemplate, AppError>;

    /// Saves an earlier version again, as a draft.
    async fn restore_template(&self, id: TemplateId, number: i32) -> Result<(), AppError>;

    /// Publishes a version. An earlier one is saved again as a new version.
    async fn publish_version(&self, id: TemplateId, form: PublicationForm) -> Result<(), AppError>;

    /// Renders the unsaved content of the editor.
    async fn preview_template(&self, wanted: PreviewRequest) -> Result<PreviewEvents, AppError>;
}
