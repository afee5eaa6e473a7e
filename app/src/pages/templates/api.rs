//! Server functions of the list of templates.

use leptos::prelude::*;
use platen_domain::{ids::TemplateId, template::identity::TemplateKind};

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{
        own_path::OwnPath,
        template::{Beginning, NewTemplateForm, editor_path},
    },
    pages::{template::settings, templates::PATH},
};

/// Creates a template, for the logged-in user. Redirects to its editor.
#[server(prefix = "/web", endpoint = "create-template")]
pub async fn create_template(
    /// Name of the template.
    template_name: String,
    #[server(default)] template_kind: TemplateKind,
    /// May be empty for documents.
    #[server(default)]
    template_handle: String,
    /// Content to begin with.
    beginning: Beginning,
) -> Result<(), AppError> {
    let form = NewTemplateForm {
        name: template_name,
        kind: template_kind,
        handle: template_handle,
        beginning,
    };
    let id = backend().create_template(form).await?;
    leave_for(editor(id))
}

/// Copies a template, for the logged-in user. Redirects to the editor of the copy.
#[server(prefix = "/web", endpoint = "duplicate-template")]
pub async fn duplicate_template(
    /// Id of the template.
    id: TemplateId,
) -> Result<(), AppError> {
    let id = backend().duplicate_template(id).await?;
    leave_for(editor(id))
}

/// Deletes a template, for the logged-in user.
#[server(prefix = "/web", endpoint = "delete-template")]
pub async fn delete_template(
    /// Id of the template.
    id: TemplateId,
    /// Name of the template, typed to confirm.
    confirmation: String,
) -> Result<(), AppError> {
    if backend().delete_template(id, confirmation).await? {
        leave_for(PATH)
    } else {
        leave_for(settings::done(id, settings::Done::Kept))
    }
}

/// Returns the path of a template's editor.
pub(crate) fn editor(id: TemplateId) -> OwnPath {
    OwnPath::parse(&editor_path(&id.to_string())).unwrap_or_else(|| PATH.into())
}
