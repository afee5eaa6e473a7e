//! Server functions of the page of versions.

use leptos::prelude::*;
use platen_domain::ids::TemplateId;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{
        own_path::OwnPath,
        template::{PublicationForm, versions_path},
    },
    pages::templates::{PATH, api::editor},
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

/// Publishes a version, for the logged-in user. An earlier one is saved again as a new version.
#[server(prefix = "/web", endpoint = "publish-version")]
pub async fn publish_version(
    /// Id of the template.
    id: TemplateId,
    /// Number of the version.
    subject: i32,
    /// The published version that the user has seen.
    seen: i32,
    /// What the version changes; may be empty.
    note: String,
) -> Result<(), AppError> {
    let form = PublicationForm {
        number: subject,
        seen,
        note,
    };
    backend().publish_version(id, form).await?;
    let path = OwnPath::parse(&format!("{}?done=published", versions_path(&id.to_string())));
    leave_for(path.unwrap_or_else(|| PATH.into()))
}
