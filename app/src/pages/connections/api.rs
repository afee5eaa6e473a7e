//! Server functions of the page of storage connections.

use leptos::prelude::*;
use platen_domain::ids::ConnectionId;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::connection::ConnectionForm,
};

/// Creates a connection in the logged-in user's account, and tests it. A refused form is shown again without its
/// secrets.
#[server(prefix = "/web", endpoint = "connect-bucket")]
pub async fn connect_bucket(
    /// The form.
    #[server(flatten)]
    form: ConnectionForm,
) -> Result<(), AppError> {
    backend().connect_bucket(form).await?;
    leave_for("/dashboard/destinations?done=connected")
}

/// Tests a connection of the logged-in user's account.
#[server(prefix = "/web", endpoint = "test-connection")]
pub async fn test_connection(
    /// Id of the connection.
    subject: ConnectionId,
) -> Result<(), AppError> {
    backend().test_connection(subject).await?;
    leave_for("/dashboard/destinations?done=tested")
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
