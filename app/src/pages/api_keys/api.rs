//! What the page of API keys asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{
        api_keys::{Expiry, KeyForm},
        backend, leave_for,
    },
    error::AppError,
    model::{own_path::OwnPath, rejection::Field},
};

/// `value`s of [`Field::KeyMode`].
pub(super) const LIVE: &str = "live";
pub(super) const TEST: &str = "test";
/// `value` of [`Field::Expiry`] that never comes, and the one that [`Field::ExpiryDay`] tells more of. Others are days.
pub(super) const NEVER: &str = "never";
pub(super) const ON_A_DAY: &str = "day";

/// For the person who is logged in, in their account.
#[server(prefix = "/web", endpoint = "create-key")]
pub async fn create_key(
    /// For people.
    key_name: String,
    /// `live` or `test`.
    key_mode: String,
    /// What it may do.
    #[server(default)]
    scopes: Vec<String>,
    /// `never`, `day` or a number of days.
    expiry: String,
    /// With `day`: which one.
    expiry_day: String,
    /// One a line.
    networks: String,
    /// Ids.
    #[server(default)]
    templates: Vec<String>,
) -> Result<(), AppError> {
    let typed = vec![
        (Field::KeyName, key_name.clone()),
        (Field::KeyMode, key_mode.clone()),
        (Field::Scopes, scopes.join(" ")),
        (Field::Expiry, expiry.clone()),
        (Field::ExpiryDay, expiry_day.clone()),
        (Field::Networks, networks.clone()),
        (Field::Templates, templates.join(" ")),
    ];
    let form = KeyForm {
        name: key_name,
        live: key_mode != TEST,
        scopes,
        expiry: match expiry.as_str() {
            NEVER => Expiry::Never,
            ON_A_DAY => Expiry::WithDay(expiry_day),
            days => Expiry::InDays(days.parse().map_err(|_| AppError::Malformed)?),
        },
        networks,
        templates,
    };
    let created = backend().create_key(form).await;
    created.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/dashboard/api-keys?done=created"));
    Ok(())
}

/// For the person who is logged in, in their account.
#[server(prefix = "/web", endpoint = "rotate-key")]
pub async fn rotate_key(
    /// The key that is replaced.
    subject: String,
    /// Hours for which it goes on.
    overlap: u16,
) -> Result<(), AppError> {
    let typed = vec![(Field::Subject, subject.clone()), (Field::Overlap, overlap.to_string())];
    let rotated = backend().rotate_key(subject, overlap).await;
    rotated.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/dashboard/api-keys?done=rotated"));
    Ok(())
}

/// For the person who is logged in, in their account.
#[server(prefix = "/web", endpoint = "revoke-key")]
pub async fn revoke_key(
    /// The key that is ended.
    subject: String,
    /// Its name, typed once more.
    confirmation: String,
) -> Result<(), AppError> {
    let typed = vec![
        (Field::Subject, subject.clone()),
        (Field::Confirmation, confirmation.clone()),
    ];
    let revoked = backend().revoke_key(subject, confirmation).await;
    revoked.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/dashboard/api-keys?done=revoked"));
    Ok(())
}
