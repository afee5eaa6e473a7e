//! What the playground asks of the server.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::backend::backend;
use crate::{
    csrf::PageClient,
    error::AppError,
    model::playground::{Attempt, Played},
};

/// For who is logged in: sends a request to the API.
#[server(prefix = "/web", endpoint = "play", client = PageClient)]
pub async fn play(
    /// The request.
    attempt: Attempt,
) -> Result<Played, AppError> {
    backend().play(attempt).await
}

/// For who is logged in: the sample data of a template, as JSON.
#[server(prefix = "/web", endpoint = "sample-of-template", client = PageClient)]
pub async fn sample_of_template(
    /// Which template.
    id: String,
) -> Result<String, AppError> {
    backend().sample_of_template(id).await
}
