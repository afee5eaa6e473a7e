//! Server functions of the page of storage connections.

use leptos::prelude::*;
use platen_domain::ids::ConnectionId;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{
        connection::{ConnectionEdit, ConnectionForm},
        own_path::OwnPath,
    },
};

/// Creates a connection in the logged-in user's account, and tests it. A rejected form is shown again without its
/// secrets.
#[server(prefix = "/web", endpoint = "connect-bucket")]
pub async fn connect_bucket(
    /// The form.
    #[server(flatten)]
    form: ConnectionForm,
) -> Result<(), AppError> {
    let failed = backend().connect_bucket(form).await?;
    leave_after("saved", failed)
}

/// Changes a connection of the logged-in user's account, and tests it.
#[server(prefix = "/web", endpoint = "edit-connection")]
pub async fn edit_connection(
    /// Id of the connection.
    subject: ConnectionId,
    /// The form.
    #[server(flatten)]
    form: ConnectionEdit,
) -> Result<(), AppError> {
    let failed = backend().edit_connection(subject, form).await?;
    leave_after("saved", failed)
}

/// Replaces the credentials of a connection of the logged-in user's account, if they pass the test.
#[server(prefix = "/web", endpoint = "rotate-credentials")]
pub async fn rotate_credentials(
    /// Id of the connection.
    subject: ConnectionId,
    /// The form, of which only the credentials are used.
    #[server(flatten)]
    form: ConnectionForm,
) -> Result<(), AppError> {
    let failed = backend().rotate_credentials(subject, form).await?;
    leave_after("rotated", failed)
}

/// Tests a connection of the logged-in user's account.
#[server(prefix = "/web", endpoint = "test-connection")]
pub async fn test_connection(
    /// Id of the connection.
    subject: ConnectionId,
) -> Result<(), AppError> {
    let failed = backend().test_connection(subject).await?;
    leave_after("tested", failed)
}

/// Deletes a connection of the logged-in user's account.
#[server(prefix = "/web", endpoint = "delete-connection")]
pub async fn delete_connection(
    /// Id of the connection.
    subject: ConnectionId,
    /// Name of the connection, typed to confirm.
    confirmation: String,
) -> Result<(), AppError> {
    backend().delete_connection(subject, confirmation).await?;
    leave_for("/dashboard/destinations?done=deleted")
}

/// Redirects to the page, which explains why the test of the connection `failed`, if it did.
fn leave_after(done: &str, failed: Option<ConnectionId>) -> Result<(), AppError> {
    let failed = failed.map_or_else(String::new, |id| format!("&failed={id}"));
    let path = OwnPath::parse(&format!("/dashboard/destinations?done={done}{failed}"));
    leave_for(path.ok_or(AppError::Malformed)?)
}
