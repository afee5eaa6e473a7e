//! Server functions of the checklist on the overview.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{
        api_key::{Expiry, KeySettingsForm, NewKeyForm},
        own_path::DASHBOARD,
    },
    pages::api_keys::api::with_new_key,
};

/// Creates a test key in the logged-in user's account. The overview shows it once, in the command that uses it.
#[server(prefix = "/web", endpoint = "create-first-key")]
pub async fn create_first_key() -> Result<(), AppError> {
    let settings = KeySettingsForm {
        name: "First test key".to_owned(),
        scopes: vec!["render".to_owned()],
        expiry: Expiry::InDays(90),
        networks: String::new(),
        templates: Vec::new(),
        channels: Vec::new(),
        credit_limit: String::new(),
    };
    let live = false;
    let id = backend().create_key(NewKeyForm { live, settings }).await?;
    leave_for(with_new_key(DASHBOARD, id))
}

/// Dismisses the checklist for the logged-in user.
#[server(prefix = "/web", endpoint = "dismiss-checklist")]
pub async fn dismiss_checklist() -> Result<(), AppError> {
    backend().dismiss_checklist().await?;
    leave_for(DASHBOARD)
}
