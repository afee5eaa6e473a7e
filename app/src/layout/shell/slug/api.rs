//! Server functions of every dashboard page.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
};

/// Logs the visitor out. Does nothing if they are not logged in.
#[server(prefix = "/web", endpoint = "log-out")]
pub async fn log_out() -> Result<(), AppError> {
    backend().log_out().await?;
    leave_for("/log-in")
}
