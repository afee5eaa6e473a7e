//! Notices of keys that expire soon: a mail to the owner and the admins, and an event for webhook endpoints.

use platen_domain::{mail::MailKind, webhook_endpoint::EventType};
use serde_json::json;
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    service::mail::write_to_managers,
    store::{
        accounts,
        api_keys::expiring::{self, ExpiringKey},
        error::StoreError,
        tx, webhook_endpoints,
    },
};

/// Time before the expiry at which the account is notified.
const NOTICE: Duration = Duration::days(7);
/// Keys of one transaction.
const BATCH: i64 = 50;

/// Sends the notices that are due, once for each expiry.
pub async fn notify(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    loop {
        let mut transaction = tx::begin(db).await?;
        let keys = expiring::take(&mut transaction, NOTICE, now, BATCH).await?;
        if keys.is_empty() {
            return Ok(());
        }
        for key in keys {
            notify_of(&mut transaction, key, now).await?;
        }
        tx::commit(transaction).await?;
    }
}

async fn notify_of(db: &mut PgConnection, key: ExpiringKey, now: OffsetDateTime) -> Result<(), StoreError> {
    let data = json!({
        "key_id": key.id,
        "name": key.name,
        "livemode": key.livemode,
        "expires_at": key.expires_at.format(&Rfc3339).ok(),
    });
    webhook_endpoints::publish(db, key.account, EventType::KeyExpiring, None, &data).await?;
    let mail = MailKind::KeyExpiring {
        account: accounts::find_called(&mut *db, key.account).await?.unwrap_or_default(),
        key: key.id,
        name: key.name,
        expires_at: key.expires_at,
    };
    write_to_managers(db, key.account, &mail, now).await
}
