//! Jobs of renders of batches that are held until there is enough storage or credits for their documents.

use std::time::Duration;

use platen_domain::{
    batch::Hold,
    ids::{AccountId, BatchId},
};
use sqlx::{PgConnection, PgPool};

use crate::store::{error::StoreError, jobs::Claim, statement::execute};

/// Releases the job of a render of a batch, which is held until there is enough storage or credits for its document
/// ([`resume`]), but for `longest` at most. Without credits, it no longer reserves any, so that held renders don't keep them from
/// each other. `needed` is in bytes or credits. Returns `false` if the claim was lost, or if no batch of the account waits for the render.
pub async fn hold(
    db: &PgPool,
    account: AccountId,
    claim: &Claim,
    (hold, needed): (Hold, i64),
    longest: Duration,
) -> Result<bool, StoreError> {
    let was_held = sqlx::query_scalar!(
        r#"with held as (
            update jobs
            set claim = null, instance = null, lease_until = null, due = false, resumed = false,
                run_at = now() + $6::float8 * interval '1 s', hold = $4,
                -- A document that was not printed this time may have been before.
                needed = greatest(case when hold = $4 then needed end, $5)
            where id = $2 and claim = $3
                and exists (
                    select from batch_rows
                    where batch_rows.account_id = $1 and batch_rows.render_id = jobs.render_id and state = 'opened'
                )
            returning render_id
         ),
         queued as (
            update renders set status = 'queued', reserved = case when $4 = 'credits' then 0 else reserved end
            from held
            where renders.account_id = $1 and renders.id = held.render_id and finished_at is null
         )
         select exists (select from held) as "held!""#,
        account.0,
        claim.job,
        claim.id,
        hold.into_str(),
        needed,
        longest.as_secs_f64(),
    );
    Ok(was_held.fetch_one(db).await?)
}

/// What an account has left for its renders.
#[derive(Debug, Clone, Copy)]
pub struct Available {
    /// Storage of documents, in bytes.
    pub storage: i64,
    pub credits: i64,
}

/// Held renders of a batch after some were resumed.
#[derive(Debug, Default)]
pub struct StillHeld {
    /// Number of renders that were resumed.
    pub resumed: i64,
    /// Number of the others.
    pub renders: i64,
    /// Why most of them are held.
    pub hold: Option<Hold>,
    /// Number of renders of the account that were resumed and have not ended.
    pub promised: i64,
}

/// Returns the number of held renders of an account that were not resumed.
pub async fn count(db: &PgPool, account: AccountId) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from jobs where account_id = $1 and hold is not null and not resumed"#,
        account.0,
    );
    Ok(count.fetch_one(db).await?)
}

/// Lets no other transaction resume held renders of an account until the end of this one.
pub async fn lock(db: &mut PgConnection, account: AccountId) -> Result<(), StoreError> {
    let lock = sqlx::query!(
        "select pg_advisory_xact_lock(hashtext('held renders'), hashtext($1::uuid::text))",
        account.0
    );
    execute(db, lock).await
}

/// Makes held renders of a batch due for which there is enough, those that need the least first. What resumed renders of the account need
/// is promised to them until they have ended. `db` must be a transaction, in which no other one resumes renders of the account.
pub async fn resume(
    db: &mut PgConnection,
    account: AccountId,
    batch: BatchId,
    available: Available,
) -> Result<StillHeld, StoreError> {
    let row = sqlx::query!(
        r#"with held as materialized (
            select id, hold, needed, resumed,
                (
                    -- By key: a join could be planned as a scan of the batch.
                    select batch_rows.batch_id from batch_rows
                    where batch_rows.account_id = $1 and batch_rows.render_id = jobs.render_id
                    limit 1
                ) as batch_id
            from jobs
            where account_id = $1 and hold is not null
         ),
         promised as (
            select
                coalesce(sum(needed) filter (where hold = 'storage'), 0) as storage,
                coalesce(sum(needed) filter (where hold = 'credits'), 0) as credits
            from held where resumed
         ),
         waiting as (
            select id, hold, sum(needed) over (partition by hold order by needed, id) as needed
            from held where not resumed and batch_id = $2
         ),
         resumed as (
            update jobs set due = true, run_at = now(), resumed = true
            where claim is null and id = any(array(
                select id from waiting, promised
                where case hold
                    when 'storage' then needed + promised.storage <= $3::bigint
                    else needed + promised.credits <= $4::bigint
                end
            ))
            returning id
         )
         select count(*) filter (where resumed.id is not null) as "resumed!", count(*) filter (where resumed.id is null) as "renders!",
            mode() within group (order by hold) filter (where resumed.id is null) as hold,
            (select count(*) from held where resumed) + count(resumed.id) as "promised!"
         from waiting left join resumed on resumed.id = waiting.id"#,
        account.0,
        batch.0,
        available.storage,
        available.credits,
    );
    let row = row.fetch_one(db).await?;
    Ok(StillHeld {
        resumed: row.resumed,
        renders: row.renders,
        hold: row.hold.and_then(|hold| hold.parse().ok()),
        promised: row.promised,
    })
}
