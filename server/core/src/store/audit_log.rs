//! Table `audit_log`: the operator audit log. Events are added to a chain of digests that the database maintains; it
//! rejects all other changes.

use data_encoding::HEXLOWER;
use platen_domain::{
    audit_log::{AuditActor, AuditEntry, AuditEvent, AuditFilter, AuditRow},
    ids::AccountId,
    page::PageRequest,
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{accounts, error::StoreError};

/// Records an audit event. Must be the last statement of its transaction, because all other writers wait until that
/// ends.
pub async fn insert(
    db: &mut PgConnection,
    actor: &AuditActor,
    about: Option<AccountId>,
    event: AuditEvent,
    reason: &str,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let account_name = match about {
        Some(account) => accounts::find_called(&mut *db, account).await?,
        None => None,
    };
    insert_named(db, actor, about, account_name, event, reason, now).await
}

/// Like [`insert`], for an account that no longer exists.
pub async fn insert_named(
    db: &mut PgConnection,
    actor: &AuditActor,
    about: Option<AccountId>,
    account_name: Option<String>,
    event: AuditEvent,
    reason: &str,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let entry = AuditEntry {
        at_ms: i64::try_from(now.unix_timestamp_nanos() / 1_000_000).unwrap_or_default(),
        by: actor.clone(),
        account: about,
        account_name,
        event: Some(event),
        reason: reason.to_owned(),
    };
    let entry = serde_json::to_string(&entry).map_err(|error| StoreError(sqlx::Error::Encode(Box::new(error))))?;
    let written = sqlx::query!(
        "insert into audit_log (entry) values ($1::text::json) returning number, digest",
        entry
    );
    let written = written.fetch_one(db).await?;
    // Logs that are shipped elsewhere become a witness: a chain that was rebuilt has different digests.
    tracing::info!(number = written.number, digest = %HEXLOWER.encode(&written.digest), "audit log");
    Ok(())
}

/// Returns up to `most` events that concern an account, newest first.
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

/// Returns events, newest first: one more than the page's size, to detect further pages.
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

/// Returns number and digest of the last row, if any.
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

/// A row with its links in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Position in the chain, from 1.
    pub number: i64,
    /// The event as digested, verbatim.
    pub entry: String,
    /// Digest of the previous row, as recorded in this one.
    pub previous: Vec<u8>,
    /// Digest of this row, as recorded.
    pub digest: Vec<u8>,
}

/// Returns up to `most` rows after number `after`, in order.
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
