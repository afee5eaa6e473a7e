//! Server functions of the sign-up page.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{own_path::OwnPath, person},
};

/// Mails a link that completes the sign-up. Public.
#[server(prefix = "/web", endpoint = "sign-up")]
pub async fn sign_up(
    /// Name of the user.
    name: String,
    /// Email address of the user.
    email: String,
    /// Name of the account.
    account_name: String,
    /// Password of the user.
    password: String,
) -> Result<(), AppError> {
    let form = person::SignUp {
        name,
        email,
        account_name,
        password,
    };
    backend().sign_up(form).await?;
    leave_for(&OwnPath::to("/check-mail"))
}
