//! Discarding of failed jobs: they aren't retried and leave the list. Jobs that a worker holds are left unchanged.

use platen_domain::{failed_jobs::WorkName, job::JobKind};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    failed_jobs::{TreatedJob, ids_of, lock},
    statement::execute,
};

/// Discards failed jobs. Deliveries and exports fail, mails are deleted, and usage isn't billed. Customers aren't
/// synchronized until Stripe sends an event about them, or until the nightly comparison. Batches are paused. Ending
/// renders and exports is left to the caller.
pub async fn discard(db: &mut PgConnection, names: &[WorkName]) -> Result<Vec<TreatedJob>, StoreError> {
    let (jobs, mut discarded) = lock(db, names).await?;
    let delete = sqlx::query!("delete from jobs where id = any($1)", &jobs);
    execute(&mut *db, delete).await?;
    let ids = |kind| ids_of(kind, discarded.iter().map(|job| &job.name));
    let mails = sqlx::query!("delete from mails where id = any($1)", &ids(JobKind::Mail));
    execute(&mut *db, mails).await?;
    let batches = sqlx::query!(
        "update batches set state = 'paused', hold = null where id = any($1) and state = 'running'",
        &ids(JobKind::Batch)
    );
    execute(&mut *db, batches).await?;
    let usage = sqlx::query!(
        "update stripe_meter_events set given_up_at = coalesce(given_up_at, now()) where id = any($1)",
        &ids(JobKind::Usage),
    );
    execute(&mut *db, usage).await?;
    let without_job = ids(JobKind::Callback);
    let deliveries_without_job = ids(JobKind::Delivery);
    discarded.retain(|job| !matches!(job.name.kind, JobKind::Callback | JobKind::Delivery));
    discarded.extend(give_callbacks_up(db, &ids_of(JobKind::Callback, names), &without_job).await?);
    discarded.extend(give_deliveries_up(db, &ids_of(JobKind::Delivery, names), &deliveries_without_job).await?);
    Ok(discarded)
}

/// Gives up the deliveries of the renders in `without_job`, whose jobs have just been deleted, and removes those from
/// the list that had been given up before.
async fn give_callbacks_up(
    db: &mut PgConnection,
    renders: &[Uuid],
    without_job: &[Uuid],
) -> Result<Vec<TreatedJob>, StoreError> {
    let given_up = sqlx::query!(
        "update callbacks set state = 'failed', failed_at = null
         where render_id = any($1) and (failed_at is not null or render_id = any($2))
         returning account_id, render_id",
        renders,
        without_job,
    )
    .map(|row| TreatedJob::of(JobKind::Callback, row.account_id, row.render_id));
    Ok(given_up.fetch_all(db).await?)
}

/// As [`give_callbacks_up`], for deliveries to endpoints.
async fn give_deliveries_up(
    db: &mut PgConnection,
    deliveries: &[Uuid],
    without_job: &[Uuid],
) -> Result<Vec<TreatedJob>, StoreError> {
    let given_up = sqlx::query!(
        "update webhook_deliveries set state = 'failed', failed_at = null
         where id = any($1) and (failed_at is not null or id = any($2))
         returning account_id, id",
        deliveries,
        without_job,
    )
    .map(|row| TreatedJob::of(JobKind::Delivery, row.account_id, row.id));
    Ok(given_up.fetch_all(db).await?)
}
