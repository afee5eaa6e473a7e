//! Retries of failed work. Work that a worker holds, or that hasn't failed, is left unchanged.

use platen_domain::{
    ids::{AccountId, RenderId},
    job::{JobKind, Priority},
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::store::{error::StoreError, failed_jobs::RenderOf};

/// Retries failed jobs now. Returns their accounts and renders.
pub async fn retry_jobs(
    db: &mut PgConnection,
    kind: JobKind,
    renders: &[Uuid],
) -> Result<Vec<(AccountId, RenderId)>, StoreError> {
    // Skips locked jobs rather than wait for them: other transactions lock jobs in another order.
    let retried = sqlx::query_as!(
        RenderOf,
        r#"update jobs set due = true, run_at = now()
         where id in (
             select id from jobs where kind = $1 and render_id = any($2) and failed_at is not null and claim is null
             for update skip locked
         )
         returning account_id as "account_id!", render_id as "render_id!""#,
        kind.as_str(),
        renders,
    )
    .map(RenderOf::ids);
    Ok(retried.fetch_all(db).await?)
}

/// Sends deliveries again that were given up. Returns their accounts and renders.
pub async fn resend_callbacks(
    db: &mut PgConnection,
    renders: &[Uuid],
) -> Result<Vec<(AccountId, RenderId)>, StoreError> {
    let jobs: Vec<_> = renders.iter().map(|_| Uuid::now_v7()).collect();
    // First the job, then the callback: the order in which all transactions lock them.
    let resent = sqlx::query_as!(
        RenderOf,
        r#"insert into jobs (id, account_id, kind, render_id, priority, run_at, due)
         select wanted.id, callbacks.account_id, $3, callbacks.render_id, $4, now(), true
         from unnest($1::uuid[], $2::uuid[]) as wanted (id, render_id)
         join callbacks on callbacks.render_id = wanted.render_id and callbacks.failed_at is not null
         on conflict do nothing
         returning account_id as "account_id!", render_id as "render_id!""#,
        &jobs,
        renders,
        JobKind::Callback.as_str(),
        Priority::Normal as i16,
    )
    .map(RenderOf::ids);
    let resent = resent.fetch_all(&mut *db).await?;
    let renders: Vec<_> = resent.iter().map(|(_, render)| render.0).collect();
    sqlx::query!(
        "update callbacks set state = 'sending', failed_at = null, last_error = null, failures = 0
         where render_id = any($1)",
        &renders,
    )
    .execute(db)
    .await?;
    Ok(resent)
}

/// Retries mails now; dead letters start over with all their attempts. Returns their ids.
pub async fn retry_mails(db: &mut PgConnection, mails: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
    let retried = sqlx::query_scalar!(
        r#"update jobs
         set due = true, run_at = now(), failures = case when run_at = 'infinity' then 0 else failures end,
             crashes = case when run_at = 'infinity' then 0 else crashes end
         where id in (
             select id from jobs where mail_id = any($1) and failed_at is not null and claim is null
             for update skip locked
         )
         returning mail_id as "mail_id!""#,
        mails,
    );
    Ok(retried.fetch_all(db).await?)
}

/// Retries exports now; dead letters start over with all their attempts. Retries at most one export of each account.
/// Returns accounts and ids.
pub async fn retry_exports(db: &mut PgConnection, exports: &[Uuid]) -> Result<Vec<(AccountId, Uuid)>, StoreError> {
    let rows = sqlx::query!(
        "with retried as (
             update jobs
             set due = true, run_at = now(), failures = case when run_at = 'infinity' then 0 else failures end,
                 crashes = case when run_at = 'infinity' then 0 else crashes end
             where id in (
                 select distinct on (chosen.account_id) jobs.id from jobs join exports chosen on chosen.id = jobs.export_id
                 where chosen.id = any($1) and jobs.failed_at is not null
                     and not exists (
                         select from exports under_way
                         where under_way.account_id = chosen.account_id and under_way.state = 'waiting'
                             and under_way.id <> chosen.id
                     )
                 order by chosen.account_id, chosen.id desc
             ) and claim is null
             returning export_id
         )
         update exports set state = 'waiting', finished_at = null from retried where exports.id = retried.export_id
         returning account_id, id",
        exports,
    )
    .map(|row| (AccountId(row.account_id), row.id));
    Ok(rows.fetch_all(db).await?)
}

/// Reports usage to Stripe now, including usage whose report was given up: the operator has checked that Stripe doesn't
/// have it. Returns the ids of the meter events.
pub async fn retry_usage(db: &mut PgConnection, events: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
    let retried = sqlx::query_scalar!(
        "with retried as (
             update jobs set due = true, run_at = now()
             where id in (
                 select id from jobs where meter_event_id = any($1) and failed_at is not null and claim is null
                 for update skip locked
             )
             returning meter_event_id
         )
         update stripe_meter_events events
         set in_doubt_since = case when given_up_at is null then in_doubt_since end, given_up_at = null
         from retried where events.id = retried.meter_event_id
         returning events.id",
        events,
    );
    Ok(retried.fetch_all(db).await?)
}

/// Synchronizes customers with Stripe now. Returns their ids.
pub async fn retry_customers(db: &mut PgConnection, customers: &[String]) -> Result<Vec<String>, StoreError> {
    let retried = sqlx::query_scalar!(
        r#"update jobs set due = true, run_at = now()
         where id in (
             select id from jobs where customer_id = any($1) and failed_at is not null and claim is null
             for update skip locked
         )
         returning customer_id as "customer_id!""#,
        customers,
    );
    Ok(retried.fetch_all(db).await?)
}
