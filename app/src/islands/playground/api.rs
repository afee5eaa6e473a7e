//! Server functions of the playground.

use leptos::prelude::*;
#[cfg(feature = "ssr")]
use platen_domain::ids::RenderId;

#[cfg(feature = "ssr")]
use crate::backend::backend;
use crate::{
    csrf::PageClient,
    error::AppError,
    model::playground::{Attempt, Played, Replayed},
};

/// Sends a request to the API for the logged-in user, and returns the response.
#[server(prefix = "/web", endpoint = "play", client = PageClient)]
pub async fn play(attempt: Attempt) -> Result<Played, AppError> {
    backend().play(attempt).await
}

/// Returns the request of a render of the logged-in user's account.
#[server(prefix = "/web", endpoint = "request-of-render", client = PageClient)]
pub async fn request_of_render(
    /// Id of the render.
    id: String,
) -> Result<Replayed, AppError> {
    let id = RenderId::parse(&id).ok_or(AppError::NotFound)?;
    backend().request_of_render(id).await
}

/// Returns the sample data of a template as JSON, for the logged-in user.
#[server(prefix = "/web", endpoint = "sample-of-template", client = PageClient)]
pub async fn sample_of_template(
    /// Id of the template.
    id: String,
) -> Result<String, AppError> {
    backend().sample_of_template(id).await
}
