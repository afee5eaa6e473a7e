//! Server functions of the page of a render.

use leptos::prelude::*;
use platen_domain::ids::RenderId;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
    pages::{renders, webhooks},
};

/// Cancels an asynchronous render, for the logged-in user.
#[server(prefix = "/web", endpoint = "cancel-render")]
pub async fn cancel_render(
    /// Id of the render.
    id: RenderId,
) -> Result<(), AppError> {
    backend().cancel_render(id).await?;
    leave_for(page_of(id))
}

/// Revokes all links to the document of a render, for the logged-in user.
#[server(prefix = "/web", endpoint = "revoke-links")]
pub async fn revoke_links(
    /// Id of the render.
    id: RenderId,
) -> Result<(), AppError> {
    backend().revoke_links(id).await?;
    leave_for(page_of(id))
}

/// Retries the webhook delivery of a render at once, for the logged-in user.
#[server(prefix = "/web", endpoint = "resend-callback")]
pub async fn resend_callback(
    /// Id of the render.
    id: RenderId,
    /// Present if the form is on the page of all deliveries, to which it redirects.
    from_list: Option<String>,
) -> Result<(), AppError> {
    backend().resend_callback(id).await?;
    leave_for(back(id, from_list.is_some()))
}

/// Discards the webhook delivery of a render, for the logged-in user.
#[server(prefix = "/web", endpoint = "stop-callback")]
pub async fn stop_callback(
    /// Id of the render.
    id: RenderId,
    /// Present if the form is on the page of all deliveries, to which it redirects.
    from_list: Option<String>,
) -> Result<(), AppError> {
    backend().stop_callback(id).await?;
    leave_for(back(id, from_list.is_some()))
}

fn back(id: RenderId, to_list: bool) -> OwnPath {
    if to_list { webhooks::PATH.into() } else { page_of(id) }
}

fn page_of(id: RenderId) -> OwnPath {
    OwnPath::parse(&format!("{}/{id}", renders::PATH)).unwrap_or_else(|| renders::PATH.into())
}
