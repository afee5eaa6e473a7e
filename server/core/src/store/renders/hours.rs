//! Table `render_hours`: numbers of renders by hour, so that figures needn't read all renders of a span.

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{error::StoreError, statement::execute};

/// Counts the renders of all accounts by hour: of hours within the last day that ended ten minutes ago or earlier, whose
/// renders have all ended, and that haven't been counted. Figures of hours that remain uncounted are slower, not wrong.
pub async fn insert_ended(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    // The limit keeps the planner from reading all counted hours at once.
    let insert = sqlx::query!(
        "insert into render_hours (account_id, hour, api_key_id, succeeded, failed)
         select accounts.id, starts_at, ended.api_key_id, ended.succeeded, ended.failed
         from accounts
         cross join lateral (
             select starts_at
             from generate_series(
                 date_trunc('hour', $1::timestamptz, 'UTC') - interval '24 hours',
                 $1::timestamptz - interval '70 minutes',
                 interval '1 hour'
             ) as hours (starts_at)
             where exists (
                 select from renders
                 where account_id = accounts.id and inserted_at >= $1::timestamptz - interval '25 hours'
             )
             limit 24
         ) hours
         cross join lateral (
             select api_key_id, count(*) filter (where status = 'succeeded') as succeeded,
                 count(*) filter (where status = 'failed') as failed
             from renders
             where account_id = accounts.id
                 and inserted_at >= starts_at and inserted_at < starts_at + interval '1 hour'
             group by api_key_id
         ) ended
         where not (
             exists (select from render_hours where account_id = accounts.id and hour = starts_at)
             or exists (
                 select from renders
                 where account_id = accounts.id and status in ('queued', 'processing')
                     and inserted_at >= starts_at and inserted_at < starts_at + interval '1 hour'
             )
         )
         on conflict do nothing",
        now,
    );
    execute(db, insert).await
}

/// Deletes numbers that are older than the retention of their accounts' plans: up to 100 rows of each account, the oldest first.
pub async fn delete_old(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from render_hours
         using (
             select accounts.id, old.hour
             from accounts
             join plans on plans.name = accounts.plan
             cross join lateral (
                 select hour from render_hours
                 where account_id = accounts.id
                     and hour < $1::timestamptz - plans.retention_days * interval '1 day'
                 order by hour
                 limit 100
             ) old
         ) old
         where render_hours.account_id = old.id and render_hours.hour = old.hour",
        now,
    );
    execute(db, delete).await
}
