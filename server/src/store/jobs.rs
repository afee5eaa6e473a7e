//! Table `jobs`: the queue. Times are the database's own, so that processes need not agree on one.

use sqlx::{PgConnection, PgExecutor, PgPool, postgres::PgListener};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::{
        failed_work::kept_error,
        ids::{AccountId, InstanceId, RenderId},
        job::{AFTER_CRASHES, JobKind, LEASE, Priority},
    },
    store::error::StoreError,
};

/// Why a job failed that a process has left behind.
const CRASHED: &str = "the process that had it in hand ended, or fell silent";

/// A job that somebody has in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimedJob {
    /// Identifier.
    pub id: Uuid,
    /// Whose it is.
    pub account: AccountId,
    /// What it is about.
    pub render: RenderId,
    /// Proves that it is in hand.
    pub claim: Uuid,
    /// Tries that came to nothing.
    pub failures: i32,
    /// Processes that ended over it.
    pub crashes: i32,
    /// When its render was accepted, if it begins with this claim.
    pub accepted_at: Option<OffsetDateTime>,
}

/// Adds a job that may begin at once.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    kind: JobKind,
    render: RenderId,
    priority: Priority,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into jobs (id, account_id, kind, render_id, priority, run_at, due)
         values ($1, $2, $3, $4, $5, now(), true)",
        Uuid::now_v7(),
        account.0,
        kind.as_str(),
        render.0,
        priority as i16,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Which jobs a worker wants to claim.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// The kind of all of them.
    pub kind: JobKind,
    /// At most so many.
    pub jobs: usize,
    /// Accounts take turns; the one after this is next.
    pub after: AccountId,
    /// Most jobs of one account that all processes may hold at once; `None`: what its limits allow.
    pub cap: Option<usize>,
}

/// Claims jobs, and marks the renders among them as begun at `now`. `db` is a transaction.
///
/// Accounts take turns, and have further ones if they are fewer than the jobs that are wanted, but none beyond what an
/// account may hold. The jobs are in the order of the turns. One process claims at a time, so that no account gets more.
pub async fn claim(
    db: &mut PgConnection,
    instance: InstanceId,
    wanted: Wanted,
    now: OffsetDateTime,
) -> Result<Vec<ClaimedJob>, StoreError> {
    let kind = wanted.kind.as_str();
    sqlx::query!("select pg_advisory_xact_lock(hashtext('jobs'), hashtext($1))", kind)
        .execute(&mut *db)
        .await?;
    // The index is asked for one account after the other, and for no more jobs than are wanted: how many accounts and jobs
    // wait makes no difference.
    let claimed = sqlx::query!(
        r#"with recursive later as (
            (
                select account_id from jobs
                where kind = $1 and due and claim is null and account_id > $2
                order by account_id limit 1
            )
            union all
            select (
                select following.account_id from jobs following
                where following.kind = $1 and following.due and following.claim is null
                    and following.account_id > later.account_id
                order by following.account_id limit 1
            )
            from later where later.account_id is not null
         ),
         earlier as (
            (
                select account_id from jobs
                where kind = $1 and due and claim is null and account_id <= $2
                order by account_id limit 1
            )
            union all
            select (
                select following.account_id from jobs following
                where following.kind = $1 and following.due and following.claim is null
                    and following.account_id > earlier.account_id and following.account_id <= $2
                order by following.account_id limit 1
            )
            from earlier where earlier.account_id is not null
         ),
         allowed as (
            select waiting.account_id, waiting.is_earlier, free.jobs
            from (
                select account_id, false as is_earlier from later
                union all
                select account_id, true from earlier
            ) waiting
            cross join lateral (
                select coalesce($3, limits.concurrency) - (
                    select count(*) from jobs held
                    where held.kind = $1 and held.account_id = waiting.account_id and held.claim is not null
                ) as jobs
                from account_limits limits
                where limits.account_id = waiting.account_id and limits.suspended_at is null
            ) free
            where free.jobs > 0
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
         claimed as (
            update jobs
            set claim = gen_random_uuid(), instance = $5, lease_until = now() + $6::float8 * interval '1 s'
            from picked where jobs.id = picked.id
            returning jobs.id, account_id, render_id, claim, failures, crashes, turn, is_earlier
         ),
         begun as (
            update renders set status = 'processing', started_at = coalesce(started_at, $7)
            from claimed
            where $1 = 'render' and renders.id = claimed.render_id and finished_at is null
            returning renders.id, case when started_at = $7 then inserted_at end as accepted_at
         )
         select claimed.id, account_id, claimed.render_id, claim as "claim!", failures, crashes,
            accepted_at as "accepted_at?"
         from claimed left join begun on begun.id = claimed.render_id
         order by turn, is_earlier, account_id"#,
        kind,
        wanted.after.0,
        wanted.cap.map(|cap| i32::try_from(cap).unwrap_or(i32::MAX)),
        i64::try_from(wanted.jobs).unwrap_or(i64::MAX),
        instance.0,
        LEASE.as_secs_f64(),
        now,
    )
    .fetch_all(db)
    .await?;
    let claimed = claimed.into_iter().map(|row| ClaimedJob {
        id: row.id,
        account: AccountId(row.account_id),
        render: RenderId(row.render_id),
        claim: row.claim,
        failures: row.failures,
        crashes: row.crashes,
        accepted_at: row.accepted_at,
    });
    Ok(claimed.collect())
}

/// Makes jobs claimable whose time has come.
pub async fn mark_due(db: &PgPool) -> Result<(), StoreError> {
    sqlx::query!("update jobs set due = true where not due and run_at <= now()")
        .execute(db)
        .await?;
    Ok(())
}

/// Proves that a job is still in hand, and takes it out of the queue: what the same transaction records is final.
/// `false`: somebody else has it, or it was cancelled.
pub async fn complete(db: &mut PgConnection, job: &ClaimedJob) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "delete from jobs where account_id = $1 and id = $2 and claim = $3",
        job.account.0,
        job.id,
        job.claim,
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Gives a job back, to be tried again after so many seconds. `failure`: why this try failed, which counts. `false`: it was
/// not in hand any more.
pub async fn release(
    db: &mut PgConnection,
    job: &ClaimedJob,
    delay_seconds: f64,
    failure: Option<&str>,
) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "update jobs
         set claim = null, instance = null, lease_until = null, due = false,
             run_at = now() + $4::float8 * interval '1 s', failures = failures + ($5::text is not null)::integer,
             failed_at = case when $5::text is null then failed_at else now() end, last_error = coalesce($5, last_error)
         where account_id = $1 and id = $2 and claim = $3",
        job.account.0,
        job.id,
        job.claim,
        delay_seconds,
        failure.map(kept_error),
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Takes the job of a render out of the queue, whoever has it in hand.
pub async fn delete(
    db: &mut PgConnection,
    account: AccountId,
    kind: JobKind,
    render: RenderId,
) -> Result<(), StoreError> {
    sqlx::query!(
        "delete from jobs where account_id = $1 and kind = $2 and render_id = $3",
        account.0,
        kind.as_str(),
        render.0,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Makes a waiting job due, or adds it. `false`: somebody has it in hand.
pub async fn hasten(
    db: &mut PgConnection,
    account: AccountId,
    kind: JobKind,
    render: RenderId,
) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "insert into jobs (id, account_id, kind, render_id, priority, run_at, due)
         values ($1, $2, $3, $4, 0, now(), true)
         on conflict (kind, render_id) do update set due = true, run_at = now()
         where jobs.account_id = excluded.account_id and jobs.claim is null",
        Uuid::now_v7(),
        account.0,
        kind.as_str(),
        render.0,
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Extends the leases of a process's jobs. Returns the claims that it still holds.
pub async fn renew(db: &PgPool, instance: InstanceId, claims: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
    let held = sqlx::query_scalar!(
        r#"update jobs set lease_until = now() + $3::float8 * interval '1 s'
           where instance = $1 and claim = any($2)
           returning claim as "claim!""#,
        instance.0,
        claims,
        LEASE.as_secs_f64(),
    );
    Ok(held.fetch_all(db).await?)
}

/// The processes, other than `except`, that have jobs in hand.
pub async fn list_instances(db: &PgPool, except: InstanceId) -> Result<Vec<InstanceId>, StoreError> {
    let instances = sqlx::query_scalar!(
        r#"select distinct instance as "instance!" from jobs where claim is not null and instance <> $1"#,
        except.0,
    );
    Ok(instances.fetch_all(db).await?.into_iter().map(InstanceId).collect())
}

/// Gives back what a process that is gone had in hand, or, without one, whatever is held beyond its lease: at once, or,
/// if that is not the first time, a little later. Says how many jobs.
pub async fn release_lost(db: impl PgExecutor<'_>, gone: Option<InstanceId>) -> Result<i64, StoreError> {
    let released = sqlx::query_scalar!(
        r#"with released as (
            update jobs
            set claim = null, instance = null, lease_until = null, crashes = crashes + 1, due = crashes = 0,
                failed_at = now(), last_error = $3,
                run_at = now() + case when crashes = 0 then 0 else $2::float8 end * interval '1 s'
            where claim is not null and (instance = $1 or $1 is null and lease_until < now())
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

/// Jobs of one kind, of all accounts that are not suspended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueueLength {
    /// Which kind.
    pub kind: JobKind,
    /// That could be done now.
    pub due: i64,
    /// That wait for their time, after a failure.
    pub later: i64,
    /// That somebody has in hand.
    pub in_hand: i64,
    /// Since when the one that has waited the longest could have been done; 0 without one.
    pub oldest_due_seconds: f64,
}

/// Measures the whole queue, every kind. Reads every job once, and no other large table.
pub async fn measure(db: &PgPool) -> Result<Vec<QueueLength>, StoreError> {
    // Jobs of a suspended account stay where they are: nobody need start workers for them.
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
    let lengths = JobKind::ALL.into_iter().map(|kind| {
        let row = rows.iter().find(|row| row.kind == kind.as_str());
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

/// What processes tell each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// There are new jobs.
    Added {
        /// Of this kind.
        kind: JobKind,
        /// The process that added them; nil: one of an earlier release.
        by: InstanceId,
    },
    /// A render was cancelled.
    Cancelled(RenderId),
    /// Renders have changed.
    Changed(ChangedRenders),
    /// Pages of this account are open.
    Listening(AccountId),
}

/// Renders of an account that have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedRenders {
    /// The account.
    pub account: AccountId,
    /// Which; nothing: too many to name.
    pub renders: Option<Vec<RenderId>>,
}

impl ChangedRenders {
    /// A notification has less than 8,000 bytes; what names it takes is for the teller to see to.
    fn to_payload(&self) -> String {
        let renders = self.renders.iter().flatten().map(ToString::to_string);
        let words: Vec<_> = std::iter::once(self.account.to_string()).chain(renders).collect();
        words.join(" ")
    }

    fn from_payload(payload: &str) -> Option<Self> {
        let (account, renders) = payload.split_once(' ').map_or((payload, None), |(account, renders)| {
            (account, Some(renders.split(' ').filter_map(RenderId::parse).collect()))
        });
        Some(Self {
            account: AccountId::parse(account)?,
            renders,
        })
    }
}

const ADDED: &str = "platen_jobs_added";
const CANCELLED: &str = "platen_renders_cancelled";
const CHANGED: &str = "platen_renders_changed";
const LISTENING: &str = "platen_pages_open";

/// Tells every process that listens, of everything at once.
pub async fn tell(db: &PgPool, news: impl IntoIterator<Item = News>) -> Result<(), StoreError> {
    let told = news.into_iter().map(|news| match news {
        News::Added { kind, by } => (ADDED.to_owned(), format!("{} {}", kind.as_str(), by.0)),
        News::Cancelled(render) => (CANCELLED.to_owned(), render.to_string()),
        News::Changed(changed) => (CHANGED.to_owned(), changed.to_payload()),
        News::Listening(account) => (LISTENING.to_owned(), account.to_string()),
    });
    let (channels, payloads): (Vec<String>, Vec<String>) = told.unzip();
    sqlx::query!(
        "select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as told (channel, payload)",
        &channels,
        &payloads,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Hears what processes tell each other.
pub struct Listener(PgListener);

impl Listener {
    /// Listens from now on, on a connection of its own.
    pub async fn begin(db: &PgPool) -> Result<Self, StoreError> {
        let mut listener = PgListener::connect_with(db).await?;
        listener.listen_all([ADDED, CANCELLED, CHANGED, LISTENING]).await?;
        Ok(Self(listener))
    }

    /// The next that is told. What is told while the connection is lost is not heard.
    pub async fn next(&mut self) -> Result<News, StoreError> {
        loop {
            let heard = self.0.recv().await?;
            let news = match heard.channel() {
                ADDED => added(heard.payload()),
                CHANGED => ChangedRenders::from_payload(heard.payload()).map(News::Changed),
                LISTENING => AccountId::parse(heard.payload()).map(News::Listening),
                _ => heard.payload().parse().ok().map(News::Cancelled),
            };
            if let Some(news) = news {
                return Ok(news);
            }
        }
    }
}

fn added(payload: &str) -> Option<News> {
    let (kind, by) = payload.split_once(' ').unwrap_or((payload, ""));
    Some(News::Added {
        kind: JobKind::parse(kind)?,
        by: InstanceId(by.parse().unwrap_or_default()),
    })
}
