//! View `failed_work`: failed jobs, and webhook deliveries that were given up, for operators. Functions that retry or
//! discard them take only names, and apply to all accounts.

pub mod again;
pub mod discarded;

use platen_domain::{
    failed_jobs::{Customer, FailedJob, FailedJobFilter, WorkCursor, WorkName},
    ids::AccountId,
    job::JobKind,
    page::PageRequest,
};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::store::error::StoreError;

/// A failed job that was retried or discarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreatedJob {
    pub name: WorkName,
    pub account: Option<AccountId>,
}

impl TreatedJob {
    fn of(kind: JobKind, account: Uuid, id: Uuid) -> Self {
        Self {
            name: WorkName {
                kind,
                id: id.to_string(),
            },
            account: Some(AccountId(account)),
        }
    }
}

/// Returns the ids of the named subjects of a kind, except those that can't be parsed.
pub fn ids_of<'a>(kind: JobKind, names: impl IntoIterator<Item = &'a WorkName>) -> Vec<Uuid> {
    let of_kind = names.into_iter().filter(|name| name.kind == kind);
    of_kind.filter_map(|name| name.id.parse().ok()).collect()
}

/// Locks the named jobs that have failed and that no worker holds. Returns their ids and names.
async fn lock(db: &mut PgConnection, names: &[WorkName]) -> Result<(Vec<Uuid>, Vec<TreatedJob>), StoreError> {
    let (kinds, ids): (Vec<_>, Vec<_>) = names
        .iter()
        .map(|name| (name.kind.into_str(), name.id.as_str()))
        .unzip();
    // Skips locked jobs rather than wait for them: other transactions lock jobs in another order.
    let locked = sqlx::query!(
        r#"select id, kind, job_subject(jobs) as "subject!",
               coalesce(account_id, (select account_id from exports where exports.id = export_id)) as account_id
           from jobs
           where failed_at is not null and claim is null
               and (kind, job_subject(jobs)) in (select * from unnest($1::text[], $2::text[]))
           for update skip locked"#,
        &kinds as &[&str],
        &ids as &[&str],
    );
    let locked = locked.fetch_all(db).await?.into_iter().filter_map(|row| {
        let name = WorkName {
            kind: row.kind.parse().ok()?,
            id: row.subject,
        };
        let account = row.account_id.map(AccountId);
        Some((row.id, TreatedJob { name, account }))
    });
    Ok(locked.unzip())
}

/// Returns failed work, most recently failed first: one more than the page's size, to detect further pages.
pub async fn list(
    db: &PgPool,
    filter: FailedJobFilter,
    page: &PageRequest<WorkCursor>,
) -> Result<Vec<FailedJob>, StoreError> {
    let after = page.after.as_ref();
    let rows = sqlx::query!(
        r#"select failed.kind as "kind!", failed.id as "id!", failed.account_id, about, receiver, error, tries as "tries!",
               failed_at as "failed_at!", again_at, in_hand as "in_hand!", accounts.name as "name?", users.email as "owner?"
           from failed_work failed
           left join accounts on accounts.id = failed.account_id
           left join members on members.account_id = failed.account_id and members.role = 'owner'
           left join users on users.id = members.user_id
           where ($1::text is null or failed.kind = $1) and ($2::uuid is null or failed.account_id = $2)
               and ($3::timestamptz is null or (failed_at, failed.kind, failed.id) < ($3, $4, $5))
           order by failed_at desc, failed.kind desc, failed.id desc
           limit $6"#,
        filter.kind.map(|kind| kind.into_str()),
        filter.account.map(|account| account.0),
        after.map(|after| after.failed_at),
        after.map(|after| after.name.kind.into_str()),
        after.map(|after| after.name.id.as_str()),
        page.limit(),
    )
    .fetch_all(db)
    .await?;
    let work = rows.into_iter().filter_map(|row| {
        Some(FailedJob {
            name: WorkName {
                kind: row.kind.parse().ok()?,
                id: row.id,
            },
            account: row.account_id.map(|id| Customer {
                id: AccountId(id),
                name: row.name.unwrap_or_default(),
                owner: row.owner,
            }),
            about: row.about,
            receiver: row.receiver,
            error: row.error,
            tries: row.tries,
            failed_at: row.failed_at,
            again_at: row.again_at,
            in_hand: row.in_hand,
        })
    });
    Ok(work.collect())
}

/// Counts failed work.
pub async fn count(db: &PgPool, filter: FailedJobFilter) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from failed_work
           where ($1::text is null or kind = $1) and ($2::uuid is null or account_id = $2)"#,
        filter.kind.map(|kind| kind.into_str()),
        filter.account.map(|account| account.0),
    );
    Ok(count.fetch_one(db).await?)
}

/// Returns the names of the first `at_most` entries of [`list`].
pub async fn list_names(
    db: &mut PgConnection,
    filter: FailedJobFilter,
    at_most: u16,
) -> Result<Vec<WorkName>, StoreError> {
    let rows = sqlx::query!(
        r#"select kind as "kind!", id as "id!" from failed_work
           where ($1::text is null or kind = $1) and ($2::uuid is null or account_id = $2)
           order by failed_at desc, kind desc, id desc
           limit $3"#,
        filter.kind.map(|kind| kind.into_str()),
        filter.account.map(|account| account.0),
        i64::from(at_most),
    )
    .fetch_all(db)
    .await?;
    let names = rows.into_iter().filter_map(|row| {
        Some(WorkName {
            kind: row.kind.parse().ok()?,
            id: row.id,
        })
    });
    Ok(names.collect())
}
