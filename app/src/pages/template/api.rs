//! Server functions of the template editor that custom elements call.

use leptos::prelude::*;

use crate::{backend::backend, error::AppError, model::template::GeneratedData};

/// Returns the sample data of an editor with values for everything that the template uses and the data lacks, for the
/// logged-in user.
#[server(prefix = "/web", endpoint = "generate-sample")]
pub async fn generate_sample(
    /// HTML with placeholders.
    content: String,
    /// Sample data as JSON.
    data: String,
) -> Result<GeneratedData, AppError> {
    backend().generate_sample(content, data).await
}
