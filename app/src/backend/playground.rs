//! The playground.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::playground::{Attempt, Bench, Played},
};

/// Requests to the API on behalf of the logged-in user.
#[async_trait]
pub trait PlaygroundBackend: Send + Sync {
    /// Returns what the playground's form needs. `render` is the id of a render whose options are reused.
    async fn bench(&self, render: Option<String>) -> Result<Bench, AppError>;

    /// Sends a request to the API and returns its response.
    async fn play(&self, attempt: Attempt) -> Result<Played, AppError>;

    /// Returns the sample data of a template, as JSON.
    async fn sample_of_template(&self, id: String) -> Result<String, AppError>;
}
