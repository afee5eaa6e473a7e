//! The part of [`Backend`](super::Backend) for the playground.

use async_trait::async_trait;
use platen_domain::ids::RenderId;

use crate::{
    error::AppError,
    model::playground::{Attempt, Bench, Played, Replayed},
};

/// The playground. Each method authorizes itself, as those of [`Backend`](super::Backend).
#[async_trait]
pub trait PlaygroundBackend: Send + Sync {
    /// Returns what the playground's form needs.
    async fn bench(&self) -> Result<Bench, AppError>;

    /// Returns the request of a render, as the playground opens it.
    async fn request_of_render(&self, id: RenderId) -> Result<Replayed, AppError>;

    /// Sends a request to the API and returns its response.
    async fn play(&self, attempt: Attempt) -> Result<Played, AppError>;

    /// Returns the sample data of a template, as JSON.
    async fn sample_of_template(&self, id: String) -> Result<String, AppError>;
}
