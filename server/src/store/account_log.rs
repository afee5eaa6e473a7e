//! Table `account_log`: who did what in an account. Rows are added and, when their time is over, deleted; never changed.

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::{
        account_log::{Actor, Deed, Doer},
        ids::AccountId,
    },
    store::error::StoreError,
};

/// Writes down what was done, in the transaction that does it.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    doer: &Doer,
    deed: &Deed,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let (actor, id, name) = match &doer.actor {
        Actor::Person { id, email } => ("person", Some(id.0), email.as_str()),
        Actor::Key { id, creator } => ("key", Some(id.0), creator.as_str()),
        Actor::Operator => ("operator", None, ""),
        Actor::Service => ("service", None, ""),
    };
    let deed = serde_json::to_value(deed).map_err(|error| StoreError(sqlx::Error::Encode(Box::new(error))))?;
    let client = doer.client.as_ref();
    // The name of a key is its own.
    sqlx::query!(
        "insert into account_log (id, account_id, happened_at, actor, actor_id, actor_name, address, user_agent, deed)
         values ($1, $2, $3, $4, $5, coalesce((select name from api_keys where account_id = $2 and id = $5), $6), $7, $8, $9)",
        Uuid::now_v7(),
        account.0,
        now,
        actor,
        id,
        name,
        client.map(|client| client.address.to_string()),
        client.map(|client| client.user_agent.as_str()),
        deed,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Deletes what is older than the plans of its accounts keep it: ten times as long as renders, and 30 days at least.
pub async fn delete_old(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    sqlx::query!(
        "delete from account_log
         using accounts join plans on plans.name = accounts.plan
         where accounts.id = account_log.account_id
             and account_log.happened_at < $1::timestamptz - greatest(30, 10 * plans.retention_days) * interval '1 day'",
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}
