//! What the sign-up page asks of the server.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::{
    backend::{self, backend, leave_for},
    model::{own_path::OwnPath, rejection::Field},
};
use crate::{csrf::PageClient, error::AppError};

/// For everybody. Answers where to go.
#[server(prefix = "/web", endpoint = "sign-up", client = PageClient)]
pub async fn sign_up(
    /// What they call themselves.
    name: String,
    /// Log-in name to be.
    email: String,
    /// What they call the account.
    account_name: String,
    /// What they choose.
    password: String,
) -> Result<String, AppError> {
    let typed = vec![
        (Field::Name, name.clone()),
        (Field::Email, email.clone()),
        (Field::AccountName, account_name.clone()),
    ];
    let form = backend::SignUp {
        name,
        email,
        account_name,
        password,
    };
    backend().sign_up(form).await.map_err(|error| error.with_typed(typed))?;
    Ok(leave_for(&OwnPath::to("/check-mail")))
}
