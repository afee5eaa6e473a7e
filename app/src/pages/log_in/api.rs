//! What the log-in page asks of the server.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::{
    backend::{self, backend, leave_for},
    model::{own_path::OwnPath, rejection::Field},
};
use crate::{csrf::PageClient, error::AppError};

/// For everybody. Answers where to go: to `next`, if it is a path of ours.
#[server(prefix = "/web", endpoint = "log-in", client = PageClient)]
pub async fn log_in(
    /// Log-in name.
    email: String,
    /// Theirs.
    password: String,
    /// There if the session is to outlast the browser.
    stay: Option<String>,
    /// Where to go afterwards.
    next: Option<String>,
) -> Result<String, AppError> {
    let typed = vec![(Field::Email, email.clone())];
    let stays = stay.is_some();
    let form = backend::LogIn { email, password, stays };
    backend().log_in(form).await.map_err(|error| error.with_typed(typed))?;
    Ok(leave_for(&OwnPath::after_log_in(next.as_deref())))
}
