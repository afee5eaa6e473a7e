//! What the page about callbacks asks of the server, besides what the page of a render does.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
    pages::webhooks::PATH,
};

/// For those who are logged in. Lets the signing secret be seen for a minute. It is never part of an address.
#[server(prefix = "/web", endpoint = "reveal-webhook-secret")]
pub async fn reveal_secret() -> Result<(), AppError> {
    backend().reveal_webhook_secret().await?;
    leave_for(&OwnPath::to(PATH));
    Ok(())
}

/// For those who are logged in. Replaces the signing secret; the former one goes on to sign for a day.
#[server(prefix = "/web", endpoint = "replace-webhook-secret")]
pub async fn replace_secret() -> Result<(), AppError> {
    backend().replace_webhook_secret().await?;
    leave_for(&OwnPath::to(PATH));
    Ok(())
}
