//! Retention of documents in the default storage, and of renders' content and rows.

use platen_domain::ids::AccountId;
use time::{Duration, OffsetDateTime};

use crate::{
    service::{Services, batches},
    storage::default_storage::DefaultStorageError,
    store::{
        self, accessibility_reports, accounts,
        error::StoreError,
        render_contents, render_thumbnails,
        renders::{self, documents, log},
    },
};

/// Retention of documents in the default storage.
pub(super) const DOCUMENT_LIFETIME: Duration = Duration::days(14);
/// Retention of the content of test renders on every plan: less than a day, because the purge runs every ten minutes.
pub(in crate::service) const TEST_CONTENT_LIFETIME: Duration = Duration::minutes(24 * 60 - 15);
/// Rows that one statement reads or deletes, so that it doesn't block others for long.
const BATCH: i64 = 500;

/// Error of [`purge`].
#[derive(Debug, thiserror::Error)]
pub enum PurgeError {
    /// The default storage failed.
    #[error("documents: {0}")]
    Documents(#[from] DefaultStorageError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Deletes expired documents, the content of test renders after a day, and content, thumbnails, reports and then rows of
/// renders past their plan's retention, and batches. A row remains as long as its document. Cancels batches that have taken too long. Then
/// deletes what accounts no longer want stored.
pub async fn purge(app: &Services, now: OffsetDateTime) -> Result<(), PurgeError> {
    loop {
        let expired = documents::list_expired_objects(&app.db, now, BATCH).await?;
        if expired.is_empty() {
            break;
        }
        let (renders, objects): (Vec<_>, Vec<_>) =
            expired.iter().map(|expired| (expired.render, expired.object)).unzip();
        app.documents.remove(objects).await?;
        documents::forget_objects(&app.db, &renders).await?;
    }
    app.documents
        .remove_forgotten(now - DOCUMENT_LIFETIME - Duration::HOUR)
        .await?;
    while log::delete_test_content(&app.db, now - TEST_CONTENT_LIFETIME, BATCH).await? > 0 {}
    while render_contents::delete_old(&app.db, now, BATCH).await? > 0 {}
    while render_thumbnails::delete_old(&app.db, now, BATCH).await? > 0 {}
    while accessibility_reports::delete_old(&app.db, now, BATCH).await? > 0 {}
    batches::purge(app, now).await?;
    while renders::delete_old(&app.db, now, BATCH).await? > 0 {}
    for (account, before) in accounts::list_to_forget(&app.db).await? {
        forget(app, account, before).await?;
    }
    Ok(())
}

/// Deletes the stored content of an account's renders from before its owner disabled storing it: request bodies,
/// thumbnails, accessibility reports, rows of batches, titles and console messages.
async fn forget(app: &Services, account: AccountId, before: OffsetDateTime) -> Result<(), StoreError> {
    let db = &app.db;
    while render_contents::delete_of_account(db, account, before, BATCH).await? > 0 {}
    while render_thumbnails::delete_of_account(db, account, before, BATCH).await? > 0 {}
    while accessibility_reports::delete_of_account(db, account, before, BATCH).await? > 0 {}
    while store::batches::discard_ended(db, account, before).await? {}
    let mut rest = Some(before);
    while let Some(before) = rest {
        rest = log::forget_words(db, account, before, BATCH).await?;
    }
    accounts::update_forgotten(db, account, before).await
}
