//! What the dashboard asks of the server.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::{
    backend::{backend, leave_for},
    model::own_path::OwnPath,
};
use crate::{csrf::PageClient, error::AppError, model::person::Person};

/// For who is logged in.
#[server(prefix = "/web", endpoint = "person", client = PageClient)]
pub async fn find_person() -> Result<Person, AppError> {
    backend().person().await
}

/// For everybody; changes nothing for those who are not logged in. Answers where to go.
#[server(prefix = "/web", endpoint = "log-out", client = PageClient)]
pub async fn log_out() -> Result<String, AppError> {
    backend().log_out().await?;
    Ok(leave_for(&OwnPath::to("/log-in")))
}
