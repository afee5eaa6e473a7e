//! Table `audit_log`: what operators and the service did. Rows are added, in a chain that the database makes; it refuses
//! anything else.

use data_encoding::HEXLOWER;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    domain::{
        audit_log::{AuditDeed, AuditDoer, AuditEntry},
        ids::AccountId,
        page::PageRequest,
    },
    store::{accounts, error::StoreError},
};

/// Writes down what was done, as the last statement of the transaction that does it: from here on all others who write wait
/// until it has ended.
pub async fn insert(
    db: &mut PgConnection,
    doer: &AuditDoer,
    about: Option<AccountId>,
    deed: AuditDeed,
    reason: &str,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let account_name = match about {
        Some(account) => accounts::find_called(&mut *db, account).await?,
        None => None,
    };
    insert_named(db, doer, about, account_name, deed, reason, now).await
}

/// As [`insert`], about an account that is not there any more.
pub async fn insert_named(
    db: &mut PgConnection,
    doer: &AuditDoer,
    about: Option<AccountId>,
    account_name: Option<String>,
    deed: AuditDeed,
    reason: &str,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let entry = AuditEntry {
        at_ms: i64::try_from(now.unix_timestamp_nanos() / 1_000_000).unwrap_or_default(),
        by: doer.clone(),
        account: about,
        account_name,
        deed: Some(deed),
        reason: reason.to_owned(),
    };
    let entry = serde_json::to_string(&entry).map_err(|error| StoreError(sqlx::Error::Encode(Box::new(error))))?;
    let written = sqlx::query!(
        "insert into audit_log (entry) values ($1::text::json) returning number, digest",
        entry
    );
    let written = written.fetch_one(db).await?;
    // Whoever keeps the log elsewhere has a witness: a chain that was made anew has other digests.
    tracing::info!(number = written.number, digest = %HEXLOWER.encode(&written.digest), "audit log");
    Ok(())
}

/// A row of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Its place in the chain, from 1.
    pub number: i64,
    /// When.
    pub happened_at: OffsetDateTime,
    /// The word for the kind of deed.
    pub kind: String,
    /// What was written down.
    pub entry: AuditEntry,
}

impl AuditRow {
    /// What was done, for people.
    pub fn what(&self) -> String {
        let deed = self.entry.deed.as_ref();
        deed.map_or_else(|| self.kind.clone(), AuditDeed::sentence)
    }
}

/// What was done to an account lately, the latest first.
pub async fn list_of_account(db: &PgPool, account: AccountId, most: i64) -> Result<Vec<AuditRow>, StoreError> {
    let rows = sqlx::query!(
        r#"select number, happened_at as "happened_at!", kind as "kind!", entry::text as "entry!" from audit_log
           where account_id = $1 order by number desc limit $2"#,
        account.0,
        most,
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    rows.map(|row| read(row.number, row.happened_at, row.kind, &row.entry))
        .collect()
}

/// What is looked for in the log. What is not given does not matter.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// A pattern for what stands in an entry of account, doer and reason.
    pub text: Option<String>,
    /// The word for a kind of deed.
    pub kind: Option<String>,
    /// Not earlier.
    pub from: Option<OffsetDateTime>,
    /// Earlier.
    pub before: Option<OffsetDateTime>,
}

/// What was done, the latest first; one more than a page holds.
pub async fn list(db: &PgPool, filter: &AuditFilter, page: PageRequest<i64>) -> Result<Vec<AuditRow>, StoreError> {
    let rows = sqlx::query!(
        r#"select number, happened_at as "happened_at!", kind as "kind!", entry::text as "entry!" from audit_log
           where ($1::text is null or concat_ws(
                   ' ', entry ->> 'account_name', entry ->> 'account', entry -> 'by' ->> 'email',
                   replace(entry -> 'by' ->> 'is', '_', ' '), entry ->> 'reason'
               ) ilike $1)
               and ($2::text is null or kind = $2)
               and ($3::timestamptz is null or happened_at >= $3) and ($4::timestamptz is null or happened_at < $4)
               and ($5::bigint is null or number < $5)
           order by number desc
           limit $6"#,
        filter.text,
        filter.kind,
        filter.from,
        filter.before,
        page.after,
        page.limit(),
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    rows.map(|row| read(row.number, row.happened_at, row.kind, &row.entry))
        .collect()
}

/// The number and the digest of the last row, if there is one.
pub async fn find_end(db: &PgPool) -> Result<Option<(i64, Vec<u8>)>, StoreError> {
    let end = sqlx::query!("select number, digest from audit_log order by number desc limit 1");
    Ok(end.fetch_optional(db).await?.map(|row| (row.number, row.digest)))
}

fn read(number: i64, happened_at: OffsetDateTime, kind: String, entry: &str) -> Result<AuditRow, StoreError> {
    let entry = serde_json::from_str(entry).map_err(|error| StoreError(sqlx::Error::Decode(Box::new(error))))?;
    Ok(AuditRow {
        number,
        happened_at,
        kind,
        entry,
    })
}

/// A row as it is chained to the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its place in the chain, from 1.
    pub number: i64,
    /// Word for word what is digested.
    pub entry: String,
    /// What the row says of the one before.
    pub previous: Vec<u8>,
    /// What it says of itself.
    pub digest: Vec<u8>,
}

/// The rows after a number, in their order.
pub async fn list_links(db: &PgPool, after: i64, most: i64) -> Result<Vec<Link>, StoreError> {
    let links = sqlx::query_as!(
        Link,
        r#"select number, entry::text as "entry!", previous, digest from audit_log
           where number > $1 order by number limit $2"#,
        after,
        most,
    );
    Ok(links.fetch_all(db).await?)
}
