//! What the playground asks.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::playground::{Attempt, Bench, Played},
};

/// Trying the API as the person who is logged in.
#[async_trait]
pub trait PlaygroundBackend: Send + Sync {
    /// What there is to play with. `render` is the id of a render whose options are taken up again.
    async fn bench(&self, render: Option<String>) -> Result<Bench, AppError>;

    /// Sends a request to the API and answers what comes of it.
    async fn play(&self, attempt: Attempt) -> Result<Played, AppError>;

    /// The sample data of a template, as JSON.
    async fn sample_of_template(&self, id: String) -> Result<String, AppError>;
}
