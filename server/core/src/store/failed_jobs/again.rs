//! Retries of failed jobs. Jobs that a worker holds, or that haven't failed, are left unchanged.

use platen_domain::{
    failed_jobs::WorkName,
    job::{JobKind, Priority},
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    failed_jobs::{TreatedJob, ids_of, lock},
    statement::execute,
};

/// Retries failed jobs now; dead letters start over with all their attempts.
pub async fn retry(db: &mut PgConnection, mut names: Vec<WorkName>) -> Result<Vec<TreatedJob>, StoreError> {
    let reopened = reopen_exports(db, &ids_of(JobKind::Export, &names)).await?;
    names.retain(|name| name.kind != JobKind::Export || reopened.contains(&name.id));
    let (jobs, mut retried) = lock(db, &names).await?;
    let update = sqlx::query!(
        "update jobs
         set due = true, run_at = now(), failures = case when run_at = 'infinity' then 0 else failures end,
             crashes = case when run_at = 'infinity' then 0 else crashes end
         where id = any($1)",
        &jobs,
    );
    execute(&mut *db, update).await?;
    // Usage whose report was given up is reported anew: the operator has checked that Stripe doesn't have it.
    let usage = ids_of(JobKind::Usage, retried.iter().map(|job| &job.name));
    let update = sqlx::query!(
        "update stripe_meter_events set in_doubt_since = null, given_up_at = null
         where id = any($1) and given_up_at is not null",
        &usage,
    );
    execute(&mut *db, update).await?;
    retried.extend(resend_callbacks(db, &ids_of(JobKind::Callback, &names)).await?);
    retried.extend(resend_deliveries(db, &ids_of(JobKind::Delivery, &names)).await?);
    Ok(retried)
}

/// Sends deliveries again that were given up.
async fn resend_callbacks(db: &mut PgConnection, renders: &[Uuid]) -> Result<Vec<TreatedJob>, StoreError> {
    let jobs: Vec<_> = renders.iter().map(|_| Uuid::now_v7()).collect();
    // First the job, then the callback: the order in which all transactions lock them.
    let resent = sqlx::query!(
        r#"insert into jobs (id, account_id, kind, render_id, priority, run_at, due)
           select wanted.id, callbacks.account_id, $3, callbacks.render_id,
               case when exists (select from batch_rows rows where rows.render_id = callbacks.render_id) then $5 else $4::smallint end,
               now(), true
           from unnest($1::uuid[], $2::uuid[]) as wanted (id, render_id)
           join callbacks on callbacks.render_id = wanted.render_id and callbacks.failed_at is not null
           on conflict do nothing
           returning account_id as "account_id!", render_id as "render_id!""#,
        &jobs,
        renders,
        JobKind::Callback.into_str(),
        Priority::Normal as i16,
        Priority::Batch as i16,
    );
    let resent = resent.fetch_all(&mut *db).await?;
    let renders: Vec<_> = resent.iter().map(|row| row.render_id).collect();
    let update = sqlx::query!(
        "update callbacks set state = 'sending', failed_at = null, last_error = null, failures = 0
         where render_id = any($1)",
        &renders,
    );
    execute(db, update).await?;
    let resent = resent
        .into_iter()
        .map(|row| TreatedJob::of(JobKind::Callback, row.account_id, row.render_id));
    Ok(resent.collect())
}

/// As [`resend_callbacks`], for deliveries to webhooks of batches, and to endpoints that are enabled.
async fn resend_deliveries(db: &mut PgConnection, deliveries: &[Uuid]) -> Result<Vec<TreatedJob>, StoreError> {
    let jobs: Vec<_> = deliveries.iter().map(|_| Uuid::now_v7()).collect();
    let resent = sqlx::query!(
        r#"insert into jobs (id, account_id, kind, delivery_id, priority, run_at, due)
           select wanted.id, deliveries.account_id, $3, deliveries.id,
               case when exists (select from batch_rows rows where rows.render_id = deliveries.render_id) then $5 else $4::smallint end,
               now(), true
           from unnest($1::uuid[], $2::uuid[]) as wanted (id, delivery_id)
           join webhook_deliveries deliveries
               on deliveries.id = wanted.delivery_id and deliveries.failed_at is not null
           left join webhook_endpoints endpoints on endpoints.id = deliveries.endpoint_id
           where endpoints.disabled_at is null
           on conflict do nothing
           returning account_id as "account_id!", delivery_id as "delivery_id!""#,
        &jobs,
        deliveries,
        JobKind::Delivery.into_str(),
        Priority::Normal as i16,
        Priority::Batch as i16,
    );
    let resent = resent.fetch_all(&mut *db).await?;
    let deliveries: Vec<_> = resent.iter().map(|row| row.delivery_id).collect();
    let update = sqlx::query!(
        "update webhook_deliveries set state = 'sending', failed_at = null, last_error = null, failures = 0
         where id = any($1)",
        &deliveries,
    );
    execute(db, update).await?;
    let resent = resent
        .into_iter()
        .map(|row| TreatedJob::of(JobKind::Delivery, row.account_id, row.delivery_id));
    Ok(resent.collect())
}

/// Reopens failed exports that no worker holds, at most one of each account. Returns their ids.
async fn reopen_exports(db: &mut PgConnection, exports: &[Uuid]) -> Result<Vec<String>, StoreError> {
    let reopened = sqlx::query_scalar!(
        r#"with failed as materialized (
             select export_id from jobs
             where export_id = any($1) and failed_at is not null and claim is null
             for update skip locked
         )
         update exports set state = 'waiting', finished_at = null
         where id in (
             select distinct on (chosen.account_id) chosen.id
             from exports chosen join failed on failed.export_id = chosen.id
             where not exists (
                     select from exports under_way
                     where under_way.account_id = chosen.account_id and under_way.state = 'waiting'
                         and under_way.id <> chosen.id
                 )
             order by chosen.account_id, chosen.id desc
         )
         returning id::text as "id!""#,
        exports,
    );
    Ok(reopened.fetch_all(db).await?)
}
