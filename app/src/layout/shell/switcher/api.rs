//! What the list of accounts asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
};

/// Acts for another account from now on.
#[server(prefix = "/web", endpoint = "switch-account")]
pub async fn switch_account(
    /// Which one.
    subject: String,
) -> Result<(), AppError> {
    backend().switch_account(subject).await?;
    leave_for(&OwnPath::after_log_in(None));
    Ok(())
}
