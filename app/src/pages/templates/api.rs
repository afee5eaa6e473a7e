//! What the list of templates asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{
        own_path::OwnPath,
        rejection::Field,
        template::{Beginning, editor_path},
    },
};

/// For who is logged in. Leads to the new template.
#[server(prefix = "/web", endpoint = "create-template")]
pub async fn create_template(
    /// What it is to be called.
    template_name: String,
    /// What it is like at first.
    beginning: Beginning,
) -> Result<(), AppError> {
    let typed = vec![(Field::TemplateName, template_name.clone())];
    let created = backend().create_template(template_name, beginning).await;
    let id = created.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::parse(&editor_path(&id)).unwrap_or_else(|| OwnPath::to(TEMPLATES)));
    Ok(())
}

/// For who is logged in. Leads to the copy.
#[server(prefix = "/web", endpoint = "duplicate-template")]
pub async fn duplicate_template(
    /// Of which template.
    id: String,
) -> Result<(), AppError> {
    let id = backend().duplicate_template(id).await?;
    leave_for(&OwnPath::parse(&editor_path(&id)).unwrap_or_else(|| OwnPath::to(TEMPLATES)));
    Ok(())
}

/// For who is logged in.
#[server(prefix = "/web", endpoint = "delete-template")]
pub async fn delete_template(
    /// Which one.
    id: String,
    /// Its name, typed once more.
    confirmation: String,
) -> Result<(), AppError> {
    backend().delete_template(id, confirmation).await?;
    leave_for(&OwnPath::to(TEMPLATES));
    Ok(())
}

/// The list.
const TEMPLATES: &str = "/dashboard/templates";
