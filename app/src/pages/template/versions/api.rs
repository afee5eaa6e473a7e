//! Server functions of the page of versions.

use leptos::prelude::*;
use platen_domain::ids::TemplateId;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    pages::templates::api::editor,
};

/// Saves an earlier version again without publishing it, for the logged-in user. Redirects to the editor.
#[server(prefix = "/web", endpoint = "restore-template")]
pub async fn restore_template(
    /// Id of the template.
    id: TemplateId,
    /// Number of the version.
    number: i32,
) -> Result<(), AppError> {
    backend().restore_template(id, number).await?;
    leave_for(editor(id))
}
