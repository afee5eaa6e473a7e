//! Discarding of failed work: it isn't retried and leaves the list. Work that a worker holds is left unchanged.

use platen_domain::{
    ids::{AccountId, RenderId, UserId},
    job::JobKind,
};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{error::StoreError, exports::Asker, failed_jobs::RenderOf};

/// Deletes failed jobs that wait for a retry. Returns their accounts and renders.
pub async fn delete_jobs(
    db: &mut PgConnection,
    kind: JobKind,
    renders: &[Uuid],
) -> Result<Vec<(AccountId, RenderId)>, StoreError> {
    let rows = sqlx::query_as!(
        RenderOf,
        r#"delete from jobs
         where id in (
             select id from jobs where kind = $1 and render_id = any($2) and failed_at is not null and claim is null
             for update skip locked
         )
         returning account_id as "account_id!", render_id as "render_id!""#,
        kind.as_str(),
        renders,
    )
    .map(RenderOf::ids);
    Ok(rows.fetch_all(db).await?)
}

/// Gives up the deliveries of the renders in `without_job`, whose jobs have just been deleted, and takes those off the
/// list that had been given up before. Returns their accounts and renders.
pub async fn give_callbacks_up(
    db: &mut PgConnection,
    renders: &[Uuid],
    without_job: &[Uuid],
) -> Result<Vec<(AccountId, RenderId)>, StoreError> {
    let rows = sqlx::query_as!(
        RenderOf,
        "update callbacks set state = 'failed', failed_at = null
         where render_id = any($1) and (failed_at is not null or render_id = any($2))
         returning account_id, render_id",
        renders,
        without_job,
    )
    .map(RenderOf::ids);
    Ok(rows.fetch_all(db).await?)
}

/// Deletes failed mails. Returns their ids.
pub async fn delete_mails(db: &mut PgConnection, mails: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
    let deleted = sqlx::query_scalar!(
        "delete from mails
         where id in (
             select mail_id from jobs where mail_id = any($1) and failed_at is not null and claim is null
             for update skip locked
         )
         returning id",
        mails,
    );
    Ok(deleted.fetch_all(db).await?)
}

/// An export that was given up.
pub struct GivenUpExport {
    pub id: Uuid,
    pub account: AccountId,
    /// Who requested it, if they were still waiting for it.
    pub asker: Option<Asker>,
}

/// Gives up failed exports.
pub async fn give_exports_up(
    db: &mut PgConnection,
    exports: &[Uuid],
    now: OffsetDateTime,
) -> Result<Vec<GivenUpExport>, StoreError> {
    let given_up = sqlx::query!(
        r#"with discarded as (
               delete from jobs
               where id in (
                   select id from jobs where export_id = any($1) and failed_at is not null and claim is null
                   for update skip locked
               )
               returning export_id
           ),
           given_up as (
               update exports set state = 'failed', finished_at = coalesce(exports.finished_at, $2)
               from discarded join exports former on former.id = discarded.export_id
               where exports.id = discarded.export_id
               returning exports.id, exports.account_id, exports.asked_by, former.state = 'waiting' as waiting
           )
           select given_up.id, account_id, waiting as "waiting!", accounts.name, users.id as "user?", users.email as "email?"
           from given_up
           join accounts on accounts.id = given_up.account_id
           left join users on users.id = given_up.asked_by"#,
        exports,
        now,
    )
    .map(|row| {
        let asker = row.user.zip(row.email).map(|(user, email)| Asker {
            user: UserId(user),
            email,
            account_name: row.name,
        });
        GivenUpExport {
            id: row.id,
            account: AccountId(row.account_id),
            asker: asker.filter(|_| row.waiting),
        }
    });
    Ok(given_up.fetch_all(db).await?)
}

/// Gives up reporting usage to Stripe, so that it isn't billed. Returns the ids of the meter events.
pub async fn give_usage_up(db: &mut PgConnection, events: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
    let given_up = sqlx::query_scalar!(
        "with discarded as (
             delete from jobs
             where id in (
                 select id from jobs where meter_event_id = any($1) and failed_at is not null and claim is null
                 for update skip locked
             )
             returning meter_event_id
         )
         update stripe_meter_events events set given_up_at = coalesce(given_up_at, now())
         from discarded where events.id = discarded.meter_event_id
         returning events.id",
        events,
    );
    Ok(given_up.fetch_all(db).await?)
}

/// Stops synchronizing customers until Stripe sends an event about them, or until the nightly comparison. Returns their
/// ids.
pub async fn leave_customers(db: &mut PgConnection, customers: &[String]) -> Result<Vec<String>, StoreError> {
    let left = sqlx::query_scalar!(
        r#"delete from jobs
         where id in (
             select id from jobs where customer_id = any($1) and failed_at is not null and claim is null
             for update skip locked
         )
         returning customer_id as "customer_id!""#,
        customers,
    );
    Ok(left.fetch_all(db).await?)
}
