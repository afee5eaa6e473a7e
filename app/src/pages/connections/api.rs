//! Server functions of the page of storage connections.

use leptos::prelude::*;

use crate::{
    backend::{backend, connections::ConnectionForm, leave_for},
    error::AppError,
    model::{own_path::OwnPath, rejection::Field},
};

/// Creates a connection in the logged-in user's account, and tests it. A refused form is shown again without its
/// secrets.
#[server(prefix = "/web", endpoint = "connect-bucket")]
pub async fn connect_bucket(
    /// The form.
    #[server(flatten)]
    form: ConnectionForm,
) -> Result<(), AppError> {
    let typed = vec![
        (Field::Provider, form.provider.clone()),
        (Field::ConnectionName, form.connection_name.clone()),
        (Field::Bucket, form.bucket.clone()),
        (Field::PathPrefix, form.path_prefix.clone()),
        (Field::Region, form.region.clone()),
        (Field::Endpoint, form.endpoint.clone()),
        (Field::AmazonAccess, form.amazon_access.clone()),
        (Field::RoleArn, form.role_arn.clone()),
        (Field::AccessKeyId, form.access_key_id.clone()),
        (Field::GoogleAccess, form.google_access.clone()),
        (Field::ClientEmail, form.client_email.clone()),
    ];
    let connected = backend().connect_bucket(form).await;
    connected.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/dashboard/destinations?done=connected"));
    Ok(())
}

/// Tests a connection of the logged-in user's account.
#[server(prefix = "/web", endpoint = "test-connection")]
pub async fn test_connection(
    /// Id of the connection.
    subject: String,
) -> Result<(), AppError> {
    backend().test_connection(subject).await?;
    leave_for(&OwnPath::to("/dashboard/destinations?done=tested"));
    Ok(())
}

/// Deletes a connection of the logged-in user's account.
#[server(prefix = "/web", endpoint = "delete-connection")]
pub async fn delete_connection(
    /// Id of the connection.
    subject: String,
    /// Name of the connection, typed to confirm.
    confirmation: String,
) -> Result<(), AppError> {
    let typed = vec![
        (Field::Subject, subject.clone()),
        (Field::Confirmation, confirmation.clone()),
    ];
    let deleted = backend().delete_connection(subject, confirmation).await;
    deleted.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/dashboard/destinations?done=deleted"));
    Ok(())
}
