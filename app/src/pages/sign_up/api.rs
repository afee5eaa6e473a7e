//! What the sign-up page asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{self, backend, leave_for},
    error::AppError,
    model::{own_path::OwnPath, rejection::Field},
};

/// For everybody.
#[server(prefix = "/web", endpoint = "sign-up")]
pub async fn sign_up(
    /// What they call themselves.
    name: String,
    /// Log-in name to be.
    email: String,
    /// What they call the account.
    account_name: String,
    /// What they choose.
    password: String,
) -> Result<(), AppError> {
    let typed = vec![
        (Field::Name, name.clone()),
        (Field::Email, email.clone()),
        (Field::AccountName, account_name.clone()),
    ];
    let form = backend::people::SignUp {
        name,
        email,
        account_name,
        password,
    };
    backend().sign_up(form).await.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/check-mail"));
    Ok(())
}
