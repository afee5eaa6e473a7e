//! What is kept for a time only: documents in the service's own storage, and what is known of renders.

use time::{Duration, OffsetDateTime};

use crate::{
    domain::ids::AccountId,
    state::AppState,
    storage::default_storage::DefaultStorageError,
    store::{
        accounts,
        error::StoreError,
        render_contents, render_thumbnails,
        renders::{self, documents, log},
    },
};

/// So long a document stays in the service's own storage.
pub(super) const DOCUMENT_LIFETIME: Duration = Duration::days(14);
/// The content of test renders is deleted within a day, whatever the plan; the purge comes every ten minutes.
const TEST_CONTENT_LIFETIME: Duration = Duration::minutes(24 * 60 - 15);
/// So many rows are looked at or deleted at once, so that nobody has to wait for it.
const BATCH: i64 = 500;

/// Why something is still there.
#[derive(Debug, thiserror::Error)]
pub enum PurgeError {
    /// The service's own storage fails.
    #[error("the documents: {0}")]
    Documents(#[from] DefaultStorageError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Deletes the documents whose time is over, the content of test renders after a day, and content, thumbnails and then the rows of renders that are older than their
/// plans keep them. A row stays as long as its document. Then what accounts do not want kept any more.
pub async fn purge(app: &AppState, now: OffsetDateTime) -> Result<(), PurgeError> {
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
    while renders::delete_old(&app.db, now, BATCH).await? > 0 {}
    for (account, before) in accounts::list_to_forget(&app.db).await? {
        forget(app, account, before).await?;
    }
    Ok(())
}

/// Deletes what was kept of an account's renders until its owner did not want that any more: bodies of requests, pictures,
/// titles, and what consoles said.
async fn forget(app: &AppState, account: AccountId, before: OffsetDateTime) -> Result<(), StoreError> {
    let db = &app.db;
    while render_contents::delete_of_account(db, account, before, BATCH).await? > 0 {}
    while render_thumbnails::delete_of_account(db, account, before, BATCH).await? > 0 {}
    let mut rest = Some(before);
    while let Some(before) = rest {
        rest = log::forget_words(db, account, before, BATCH).await?;
    }
    accounts::update_forgotten(db, account, before).await
}
