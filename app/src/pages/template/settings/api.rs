//! Server functions of the page of a template's settings.

use leptos::prelude::*;
use platen_domain::{ids::TemplateId, template::identity::TemplateKind};

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    pages::template::settings::{Done, done},
};

/// Changes kind and handle of a template, for the logged-in user.
#[server(prefix = "/web", endpoint = "change-template-kind")]
pub async fn change_template_kind(
    /// Id of the template.
    id: TemplateId,
    template_kind: TemplateKind,
    /// May be empty for documents.
    template_handle: String,
) -> Result<(), AppError> {
    backend()
        .change_template_kind(id, template_kind, template_handle)
        .await?;
    leave_for(done(id, Done::Saved))
}

/// Publishes templates that use a partial again, for the logged-in user, so that they use its published version.
#[server(prefix = "/web", endpoint = "publish-users-of-partial")]
pub async fn publish_users_of_partial(
    /// Id of the partial.
    id: TemplateId,
    /// The templates and their published versions, as in [`chosen_user`].
    #[server(default)]
    chosen: Vec<String>,
) -> Result<(), AppError> {
    let users = chosen.iter().map(|user| {
        let (user, version) = user.split_once(':').ok_or(AppError::Malformed)?;
        let user = TemplateId::parse(user).ok_or(AppError::Malformed)?;
        Ok((user, version.parse().map_err(|_| AppError::Malformed)?))
    });
    let users = users.collect::<Result<Vec<_>, AppError>>()?;
    backend().publish_users_of_partial(id, users).await?;
    leave_for(done(id, Done::Published))
}

/// Returns the form value of a template whose published version has this number.
pub(super) fn chosen_user(id: TemplateId, published: i32) -> String {
    format!("{id}:{published}")
}
