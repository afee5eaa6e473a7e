//! Server functions of the template editor.

use leptos::{
    prelude::*,
    server_fn::codec::{ByteStream, Json, Streaming},
};
use platen_domain::editor::{SavedTemplate, UnpublishedChanges};

#[cfg(feature = "ssr")]
use crate::{backend::backend, model::template::TemplateForm};
use crate::{
    csrf::PageClient,
    error::AppError,
    model::{live_preview::PreviewRequest, template::DataForm},
};

/// Saves a new version of a template, for the logged-in user. Without JavaScript it is a form that leads back to its
/// page.
#[server(prefix = "/web", endpoint = "save-template", client = PageClient)]
pub async fn save_template(
    /// Id of the template.
    id: String,
    /// Newest version that the author has seen; saving is refused if there is a newer one. `None` skips this check.
    seen: Option<i32>,
    /// New name of the template.
    template_name: String,
    /// HTML with placeholders.
    content: String,
    /// Sample data and translations.
    #[server(flatten)]
    data: DataForm,
    /// Present if the version is published.
    publish: Option<String>,
    /// What the version changes, if it is published.
    note: Option<String>,
) -> Result<SavedTemplate, AppError> {
    let form = TemplateForm {
        id,
        seen,
        name: template_name,
        content,
        data,
        publish: publish.is_some(),
        note: note.unwrap_or_default(),
    };
    backend().save_template(form).await
}

/// Compares the editor's HTML and translations with the published version, for the logged-in user.
#[server(prefix = "/web", endpoint = "compare-draft", client = PageClient)]
pub async fn compare_draft(
    /// Id of the template.
    id: String,
    /// HTML with placeholders.
    content: String,
    /// Translations as JSON.
    translations: String,
) -> Result<UnpublishedChanges, AppError> {
    backend().unpublished_changes(id, content, translations).await
}

/// Streams the events of a preview for the logged-in user, one line of JSON each.
#[server(prefix = "/web", endpoint = "preview-template", client = PageClient, input = Json, output = Streaming)]
pub async fn preview_template(
    /// Unsaved content of the editor, and options of the preview.
    wanted: PreviewRequest,
) -> Result<ByteStream<AppError>, AppError> {
    use futures::{StreamExt, TryStreamExt};

    let events = backend().preview_template(wanted).await?;
    let lines = events.and_then(|event| async move {
        let mut line = serde_json::to_vec(&event).unwrap_or_default();
        line.push(b'\n');
        Ok(line)
    });
    Ok(ByteStream::new(lines.boxed()))
}
