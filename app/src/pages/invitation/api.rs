//! What the page of an invitation asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{own_path::OwnPath, rejection::Field},
};

/// Lets whoever is logged in join.
#[server(prefix = "/web", endpoint = "accept-invitation")]
pub async fn accept_invitation(
    /// Of the link.
    token: String,
) -> Result<(), AppError> {
    backend().accept_invitation(token).await?;
    leave_for(&OwnPath::to("/dashboard/team?done=joined"));
    Ok(())
}

/// For whoever has the link and is new here.
#[server(prefix = "/web", endpoint = "join-as-new")]
pub async fn join_as_new(
    /// Of the link.
    token: String,
    /// What they call themselves.
    name: String,
    /// What they choose.
    password: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::Name, name.clone())];
    let joined = backend().join_as_new(token, name, password).await;
    joined.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/dashboard/team?done=joined"));
    Ok(())
}
