//! View `failed_work`: jobs, callbacks, mails, exports and customers that fail, for operators. What is done about them works
//! by ids alone, over all accounts.

pub mod again;
pub mod discarded;

use platen_app::model::admin::failed_work::WorkKind;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::{
        failed_work::{WorkCursor, WorkName},
        ids::{AccountId, RenderId},
        page::PageRequest,
    },
    store::error::StoreError,
};

/// A piece of work that fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedWork {
    /// Which.
    pub name: WorkName,
    /// Whose it is, and what they are called: the account's name, which may be empty, and its owner's address.
    pub account: Option<Customer>,
    /// Of a mail, the word for its kind.
    pub about: Option<String>,
    /// Of a mail, whose server takes it.
    pub receiver: Option<String>,
    /// Why it failed last; nothing: that was not kept.
    pub error: Option<String>,
    /// How often it was tried.
    pub tries: i32,
    /// When it failed last.
    pub failed_at: OffsetDateTime,
    /// When it is tried again.
    pub again_at: Option<OffsetDateTime>,
    /// Whether somebody has it in hand.
    pub in_hand: bool,
}

/// Whose some work is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    /// The account.
    pub id: AccountId,
    /// What it is called; may be empty.
    pub name: String,
    /// Whose it is.
    pub owner: Option<String>,
}

/// A render whose work was treated.
struct RenderOf {
    account_id: Uuid,
    render_id: Uuid,
}

impl RenderOf {
    fn ids(self) -> (AccountId, RenderId) {
        (AccountId(self.account_id), RenderId(self.render_id))
    }
}

/// What is looked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct FailedWorkFilter {
    /// Of this kind.
    pub kind: Option<WorkKind>,
    /// Of this account.
    pub account: Option<AccountId>,
}

/// Work that fails, what failed last first; one more than a page holds.
pub async fn list(
    db: &PgPool,
    filter: FailedWorkFilter,
    page: &PageRequest<WorkCursor>,
) -> Result<Vec<FailedWork>, StoreError> {
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
        filter.kind.map(WorkKind::as_str),
        filter.account.map(|account| account.0),
        after.map(|after| after.failed_at),
        after.map(|after| after.name.kind.as_str()),
        after.map(|after| after.name.id.as_str()),
        page.limit(),
    )
    .fetch_all(db)
    .await?;
    let work = rows.into_iter().filter_map(|row| {
        Some(FailedWork {
            name: WorkName {
                kind: WorkKind::parse(&row.kind)?,
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

/// How much work fails.
pub async fn count(db: &PgPool, filter: FailedWorkFilter) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from failed_work
           where ($1::text is null or kind = $1) and ($2::uuid is null or account_id = $2)"#,
        filter.kind.map(WorkKind::as_str),
        filter.account.map(|account| account.0),
    );
    Ok(count.fetch_one(db).await?)
}

/// The names of what [`list`] shows first.
pub async fn list_names(
    db: &mut PgConnection,
    filter: FailedWorkFilter,
    at_most: u16,
) -> Result<Vec<WorkName>, StoreError> {
    let rows = sqlx::query!(
        r#"select kind as "kind!", id as "id!" from failed_work
           where ($1::text is null or kind = $1) and ($2::uuid is null or account_id = $2)
           order by failed_at desc, kind desc, id desc
           limit $3"#,
        filter.kind.map(WorkKind::as_str),
        filter.account.map(|account| account.0),
        i64::from(at_most),
    )
    .fetch_all(db)
    .await?;
    let names = rows.into_iter().filter_map(|row| {
        Some(WorkName {
            kind: WorkKind::parse(&row.kind)?,
            id: row.id,
        })
    });
    Ok(names.collect())
}
