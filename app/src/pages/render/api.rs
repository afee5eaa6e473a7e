//! What the page of a render asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
    pages::{renders, webhooks},
};

/// For those who are logged in. Calls a render off that nobody waits for.
#[server(prefix = "/web", endpoint = "cancel-render")]
pub async fn cancel_render(
    /// Its id.
    id: String,
) -> Result<(), AppError> {
    backend().cancel_render(id.clone()).await?;
    leave_for(&page_of(&id));
    Ok(())
}

/// For those who are logged in. Sends a callback again, at once.
#[server(prefix = "/web", endpoint = "resend-callback")]
pub async fn resend_callback(
    /// Of which render.
    id: String,
    /// There if the page of all callbacks asks.
    from_list: Option<String>,
) -> Result<(), AppError> {
    backend().resend_callback(id.clone()).await?;
    leave_for(&back(&id, from_list.is_some()));
    Ok(())
}

/// For those who are logged in. Gives a callback up.
#[server(prefix = "/web", endpoint = "stop-callback")]
pub async fn stop_callback(
    /// Of which render.
    id: String,
    /// There if the page of all callbacks asks.
    from_list: Option<String>,
) -> Result<(), AppError> {
    backend().stop_callback(id.clone()).await?;
    leave_for(&back(&id, from_list.is_some()));
    Ok(())
}

fn back(id: &str, to_list: bool) -> OwnPath {
    if to_list {
        OwnPath::to(webhooks::PATH)
    } else {
        page_of(id)
    }
}

fn page_of(id: &str) -> OwnPath {
    OwnPath::parse(&format!("{}/{id}", renders::PATH)).unwrap_or_else(|| OwnPath::to(renders::PATH))
}
