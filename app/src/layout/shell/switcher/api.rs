//! Server functions of the account switcher.

use leptos::prelude::*;
use platen_domain::ids::AccountId;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
};

/// Switches the session to another account.
#[server(prefix = "/web", endpoint = "switch-account")]
pub async fn switch_account(
    /// Id of the account.
    subject: AccountId,
) -> Result<(), AppError> {
    backend().switch_account(subject).await?;
    leave_for(OwnPath::after_log_in(None))
}
