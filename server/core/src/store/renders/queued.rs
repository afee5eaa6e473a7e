//! Queued renders, as workers read them.

use std::collections::HashMap;

use platen_domain::{
    credits::NotEnoughCredits,
    encryption::Wrapped,
    ids::{AccountId, ApiKeyId, RenderId},
    job::{JobKind, Priority},
};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    account_storage::AccountStorage,
    error::StoreError,
    render_contents::EncryptedContent,
    renders::{InPeriod, columns::storable, of_account_or_key},
};

/// What a worker needs to execute a render.
#[derive(Debug, Clone)]
pub struct QueuedRender {
    /// False for test keys.
    pub livemode: bool,
    /// The request without its content, with the template versions resolved at acceptance.
    pub options: Value,
    /// Name of the document in the default storage. `None` if the render has a destination.
    pub object: Option<Uuid>,
    /// Credits that it reserves.
    pub reserved: i64,
    /// Maximum number of concurrent renders of the account.
    pub concurrency: usize,
    /// Maximum size of a request body of the account, in bytes.
    pub body_bytes: usize,
    /// Lifetime in seconds of the link to a document in the default storage; `None` if it has a public address.
    pub link_seconds: Option<i32>,
    /// The account's storage when its worker read the render.
    pub storage: AccountStorage,
    /// The encrypted request and the account's data key. `None` if it is too large, or the render has ended in the meantime.
    pub content: Option<(EncryptedContent, Wrapped)>,
    /// Whether the request is left out because of its size.
    pub is_too_large: bool,
}

/// Returns renders in their order; `None` for those that have ended. Requests of more than `most_bytes` are left out.
pub async fn list(
    db: &PgPool,
    renders: &[(AccountId, RenderId)],
    most_bytes: Option<i32>,
) -> Result<Vec<Option<QueuedRender>>, StoreError> {
    let (accounts, ids): (Vec<_>, Vec<_>) = renders.iter().map(|(account, render)| (account.0, render.0)).unzip();
    let rows = sqlx::query!(
        r#"select renders.id, renders.livemode, renders.options, renders.object_id, renders.reserved, limits.concurrency as "concurrency!",
            limits.body_bytes as "body_bytes!", limits.storage_limits as "storage_limits!", storage.used as "used!",
            content.version as "version?", octet_length(content.sealed) > $3 as is_too_large,
            case when octet_length(content.sealed) > $3 then null else content.sealed end as sealed,
            data_key.secret_key_id as "secret_key_id?", data_key.wrapped_key as "wrapped_key?", limits.link_seconds
         from unnest($1::uuid[], $2::uuid[]) as wanted (account_id, id)
         join renders on renders.account_id = wanted.account_id and renders.id = wanted.id
         join account_limits limits on limits.account_id = renders.account_id
         join account_storage storage on storage.account_id = renders.account_id
         left join account_keys data_key on data_key.account_id = renders.account_id
         left join render_contents content on content.account_id = renders.account_id and content.render_id = renders.id
         where renders.finished_at is null"#,
        &accounts,
        &ids,
        most_bytes,
    );
    let rows = rows.fetch_all(db).await?.into_iter().map(|row| {
        let sealed = row
            .version
            .zip(row.sealed)
            .map(|(version, sealed)| EncryptedContent { version, sealed });
        let data_key = row.secret_key_id.zip(row.wrapped_key);
        let data_key = data_key.map(|(secret_key_id, sealed)| Wrapped { secret_key_id, sealed });
        let render = QueuedRender {
            livemode: row.livemode,
            options: row.options,
            object: row.object_id,
            reserved: row.reserved.into(),
            concurrency: row.concurrency.unsigned_abs() as usize,
            body_bytes: row.body_bytes.unsigned_abs() as usize,
            link_seconds: row.link_seconds,
            storage: AccountStorage {
                used: row.used,
                limits: row.storage_limits,
            },
            content: sealed.zip(data_key),
            is_too_large: row.is_too_large == Some(true),
        };
        (row.id, render)
    });
    let rows: HashMap<_, _> = rows.collect();
    // A render may be looked up twice at once, after a lost claim.
    Ok(renders.iter().map(|(_, render)| rows.get(&render.0).cloned()).collect())
}

/// A queued render to be inserted.
pub struct NewQueuedRender {
    pub id: RenderId,
    /// Name of the document in the default storage. `None` if the render has a destination.
    pub object: Option<Uuid>,
    /// The request without its content.
    pub options: Value,
    pub request: EncryptedRequest,
}

/// The encrypted parts of a request.
pub struct EncryptedRequest {
    pub content: EncryptedContent,
    /// The target of its webhook.
    pub callback: Option<Vec<u8>>,
}

/// What renders that are inserted together have in common.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    /// The key that requested them; `None` if a logged-in user did.
    pub key: Option<ApiKeyId>,
    /// False for test keys.
    pub livemode: bool,
    pub priority: Priority,
}

/// Why renders were not inserted.
pub struct NotQueued {
    /// The number of renders that would have been inserted.
    pub allowed: usize,
    pub refusal: NotEnoughCredits,
}

/// Inserts renders of an account with their requests, webhooks and jobs. Live renders reserve a credit each. `db` must be a transaction,
/// which is rolled back if the account or the key has credits for fewer. A repetition in the same transaction is harmless.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    origin: Origin,
    renders: &[&NewQueuedRender],
    now: OffsetDateTime,
) -> Result<InPeriod<Result<(), NotQueued>>, StoreError> {
    let (mut ids, mut objects, mut options) = (Vec::new(), Vec::new(), Vec::new());
    let (mut versions, mut sealed, mut callbacks) = (Vec::new(), Vec::new(), Vec::new());
    let (mut webhook_ids, mut job_ids) = (Vec::new(), Vec::new());
    for render in renders {
        ids.push(render.id.0);
        objects.push(render.object);
        options.push(storable(render.options.clone()));
        versions.push(render.request.content.version);
        sealed.push(render.request.content.sealed.as_slice());
        callbacks.push(render.request.callback.as_deref());
        webhook_ids.push(Uuid::now_v7());
        job_ids.push(Uuid::now_v7());
    }
    let decision = sqlx::query!(
        r#"with new as materialized (
               select *
               from unnest(
                   $5::uuid[], $6::uuid[], $7::jsonb[], $8::smallint[], $9::bytea[], $10::bytea[], $11::uuid[], $12::uuid[]
               ) as new (id, object_id, options, version, sealed, callback, webhook_id, job_id)
           ), contents as (
               -- Large rows first: a decision about credits blocks the account's other renders until the commit.
               insert into render_contents (render_id, account_id, version, sealed)
               select id, $1, version, sealed from new
               on conflict on constraint render_contents_pkey do update set version = excluded.version
               returning render_id
           ), decision as materialized (
               -- Refers to the contents, so that they are written before it is called.
               select stored.renders, decided.*
               from (select count(*)::integer as renders from contents) stored,
                   may_open_renders($1, $2, $3, $4, stored.renders) decided
           ), allowed as materialized (
               select new.*, counter_id from new, decision where allowed >= decision.renders
           ), opened as (
               insert into renders
                   (id, account_id, api_key_id, mode, status, livemode, options, inserted_at, object_id, credit_counter_id)
               select id, $1, $2, 'async', 'queued', $3, options, $4, object_id, counter_id from allowed
           ), targets as (
               insert into callbacks (render_id, account_id, webhook_id, sealed_target, state)
               select id, $1, webhook_id, callback, 'waiting' from allowed where callback is not null
           ), queued as (
               insert into jobs (id, account_id, kind, render_id, priority, run_at, due)
               select job_id, $1, $13, id, $14, now(), true from allowed
           )
           select allowed as "allowed!", total_credits as "total!", used_credits as "used!", reserved as "reserved!",
               period_ends_at as "ends_at!", exceeded_limit
           from decision"#,
        account.0,
        origin.key.map(|key| key.0),
        origin.livemode,
        now,
        &ids,
        &objects as &[Option<Uuid>],
        &options,
        &versions,
        &sealed as &[&[u8]],
        &callbacks as &[Option<&[u8]>],
        &webhook_ids,
        &job_ids,
        JobKind::Render.into_str(),
        origin.priority as i16,
    );
    let Some(row) = decision.fetch_optional(db).await? else {
        return Ok(None);
    };
    let allowed = usize::try_from(row.allowed).unwrap_or_default();
    if allowed >= renders.len() {
        return Ok(Some(Ok(())));
    }
    let credits = NotEnoughCredits::NoneFree {
        total: row.total,
        used: row.used,
        reserved: row.reserved,
        ends_at: row.ends_at,
    };
    let refusal = of_account_or_key(credits, origin.key, row.exceeded_limit, row.ends_at);
    Ok(Some(Err(NotQueued { allowed, refusal })))
}
