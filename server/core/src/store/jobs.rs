//! Table `jobs`: the job queue. Times come from the database's clock, so that the clocks of processes needn't agree. Statements lock
//! jobs in the order of their ids.

pub mod held;

use std::time::Duration;

use platen_domain::{
    failed_jobs::kept_error,
    ids::{AccountId, BatchId, DeliveryId, ExportId, InstanceId, MailId, RenderId},
    job::{AFTER_CRASHES, JobKind, LEASE, LEASE_OF_REQUEST, Priority, QueueLength},
};
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// Error of a job that was abandoned by its process.
const CRASHED: &str = "the process that held the job ended or stopped responding";

/// The hold of a worker on a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    pub job: Uuid,
    /// Differs between the claims of a job.
    pub id: Uuid,
    /// Failed attempts.
    pub failures: i32,
    /// Processes that died, or let the lease expire, while they held the job.
    pub crashes: i32,
}

/// The claimed job of a render, or of its webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderJob {
    pub claim: Claim,
    pub account: AccountId,
    pub render: RenderId,
    /// Acceptance time of the render, if this claim is its first.
    pub accepted_at: Option<OffsetDateTime>,
    /// Whether the job has the priority of the renders of batches.
    pub is_of_batch: bool,
}

/// The claimed job of a delivery of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryJob {
    pub claim: Claim,
    pub account: AccountId,
    pub delivery: DeliveryId,
}

/// The claimed job of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchJob {
    pub claim: Claim,
    pub account: AccountId,
    pub batch: BatchId,
}

/// A job that a worker holds, by its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimedJob {
    Render(RenderJob),
    Callback(RenderJob),
    Delivery(DeliveryJob),
    Batch(BatchJob),
    Mail(Claim, MailId),
    Export(Claim, ExportId),
    /// Stripe's id of the customer.
    Customer(Claim, String),
    /// Id of the meter event.
    Usage(Claim, Uuid),
}

impl ClaimedJob {
    pub fn claim(&self) -> &Claim {
        match self {
            Self::Render(job) | Self::Callback(job) => &job.claim,
            Self::Delivery(job) => &job.claim,
            Self::Batch(job) => &job.claim,
            Self::Mail(claim, _) | Self::Export(claim, _) | Self::Customer(claim, _) | Self::Usage(claim, _) => claim,
        }
    }

    /// Returns the account, if accounts take turns with jobs of this kind.
    pub fn account(&self) -> Option<AccountId> {
        match self {
            Self::Render(job) | Self::Callback(job) => Some(job.account),
            Self::Delivery(job) => Some(job.account),
            Self::Batch(job) => Some(job.account),
            _ => None,
        }
    }

    /// Returns the render, if the job is that of a render or of its webhook.
    pub fn render(&self) -> Option<RenderId> {
        match self {
            Self::Render(job) | Self::Callback(job) => Some(job.render),
            _ => None,
        }
    }
}

struct ClaimedRow {
    id: Uuid,
    claim: Uuid,
    failures: i32,
    crashes: i32,
    account_id: Option<Uuid>,
    /// `None` for a customer.
    subject: Option<Uuid>,
    customer_id: Option<String>,
    accepted_at: Option<OffsetDateTime>,
    priority: i16,
}

impl ClaimedRow {
    /// A constraint guarantees that a job has the subject of its kind.
    fn job(self, kind: JobKind) -> ClaimedJob {
        let claim = Claim {
            job: self.id,
            id: self.claim,
            failures: self.failures,
            crashes: self.crashes,
        };
        let subject = self.subject.unwrap_or_default();
        let of_render = RenderJob {
            claim,
            account: AccountId(self.account_id.unwrap_or_default()),
            render: RenderId(subject),
            accepted_at: self.accepted_at,
            is_of_batch: self.priority == Priority::Batch as i16,
        };
        match kind {
            JobKind::Render => ClaimedJob::Render(of_render),
            JobKind::Callback => ClaimedJob::Callback(of_render),
            JobKind::Delivery => ClaimedJob::Delivery(DeliveryJob {
                claim,
                account: of_render.account,
                delivery: DeliveryId(subject),
            }),
            JobKind::Batch => ClaimedJob::Batch(BatchJob {
                claim,
                account: of_render.account,
                batch: BatchId(subject),
            }),
            JobKind::Mail => ClaimedJob::Mail(claim, MailId(subject)),
            JobKind::Export => ClaimedJob::Export(claim, ExportId(subject)),
            JobKind::Customer => ClaimedJob::Customer(claim, self.customer_id.unwrap_or_default()),
            JobKind::Usage => ClaimedJob::Usage(claim, subject),
        }
    }
}

/// Inserts the job of a render's webhook, due immediately, with the priority of batches if it is that of a row. The statement that
/// inserts a queued render inserts its job, and triggers insert the jobs of other subjects.
pub async fn insert_callback(db: &mut PgConnection, account: AccountId, render: RenderId) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into jobs (id, account_id, kind, render_id, priority, run_at, due)
         select $1, $2, $3, $4,
            case when exists (select from batch_rows where account_id = $2 and render_id = $4) then $6 else $5::smallint end,
            now(), true",
        Uuid::now_v7(),
        account.0,
        JobKind::Callback.into_str(),
        render.0,
        Priority::Normal as i16,
        Priority::Batch as i16,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Jobs that a worker asks for.
#[derive(Debug, Clone, Copy)]
pub struct ClaimRequest {
    pub kind: JobKind,
    /// Maximum number of jobs.
    pub jobs: usize,
    /// Accounts take turns, starting with the one after this.
    pub after: AccountId,
    /// Maximum number of jobs that one account may have in progress across all processes; `None` means the concurrency
    /// limit of the account.
    pub cap: Option<usize>,
    /// Bounds the jobs of one account that this process may hold.
    pub share: Option<Share>,
}

/// What a process may hold of an account's limit: its share among all workers, so that it leaves the others theirs.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// Live processes that do background work, at least one.
    pub workers: i64,
    /// Jobs that it may hold even if its share is smaller.
    pub at_least: usize,
}

/// Claims jobs in a transaction, and marks their renders as started at `now`.
///
/// Accounts take turns until enough jobs are claimed or each account is suspended, has no more due jobs or has reached its
/// limit. Returns the jobs in the order of the turns. Jobs without an account are claimed in their own order. Only one
/// process claims at a time, so that limits are exact.
pub async fn claim(
    db: &mut PgConnection,
    instance: InstanceId,
    request: ClaimRequest,
    now: OffsetDateTime,
) -> Result<Vec<ClaimedJob>, StoreError> {
    let kind = request.kind.into_str();
    lock_claims(db, kind).await?;
    // Looks up one account after the other in the index, so that the cost doesn't depend on the length of the queue.
    let claimed = sqlx::query_as!(
        ClaimedRow,
        r#"with recursive turns as (
            select $2::uuid as account_id, false as is_earlier, true as is_start
            union all
            select following.account_id, following.is_earlier, false
            from turns cross join lateral (
                (
                    select account_id, turns.is_earlier from jobs
                    where kind = $1 and due and claim is null and account_id > turns.account_id
                        and (not turns.is_earlier or account_id <= $2)
                    order by account_id limit 1
                )
                union all
                (
                    select account_id, true from jobs
                    where kind = $1 and due and claim is null and account_id <= $2 and not turns.is_earlier
                    order by account_id limit 1
                )
                limit 1
            ) following
         ),
         allowed as (
            select turns.account_id, is_earlier, free.jobs
            from turns cross join lateral (
                -- Without a share, the last argument is null and ignored.
                select least(
                    coalesce($3, limits.concurrency) - held.jobs,
                    greatest((coalesce($3, limits.concurrency) + $8::bigint - 1) / $8, $9::bigint) - held.here
                ) as jobs
                from account_limits limits cross join lateral (
                    select count(*) as jobs, count(*) filter (where instance = $5) as here from jobs
                    where kind = $1 and account_id = turns.account_id and claim is not null
                ) held
                where limits.account_id = turns.account_id and limits.suspended_at is null
            ) free
            where not is_start and free.jobs > 0
            limit $4
         ),
         picked as (
            select waiting.id, waiting.turn, allowed.is_earlier
            from allowed
            cross join lateral (
                select id, row_number() over (order by priority, id) as turn
                from jobs
                where kind = $1 and due and claim is null and account_id = allowed.account_id
                order by priority, id
                limit least(allowed.jobs, $4)
            ) waiting
            order by waiting.turn, allowed.is_earlier, allowed.account_id
            limit $4
         ),
         -- No kind has both jobs with and without an account.
         chosen as (
            select id, turn, is_earlier from picked
            union all
            (
                select id, 1, false from jobs
                where kind = $1 and due and claim is null and account_id is null
                order by run_at, id
                limit $4
            )
         ),
         claimed as (
            -- By key: a join could be planned as a scan of the queue.
            update jobs
            set claim = gen_random_uuid(), instance = $5, lease_until = now() + $6::float8 * interval '1 s'
            where id = any(array(select id from chosen)) and claim is null
            returning id, account_id, coalesce(render_id, mail_id, export_id, meter_event_id, delivery_id, batch_id) as subject,
                customer_id, claim, failures, crashes, priority
         ),
         begun as (
            update renders set status = 'processing', started_at = coalesce(started_at, $7)
            from claimed
            where $1 = 'render' and renders.id = claimed.subject and finished_at is null
            returning renders.id, case when started_at = $7 then inserted_at end as accepted_at
         )
         select claimed.id, claim as "claim!", failures, crashes, account_id, subject, customer_id,
            accepted_at as "accepted_at?", priority
         from claimed join chosen using (id) left join begun on begun.id = claimed.subject
         order by turn, is_earlier, account_id, claimed.id"#,
        kind,
        request.after.0,
        request.cap.map(|cap| i32::try_from(cap).unwrap_or(i32::MAX)),
        i64::try_from(request.jobs).unwrap_or(i64::MAX),
        instance.0,
        LEASE.as_secs_f64(),
        now,
        request.share.map(|share| share.workers),
        request.share.map(|share| i64::try_from(share.at_least).unwrap_or(i64::MAX)),
    )
    .fetch_all(db)
    .await?;
    Ok(claimed.into_iter().map(|row| row.job(request.kind)).collect())
}

/// Makes this the only transaction that claims jobs of the kind, and one that plans as [`tx::begin_by_index`](super::tx::begin_by_index).
async fn lock_claims(db: &mut PgConnection, kind: &str) -> Result<(), StoreError> {
    let lock = sqlx::query!(
        "select pg_advisory_xact_lock(hashtext('jobs'), hashtext($1)), set_config('enable_seqscan', 'off', true) as sequential,
            set_config('enable_bitmapscan', 'off', true) as bitmap",
        kind,
    );
    lock.fetch_one(db).await?;
    Ok(())
}

/// Claims the job of a customer outside of a worker, if it is due.
pub async fn claim_customer(db: &PgPool, customer: &str) -> Result<Option<Claim>, StoreError> {
    let claimed = sqlx::query_as!(
        Claim,
        r#"update jobs
           set claim = gen_random_uuid(), lease_until = now() + $2::float8 * interval '1 s', due = true
           where customer_id = $1 and claim is null and run_at <= now()
           returning id as job, claim as "id!", failures, crashes"#,
        customer,
        LEASE_OF_REQUEST.as_secs_f64(),
    );
    Ok(claimed.fetch_optional(db).await?)
}

/// Claims the job of a customer's next meter event outside of a worker, due or not, except dead letters. Jobs are in the
/// order of their ids; `after` is the last one. Also returns the id of the event.
pub async fn claim_usage(db: &PgPool, customer: &str, after: Uuid) -> Result<Option<(Claim, Uuid)>, StoreError> {
    let claimed = sqlx::query!(
        r#"update jobs
           set claim = gen_random_uuid(), lease_until = now() + $3::float8 * interval '1 s', due = true
           where id = (
               select waiting.id
               from stripe_meter_events events join jobs waiting on waiting.meter_event_id = events.id
               where events.customer_id = $1 and waiting.id > $2 and waiting.claim is null and run_at < 'infinity'
               order by waiting.id limit 1
               for update of waiting skip locked
           )
           returning id, claim as "claim!", failures, crashes, meter_event_id as "event!""#,
        customer,
        after,
        LEASE_OF_REQUEST.as_secs_f64(),
    );
    let claimed = claimed.fetch_optional(db).await?.map(|row| {
        let claim = Claim {
            job: row.id,
            id: row.claim,
            failures: row.failures,
            crashes: row.crashes,
        };
        (claim, row.event)
    });
    Ok(claimed)
}

/// Marks jobs of a kind as due whose time has come.
pub async fn mark_due(db: &PgPool, kind: JobKind) -> Result<(), StoreError> {
    let kind = kind.into_str();
    let update = sqlx::query!(
        "update jobs set due = true where kind = $1 and not due and run_at <= now()",
        kind
    );
    execute(db, update).await
}

/// Deletes a job by its claim, so that what the same transaction records is final. Returns `false` if another worker
/// holds the job, or if it was cancelled.
pub async fn complete(db: impl PgExecutor<'_>, claim: &Claim) -> Result<bool, StoreError> {
    let delete = sqlx::query!("delete from jobs where id = $1 and claim = $2", claim.job, claim.id);
    changes_one(db, delete).await
}

/// Releases a job for a retry after `delay`, or without one as a dead letter. `failure` is the reason why the attempt
/// failed; an attempt without one doesn't count. Returns `false` if the claim was lost.
pub async fn release(
    db: impl PgExecutor<'_>,
    claim: &Claim,
    delay: Option<Duration>,
    failure: Option<&str>,
) -> Result<bool, StoreError> {
    let released = sqlx::query_scalar!(
        r#"with released as (
            update jobs
            set claim = null, instance = null, lease_until = null, due = false,
                run_at = coalesce(now() + $3::float8 * interval '1 s', 'infinity'),
                failures = failures + ($4::text is not null)::integer,
                failed_at = case when $4::text is null then failed_at else now() end, last_error = coalesce($4, last_error)
            where id = $1 and claim = $2
            returning kind, render_id
         ),
         queued as (
            update renders set status = 'queued' from released
            where renders.id = released.render_id and released.kind = 'render' and renders.finished_at is null
         )
         select exists (select from released) as "released!""#,
        claim.job,
        claim.id,
        delay.map(|delay| delay.as_secs_f64()),
        failure.map(kept_error),
    );
    Ok(released.fetch_one(db).await?)
}

/// Makes the waiting job of a batch the last one of its account.
pub async fn put_batch_last(db: &PgPool, account: AccountId, batch: BatchId) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update jobs set id = $3 where account_id = $1 and batch_id = $2 and claim is null",
        account.0,
        batch.0,
        Uuid::now_v7(),
    );
    execute(db, update).await
}

/// Forgets failures and crashes, if there were any, of a job that has made progress since.
pub async fn forget_failures(db: impl PgExecutor<'_>, claim: &Claim) -> Result<(), StoreError> {
    if claim.failures + claim.crashes == 0 {
        return Ok(());
    }
    let forget = sqlx::query!(
        "update jobs set failures = 0, crashes = 0, failed_at = null, last_error = null where id = $1 and claim = $2",
        claim.job,
        claim.id,
    );
    execute(db, forget).await
}

/// Deletes the job of a render, or of its webhook, even if a worker holds it. Returns whether the render was ever held.
pub async fn delete(
    db: &mut PgConnection,
    account: AccountId,
    kind: JobKind,
    render: RenderId,
) -> Result<bool, StoreError> {
    let was_held = sqlx::query_scalar!(
        r#"delete from jobs where account_id = $1 and kind = $2 and render_id = $3
           returning hold is not null as "was_held!""#,
        account.0,
        kind.into_str(),
        render.0,
    );
    Ok(was_held.fetch_optional(db).await?.unwrap_or_default())
}

/// Makes the waiting job of a subject due now, or inserts it. Returns `false` if a worker holds it.
macro_rules! make_due {
    ($db:expr, $account:expr, $kind:expr, $column:literal, $unique:literal, $subject:expr) => {{
        let insert = sqlx::query!(
            "insert into jobs (id, account_id, kind, "
                + $column
                + ", priority, run_at, due)
             values ($1, $2, $3, $4, 0, now(), true)
             on conflict "
                + $unique
                + " do update set due = true, run_at = now()
             where jobs.account_id = excluded.account_id and jobs.claim is null",
            Uuid::now_v7(),
            $account.0,
            $kind.into_str(),
            $subject.0,
        );
        changes_one($db, insert).await
    }};
}

/// Makes the waiting job of a render, or of its webhook, due now, or inserts it. Returns `false` if a worker holds it.
pub async fn retry_now(
    db: &mut PgConnection,
    account: AccountId,
    kind: JobKind,
    render: RenderId,
) -> Result<bool, StoreError> {
    make_due!(db, account, kind, "render_id", "(kind, render_id)", render)
}

/// As [`retry_now`], for a delivery of an event.
pub async fn retry_delivery_now(
    db: &mut PgConnection,
    account: AccountId,
    delivery: DeliveryId,
) -> Result<bool, StoreError> {
    let kind = JobKind::Delivery;
    make_due!(
        db,
        account,
        kind,
        "delivery_id",
        "(delivery_id) where delivery_id is not null",
        delivery
    )
}

/// As [`retry_now`], for a turn of a batch.
pub async fn advance_batch_now(db: &mut PgConnection, account: AccountId, batch: BatchId) -> Result<bool, StoreError> {
    make_due!(
        db,
        account,
        JobKind::Batch,
        "batch_id",
        "(batch_id) where batch_id is not null",
        batch
    )
}

/// Deletes the job of a delivery of an event, even if a worker holds it.
pub async fn delete_delivery(
    db: &mut PgConnection,
    account: AccountId,
    delivery: DeliveryId,
) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from jobs where account_id = $1 and delivery_id = $2",
        account.0,
        delivery.0,
    );
    execute(db, delete).await
}

/// Renews the leases of a process's jobs. Returns the claims that it still holds.
pub async fn renew(db: &PgPool, instance: InstanceId, claims: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
    let held = sqlx::query_scalar!(
        r#"with held as materialized (
            select id from jobs where instance = $1 and claim = any($2) order by id for update
         )
         update jobs set lease_until = now() + $3::float8 * interval '1 s'
         from held where jobs.id = held.id
         returning claim as "claim!""#,
        instance.0,
        claims,
        LEASE.as_secs_f64(),
    );
    Ok(held.fetch_all(db).await?)
}

/// Returns the processes other than `except` that hold jobs.
pub async fn list_instances(db: &PgPool, except: InstanceId) -> Result<Vec<InstanceId>, StoreError> {
    let instances = sqlx::query_scalar!(
        r#"select distinct instance as "instance!" from jobs where claim is not null and instance <> $1"#,
        except.0,
    );
    Ok(instances.fetch_all(db).await?.into_iter().map(InstanceId).collect())
}

/// Releases the jobs of a dead process or, without one, all jobs whose leases have expired. A job is due immediately
/// after its first crash, and with a delay after further ones. Returns the number of jobs.
pub async fn release_lost(db: impl PgExecutor<'_>, gone: Option<InstanceId>) -> Result<i64, StoreError> {
    let released = sqlx::query_scalar!(
        r#"with lost as materialized (
            select id from jobs
            where claim is not null and (instance = $1 or $1 is null and lease_until < now())
            order by id for update
         ),
         released as (
            update jobs
            set claim = null, instance = null, lease_until = null, crashes = crashes + 1, due = crashes = 0,
                failed_at = now(), last_error = $3,
                run_at = now() + case when crashes = 0 then 0 else $2::float8 end * interval '1 s'
            from lost where jobs.id = lost.id
            returning kind, render_id
         ),
         queued as (
            update renders set status = 'queued' from released
            where renders.id = released.render_id and released.kind = 'render' and renders.finished_at is null
         )
         select count(*) as "count!" from released"#,
        gone.map(|instance| instance.0),
        AFTER_CRASHES.as_secs_f64(),
        CRASHED,
    );
    Ok(released.fetch_one(db).await?)
}

/// Returns the queue length of the kinds whose jobs belong to accounts. Reads every job once, and no other large table.
pub async fn measure(db: &PgPool) -> Result<Vec<QueueLength>, StoreError> {
    // Jobs of suspended accounts can't be claimed, so they must not cause workers to be started.
    let rows = sqlx::query!(
        r#"select kind,
            count(*) filter (where claim is null and run_at <= now()) as "due!",
            count(*) filter (where claim is null and run_at > now()) as "later!",
            count(*) filter (where claim is not null) as "in_hand!",
            coalesce(
                extract(epoch from now() - min(run_at) filter (where claim is null and run_at <= now())), 0
            )::float8 as "oldest_due_seconds!"
         from jobs
         where account_id not in (select id from accounts where suspended_at is not null)
         group by kind"#
    )
    .fetch_all(db)
    .await?;
    let lengths = [JobKind::Render, JobKind::Callback, JobKind::Delivery]
        .into_iter()
        .map(|kind| {
            let row = rows.iter().find(|row| row.kind == kind.into_str());
            QueueLength {
                kind,
                due: row.map_or(0, |row| row.due),
                later: row.map_or(0, |row| row.later),
                in_hand: row.map_or(0, |row| row.in_hand),
                oldest_due_seconds: row.map_or(0.0, |row| row.oldest_due_seconds),
            }
        });
    Ok(lengths.collect())
}
