//! What the log-in page asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{self, backend, leave_for, people::LogInStep},
    error::AppError,
    model::{own_path::OwnPath, rejection::Field},
};

/// For everybody. Leads to `next`, if it is a path of ours, or to the second step, which does.
#[server(prefix = "/web", endpoint = "log-in")]
pub async fn log_in(
    /// Log-in name.
    email: String,
    /// Theirs.
    password: String,
    /// There if the session is to outlast the browser.
    stay: Option<String>,
    /// Where to go afterwards.
    next: Option<String>,
) -> Result<(), AppError> {
    let typed = vec![(Field::Email, email.clone())];
    let stays = stay.is_some();
    let form = backend::people::LogIn { email, password, stays };
    let step = backend().log_in(form).await.map_err(|error| error.with_typed(typed))?;
    let next = OwnPath::after_log_in(next.as_deref());
    leave_for(&match step {
        LogInStep::LoggedIn => next,
        LogInStep::SecondFactor => next.after("/log-in/second-factor"),
    });
    Ok(())
}
