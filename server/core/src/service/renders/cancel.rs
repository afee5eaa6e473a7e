//! Cancellation of asynchronous renders.

use crate::{
    clock,
    service::{
        Services,
        callbacks::WebhookResult,
        metrics::outcome::Outcome,
        renders::{background, deliver::take_back},
    },
    store::{
        error::StoreError,
        jobs,
        renders::{Ending, history},
        tx,
    },
};
use platen_domain::{
    ids::{AccountId, ApiKeyId, RenderId},
    job::JobKind,
    render::history::RenderMode,
};
use platen_engine::render_log::Seen;

/// Error of [`cancel`].
#[derive(Debug, thiserror::Error)]
pub enum CancelError {
    /// The account has no render with this id.
    #[error("there is no such render")]
    NotFound,
    /// The render has ended.
    #[error("the render has ended already")]
    Ended,
    /// The render is synchronous.
    #[error("to cancel a synchronous render, close its connection")]
    Synchronous,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Cancels an asynchronous render, free of charge; with `key`, only if that key requested it. A worker that holds its
/// job stops, and can't record an outcome any more.
pub async fn cancel(
    app: &Services,
    account: AccountId,
    id: RenderId,
    key: Option<ApiKeyId>,
) -> Result<(), CancelError> {
    let now = clock::now();
    let mut transaction = tx::begin(&app.db).await?;
    // Locks in the order in which outcomes are recorded: the job, then the render.
    let was_held = jobs::delete(&mut transaction, account, JobKind::Render, id).await?;
    let render = history::lock(&mut transaction, account, id, key).await?;
    let render = render.ok_or(CancelError::NotFound)?;
    if render.finished {
        return Err(CancelError::Ended);
    }
    if render.synchronous {
        return Err(CancelError::Synchronous);
    }
    let result = WebhookResult::Failure {
        error: "The render was cancelled.".into(),
        result: None,
    };
    let seen = Seen::default();
    background::end(&mut transaction, account, id, Ending::Cancelled, result, &seen, now).await?;
    tx::commit(transaction).await?;
    app.metrics.render_ended(RenderMode::Async, Outcome::Cancelled);
    app.jobs.cancelled(id);
    app.jobs.changed(account, id);
    app.jobs.added(JobKind::Callback);
    // A document whose success could not be recorded is in its store already.
    if let Some(object) = render.object.filter(|_| was_held) {
        take_back(app, object).await;
    }
    Ok(())
}
