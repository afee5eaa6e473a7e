//! What the page of versions asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{own_path::OwnPath, template::editor_path},
};

/// For who is logged in. Leads to the editor.
#[server(prefix = "/web", endpoint = "restore-template")]
pub async fn restore_template(
    /// Of which template.
    id: String,
    /// Which version.
    number: i32,
) -> Result<(), AppError> {
    backend().restore_template(id.clone(), number).await?;
    leave_for(&OwnPath::parse(&editor_path(&id)).ok_or(AppError::NotFound)?);
    Ok(())
}
