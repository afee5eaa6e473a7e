//! Server functions of the invitation page.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
};

/// Accepts an invitation for the logged-in user.
#[server(prefix = "/web", endpoint = "accept-invitation")]
pub async fn accept_invitation(
    /// Token of the link.
    token: String,
) -> Result<(), AppError> {
    backend().accept_invitation(token).await?;
    leave_for(&OwnPath::to("/dashboard/team?done=joined"))
}

/// Accepts an invitation as a new user. Public: the token is the authorization.
#[server(prefix = "/web", endpoint = "join-as-new")]
pub async fn join_as_new(
    /// Token of the link.
    token: String,
    /// Name of the user.
    name: String,
    /// Password of the user.
    password: String,
) -> Result<(), AppError> {
    backend().join_as_new(token, name, password).await?;
    leave_for(&OwnPath::to("/dashboard/team?done=joined"))
}
