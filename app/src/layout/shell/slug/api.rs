//! What every page of the dashboard asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
};

/// For everybody; changes nothing for those who are not logged in.
#[server(prefix = "/web", endpoint = "log-out")]
pub async fn log_out() -> Result<(), AppError> {
    backend().log_out().await?;
    leave_for(&OwnPath::to("/log-in"));
    Ok(())
}
