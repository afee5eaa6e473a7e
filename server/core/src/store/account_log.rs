//! Table `account_log`: account activity. Events are added, and deleted after their retention; they are never changed.

use platen_domain::{
    account_log::{AccountEvent, ActivityFilter, Actor, ActorKind, LogEntry},
    ids::{AccountId, EventId, UserId},
    page::PageRequest,
};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{error::StoreError, statement::execute};

/// Records an audit event, in the transaction of the action that it describes.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    actor: &Actor,
    event: &AccountEvent,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let (kind, id, name) = match &actor.kind {
        ActorKind::Person { id, email } => ("person", Some(id.0), email.as_str()),
        ActorKind::Key { id, creator } => ("key", Some(id.0), creator.as_str()),
        ActorKind::Operator => ("operator", None, ""),
        ActorKind::Service => ("service", None, ""),
    };
    let event = serde_json::to_value(event).map_err(|error| StoreError(sqlx::Error::Encode(Box::new(error))))?;
    let client = actor.client.as_ref();
    // Events of a key are recorded under the key's own name.
    let insert = sqlx::query!(
        "insert into account_log (id, account_id, happened_at, actor, actor_id, actor_name, address, user_agent, deed)
         values ($1, $2, $3, $4, $5, coalesce((select name from api_keys where account_id = $2 and id = $5), $6), $7, $8, $9)",
        EventId::generate().0,
        account.0,
        now,
        kind,
        id,
        name,
        client.map(|client| client.address.to_string()),
        client.map(|client| client.user_agent.as_str()),
        event,
    );
    execute(db, insert).await
}

/// Returns an account's audit events, newest first: one more than the page's size, to detect further pages.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    filter: &ActivityFilter,
    page: PageRequest<EventId>,
) -> Result<Vec<LogEntry>, StoreError> {
    let entries = sqlx::query!(
        "select id, happened_at, actor, actor_name, address, user_agent, kind, deed from account_log
         where account_id = $1
             and ($2::uuid is null or (actor = 'person' and actor_id = $2))
             and ($3::text is null or split_part(kind, '.', 1) = $3)
             and ($4::uuid is null or id < $4)
         order by id desc
         limit $5",
        account.0,
        filter.person.map(|person| person.0),
        filter.topic.map(|topic| topic.into_str()),
        page.after.map(|after| after.0),
        page.limit(),
    )
    .map(|row| LogEntry {
        id: EventId(row.id),
        happened_at: row.happened_at,
        actor: row.actor,
        actor_name: row.actor_name,
        address: row.address,
        user_agent: row.user_agent,
        kind: row.kind,
        event: read(row.deed),
    });
    Ok(entries.fetch_all(db).await?)
}

fn read(event: Value) -> Option<AccountEvent> {
    serde_json::from_value(event).ok()
}

/// A user with recorded events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    pub id: UserId,
    /// The email address at the user's latest event.
    pub email: String,
}

/// Returns the users who have recorded events in an account, sorted by email address.
pub async fn list_authors(db: &PgPool, account: AccountId) -> Result<Vec<Author>, StoreError> {
    let authors = sqlx::query_as!(
        Author,
        r#"select distinct on (actor_id) actor_id as "id!", actor_name as email from account_log
           where account_id = $1 and actor = 'person'
           order by actor_id, id desc"#,
        account.0,
    );
    let mut authors = authors.fetch_all(db).await?;
    authors.sort_by(|a, b| a.email.cmp(&b.email));
    Ok(authors)
}

/// Counts the invitation mails that an account has caused since `since`.
pub async fn count_invitations(
    db: &mut PgConnection,
    account: AccountId,
    since: OffsetDateTime,
) -> Result<usize, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from account_log
           where account_id = $1 and happened_at > $2 and kind in ('member.invited', 'member.invited_again')"#,
        account.0,
        since,
    );
    Ok(usize::try_from(count.fetch_one(db).await?).unwrap_or(usize::MAX))
}

/// Returns the number of days for which the account's plan retains its activity: ten times the retention of renders,
/// and at least 30 days. `None` if the account doesn't exist.
pub async fn find_days(db: &PgPool, account: AccountId) -> Result<Option<i32>, StoreError> {
    let days = sqlx::query_scalar!(
        r#"select greatest(30, 10 * plans.retention_days) as "days!"
           from accounts join plans on plans.name = accounts.plan where accounts.id = $1"#,
        account.0,
    );
    Ok(days.fetch_optional(db).await?)
}

/// Deletes the events of all accounts that are older than [`find_days`] allows.
pub async fn delete_old(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from account_log
         using accounts join plans on plans.name = accounts.plan
         where accounts.id = account_log.account_id
             and account_log.happened_at < $1::timestamptz - greatest(30, 10 * plans.retention_days) * interval '1 day'",
        now,
    );
    execute(db, delete).await
}
