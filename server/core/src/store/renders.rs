//! Table `renders`.

pub mod charges;
pub(in crate::store) mod columns;
pub mod documents;
pub mod history;
pub mod hours;
pub mod log;
pub mod queued;
pub mod search;
pub mod statistics;

use platen_domain::{
    credits::NotEnoughCredits,
    ids::{AccountId, ApiKeyId, InstanceId, RenderId},
    storage::StorageResource,
};
use platen_engine::{job::RenderedDocument, render_log::Seen};
use serde_json::{Value, json};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{
    account_storage,
    api_keys::CredentialsVersion,
    error::StoreError,
    renders::columns::{console, kept_title, phase_times, requests, storable},
};

/// A synchronous render to be inserted; see [`queued`] for others.
#[derive(Clone)]
pub struct NewRender {
    pub id: RenderId,
    /// The key that requested it; `None` if a logged-in user did.
    pub key: Option<ApiKeyId>,
    /// The version of the key's credentials, if the key is known from an earlier request. `None` if it was looked up
    /// for this render.
    pub credentials: Option<CredentialsVersion>,
    /// False for test keys.
    pub livemode: bool,
    /// This process.
    pub instance: InstanceId,
    /// Maximum number of synchronous renders of the account, in all processes.
    pub concurrency: usize,
    /// The request without its content.
    pub options: Value,
}

/// Why a render was not inserted.
pub enum NotAdded {
    /// The account has too few credits left.
    Credits(NotEnoughCredits),
    /// The account has as many synchronous renders as it may have.
    Concurrency { limit: usize },
    /// The key's credentials have changed since it was looked up.
    Credentials,
}

/// Result of a statement on credits. `None`, without changes, if the account has no credit period at that time.
pub type InPeriod<T> = Option<T>;

/// Inserts a synchronous render. A live render reserves a credit, and is refused if the account or the key has none left. A render is
/// refused if the account has too many in all processes, and if its key, the key's account, plan or
/// creator has changed since the key was looked up.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    render: &NewRender,
    now: OffsetDateTime,
) -> Result<InPeriod<Result<(), NotAdded>>, StoreError> {
    let decision = sqlx::query!(
        r#"with credentials as materialized (
               select $8::text is null
                   or exists (select from credentials_versions where api_key_id = $3 and version = $8) as are_current
           ), decision as materialized (
               select decided.* from credentials, may_open_render($2, $3, $4, $7, true, $9) decided where are_current
           ), added as (
               insert into renders
                   (id, account_id, api_key_id, mode, status, livemode, instance, options, inserted_at, credit_counter_id)
               select $1::uuid, $2::uuid, $3::uuid, 'sync', 'processing', $4::boolean, $5::uuid, $6::jsonb,
                   $7::timestamptz, counter_id
               from decision where is_free
           )
           select are_current as "are_current!", is_free, total_credits as "total?", used_credits as "used?",
               reserved as "reserved?", period_ends_at as "ends_at?", exceeded_limit as "exceeded_limit?",
               is_busy as "is_busy?"
           from credentials left join decision on true"#,
        render.id.0,
        account.0,
        render.key.map(|key| key.0),
        render.livemode,
        render.instance.0,
        storable(render.options.clone()),
        now,
        render.credentials.as_ref().map(|version| version.0.as_str()),
        i32::try_from(render.concurrency).unwrap_or(i32::MAX),
    );
    let row = decision.fetch_one(db).await?;
    if !row.are_current {
        return Ok(Some(Err(NotAdded::Credentials)));
    }
    let (Some(is_free), Some(ends_at)) = (row.is_free, row.ends_at) else {
        return Ok(None);
    };
    if is_free {
        return Ok(Some(Ok(())));
    }
    if row.is_busy == Some(true) {
        let limit = render.concurrency;
        return Ok(Some(Err(NotAdded::Concurrency { limit })));
    }
    let credits = NotEnoughCredits::NoneFree {
        total: row.total.unwrap_or_default(),
        used: row.used.unwrap_or_default(),
        reserved: row.reserved.unwrap_or_default(),
        ends_at,
    };
    let refusal = of_account_or_key(credits, render.key, row.exceeded_limit, ends_at);
    Ok(Some(Err(NotAdded::Credits(refusal))))
}

/// Returns why a render is not inserted: the key's limit if `exceeded_limit` is given, otherwise the account's credits.
fn of_account_or_key(
    credits: NotEnoughCredits,
    key: Option<ApiKeyId>,
    exceeded_limit: Option<i64>,
    ends_at: OffsetDateTime,
) -> NotEnoughCredits {
    match (key, exceeded_limit) {
        (Some(key), Some(limit)) => NotEnoughCredits::KeyLimitReached { key, limit, ends_at },
        _ => credits,
    }
}

/// Returns the processes other than `except` that have synchronous renders in progress.
pub async fn list_instances(db: &PgPool, except: InstanceId) -> Result<Vec<InstanceId>, StoreError> {
    let instances = sqlx::query_scalar!(
        r#"select distinct instance as "instance!" from renders
         where mode = 'sync' and finished_at is null and instance <> $1"#,
        except.0,
    );
    Ok(instances.fetch_all(db).await?.into_iter().map(InstanceId).collect())
}

/// Ends the synchronous renders of a dead process as failed. Returns their accounts and ids.
pub async fn fail_of_instance(
    db: &mut PgConnection,
    instance: InstanceId,
    error: Value,
    now: OffsetDateTime,
) -> Result<Vec<(AccountId, RenderId)>, StoreError> {
    let ended = sqlx::query!(
        "update renders set status = 'failed', error = $2, finished_at = $3
         where mode = 'sync' and finished_at is null and instance = $1
         returning account_id, id",
        instance.0,
        error,
        now,
    )
    .fetch_all(db)
    .await?;
    let ended = ended
        .into_iter()
        .map(|row| (AccountId(row.account_id), RenderId(row.id)));
    Ok(ended.collect())
}

/// Why a render has no document.
pub enum Ending {
    /// It failed, with the error that the caller received.
    Failed(Value),
    /// It was cancelled.
    Cancelled,
}

/// Properties of a finished document.
pub struct Success {
    title: Option<String>,
    conformance: Option<String>,
    page_count: i32,
    bytes: i64,
    warnings: Value,
}

impl From<&RenderedDocument> for Success {
    fn from(document: &RenderedDocument) -> Self {
        let warnings = document.warnings.iter();
        Self {
            title: document.title.as_deref().map(kept_title),
            conformance: document.conformance_names(),
            page_count: i32::try_from(document.page_count).unwrap_or(i32::MAX),
            bytes: i64::try_from(document.pdf.len()).unwrap_or(i64::MAX),
            warnings: storable(
                warnings
                    .map(|warning| json!({"code": warning.code, "message": warning.message}))
                    .collect(),
            ),
        }
    }
}

/// Ends a render in progress without a document. Returns `false` if it has already ended; then it is unchanged.
pub async fn finish(
    db: &mut PgConnection,
    account: AccountId,
    id: RenderId,
    ending: Ending,
    seen: &Seen,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let phases = phase_times(&seen.phases);
    let (requests, console) = log_with_room(db, account, requests(seen), console(seen)).await?;
    let done = match ending {
        Ending::Failed(error) => {
            sqlx::query!(
                "update renders
                 set status = 'failed', error = $3, finished_at = $4, phase_times = $5, requests = $6,
                     console = case when accounts.keep_content then $7 else '[]'::jsonb end
                 from accounts
                 where accounts.id = $1 and account_id = $1 and renders.id = $2 and finished_at is null",
                account.0,
                id.0,
                storable(error),
                now,
                phases,
                requests,
                console,
            )
            .execute(db)
            .await?
        }
        Ending::Cancelled => {
            sqlx::query!(
                "update renders set status = 'cancelled', finished_at = $3
                 where account_id = $1 and id = $2 and finished_at is null",
                account.0,
                id.0,
                now,
            )
            .execute(db)
            .await?
        }
    };
    Ok(done.rows_affected() == 1)
}

/// Returns the log of a render, or an empty one if the account has no room for it. Renders that end at once may each be
/// granted the same room.
async fn log_with_room(
    db: &mut PgConnection,
    account: AccountId,
    requests: Value,
    console: Value,
) -> Result<(Value, Value), StoreError> {
    let bytes = requests.to_string().len() + console.to_string().len();
    // Most pages request nothing and log nothing.
    if bytes <= 2 * "[]".len() {
        return Ok((requests, console));
    }
    let storage = account_storage::find(db, account).await?;
    Ok(match storage.room_for(StorageResource::RetainedBytes, bytes) {
        Ok(()) => (requests, console),
        Err(_) => (json!([]), json!([])),
    })
}

/// Deletes ended renders of all accounts that were accepted longer ago than the retention of their plans, with
/// everything that belongs to them. Renders whose documents are still stored, or whose outcomes no turn of their batch has recorded yet,
/// are skipped. Deletes up to `at_most` renders, to keep the locks short, and returns how many.
pub async fn delete_old(db: &PgPool, now: OffsetDateTime, at_most: i64) -> Result<u64, StoreError> {
    let done = sqlx::query!(
        "delete from renders where id in (
            select old.id
            from accounts
            join plans on plans.name = accounts.plan
            cross join lateral (
                select renders.id from renders
                where renders.account_id = accounts.id
                    and renders.inserted_at < $1::timestamptz - plans.retention_days * interval '1 day'
                    and renders.finished_at is not null
                    and renders.object_expires_at is null
                    -- A number instead of `not exists`, for which all open rows would be read.
                    and 0 = (
                        select count(*) from batch_rows
                        where batch_rows.render_id = renders.id and batch_rows.state = 'opened'
                    )
                order by renders.inserted_at, renders.id
                limit $2
            ) old
            limit $2
         )",
        now,
        at_most,
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected())
}
