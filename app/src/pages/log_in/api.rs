//! Server functions of the log-in page.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{
        own_path::OwnPath,
        person::{self, LogInStep},
    },
};

/// Logs the visitor in. Redirects to `next` if it is a path of this service, or to the second step, which does so.
/// Public.
#[server(prefix = "/web", endpoint = "log-in")]
pub async fn log_in(
    /// Email address of the user.
    email: String,
    /// Password of the user.
    password: String,
    /// Present if the session outlives the browser.
    stay: Option<String>,
    /// Path to redirect to.
    next: Option<String>,
) -> Result<(), AppError> {
    let stays = stay.is_some();
    let form = person::LogIn { email, password, stays };
    let step = backend().log_in(form).await?;
    let next = OwnPath::after_log_in(next.as_deref());
    leave_for(&match step {
        LogInStep::LoggedIn => next,
        LogInStep::SecondFactor => next.after("/log-in/second-factor"),
    })
}
