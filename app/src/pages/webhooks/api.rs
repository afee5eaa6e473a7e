//! Server functions of the page of webhooks. Those for deliveries are in [`crate::pages::render::api`].

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    pages::webhooks::PATH,
};

/// Shows the signing secret to the logged-in user for one minute. It is never part of an address.
#[server(prefix = "/web", endpoint = "reveal-webhook-secret")]
pub async fn reveal_secret() -> Result<(), AppError> {
    backend().reveal_webhook_secret().await?;
    leave_for(PATH)
}

/// Replaces the signing secret, for the logged-in user. The previous one keeps signing for a day.
#[server(prefix = "/web", endpoint = "replace-webhook-secret")]
pub async fn replace_secret() -> Result<(), AppError> {
    backend().replace_webhook_secret().await?;
    leave_for(PATH)
}
