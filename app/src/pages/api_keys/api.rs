//! Server functions of the page of API keys.

use leptos::prelude::*;
use platen_domain::ids::ApiKeyId;
use serde::{Deserialize, Serialize};

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{
        api_key::{Expiry, KeySettingsForm, NewKeyForm},
        own_path::OwnPath,
        rejection::TEST,
    },
    pages::api_keys::{NEW_KEY, PATH},
};

/// Values of `Field::Expiry`: no expiry, and expiry on `Field::ExpiryDay`. Other values are numbers of days.
pub(super) const NEVER: &str = "never";
pub(super) const ON_A_DAY: &str = "day";

/// The settings of a key, as its forms submit them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeySettingsFields {
    key_name: String,
    #[serde(default)]
    scopes: Vec<String>,
    /// `never`, `day` or a number of days.
    expiry: String,
    /// With `day`, the last day on which the key is valid, in UTC.
    expiry_day: String,
    /// Networks from which the key may be used, one per line. Empty: anywhere.
    networks: String,
    /// Ids of the templates to which the key is restricted. Empty: unrestricted.
    #[serde(default)]
    templates: Vec<String>,
    /// Names of the channels to which the key is restricted. Empty: unrestricted.
    #[serde(default)]
    channels: Vec<String>,
    /// Credits that the key may use in each month. Empty: unlimited.
    #[serde(default)]
    credit_limit: String,
}

impl TryFrom<KeySettingsFields> for KeySettingsForm {
    type Error = AppError;

    fn try_from(fields: KeySettingsFields) -> Result<Self, AppError> {
        Ok(Self {
            name: fields.key_name,
            scopes: fields.scopes,
            expiry: read_expiry(&fields.expiry, fields.expiry_day)?,
            networks: fields.networks,
            templates: fields.templates,
            channels: fields.channels,
            credit_limit: fields.credit_limit,
        })
    }
}

/// Creates a key in the logged-in user's account.
#[server(prefix = "/web", endpoint = "create-key")]
pub async fn create_key(
    /// `live` or `test`.
    key_mode: String,
    /// The settings. The credit limit of a test key is ignored: its field is hidden.
    #[server(flatten)]
    fields: KeySettingsFields,
) -> Result<(), AppError> {
    let (live, mut settings) = (key_mode != TEST, KeySettingsForm::try_from(fields)?);
    if !live {
        settings.credit_limit.clear();
    }
    let id = backend().create_key(NewKeyForm { live, settings }).await?;
    leave_for(with_new_key("/dashboard/api-keys?done=created", id))
}

/// Changes the settings of a key in the logged-in user's account.
#[server(prefix = "/web", endpoint = "edit-key")]
pub async fn edit_key(
    /// Id of the key.
    subject: ApiKeyId,
    /// The settings.
    #[server(flatten)]
    fields: KeySettingsFields,
) -> Result<(), AppError> {
    backend().edit_key(subject, fields.try_into()?).await?;
    let page = OwnPath::parse(&format!("{PATH}/{subject}?done=changed"));
    leave_for(page.unwrap_or_else(|| PATH.into()))
}

/// Returns the address that shows a new key.
pub(in crate::pages) fn with_new_key(page: &'static str, id: ApiKeyId) -> OwnPath {
    let separator = if page.contains('?') { '&' } else { '?' };
    let path = OwnPath::parse(&format!("{page}{separator}{NEW_KEY}={id}"));
    path.unwrap_or_else(|| page.into())
}

fn read_expiry(expiry: &str, day: String) -> Result<Expiry, AppError> {
    Ok(match expiry {
        NEVER => Expiry::Never,
        ON_A_DAY => Expiry::WithDay(day),
        days => Expiry::InDays(days.parse().map_err(|_| AppError::Malformed)?),
    })
}

/// Creates a replacement for a key in the logged-in user's account.
#[server(prefix = "/web", endpoint = "rotate-key")]
pub async fn rotate_key(
    /// Id of the key to replace.
    subject: ApiKeyId,
    /// Hours for which the old key stays valid.
    overlap: u16,
) -> Result<(), AppError> {
    let id = backend().rotate_key(subject, overlap).await?;
    leave_for(with_new_key("/dashboard/api-keys?done=rotated", id))
}

/// Revokes a key in the logged-in user's account.
#[server(prefix = "/web", endpoint = "revoke-key")]
pub async fn revoke_key(
    /// Id of the key to revoke.
    subject: ApiKeyId,
    /// Name of the key, typed to confirm.
    confirmation: String,
) -> Result<(), AppError> {
    backend().revoke_key(subject, confirmation).await?;
    leave_for("/dashboard/api-keys?done=revoked")
}
