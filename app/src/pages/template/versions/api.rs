//! Server functions of the page of versions.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{own_path::OwnPath, template::editor_path},
};

/// Saves an earlier version again without publishing it, for the logged-in user. Redirects to the editor.
#[server(prefix = "/web", endpoint = "restore-template")]
pub async fn restore_template(
    /// Id of the template.
    id: String,
    /// Number of the version.
    number: i32,
) -> Result<(), AppError> {
    backend().restore_template(id.clone(), number).await?;
    leave_for(&OwnPath::parse(&editor_path(&id)).ok_or(AppError::NotFound)?)
}
