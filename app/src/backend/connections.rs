//! The part of [`Backend`](super::Backend) for storage connections.

use async_trait::async_trait;
use platen_domain::ids::ConnectionId;

use crate::{
    error::AppError,
    model::connection::{ConnectionEdit, ConnectionForm, Connections},
};

/// Storage connections. Each method authorizes itself, as those of [`Backend`](super::Backend).
#[async_trait]
pub trait ConnectionBackend: Send + Sync {
    /// Lists all connections.
    async fn connections(&self) -> Result<Connections, AppError>;

    /// Creates a connection and tests it. Like the next three, returns its id if the test failed.
    async fn connect_bucket(&self, form: ConnectionForm) -> Result<Option<ConnectionId>, AppError>;

    /// Changes the name, region and endpoint of a connection and tests it.
    async fn edit_connection(&self, id: ConnectionId, form: ConnectionEdit) -> Result<Option<ConnectionId>, AppError>;

    /// Replaces the credentials of a connection, if documents can be written with those of the form.
    async fn rotate_credentials(
        &self,
        id: ConnectionId,
        form: ConnectionForm,
    ) -> Result<Option<ConnectionId>, AppError>;

    /// Tests a connection and records the result.
    async fn test_connection(&self, id: ConnectionId) -> Result<Option<ConnectionId>, AppError>;

    /// Deletes a connection and its credentials, if `name` is its name.
    async fn delete_connection(&self, id: ConnectionId, name: String) -> Result<(), AppError>;
}
