//! The row of a synchronous render, from its acceptance to its end. It reserves a credit while it is open.

use std::{sync::Arc, time::Duration};

use platen_domain::{
    credits::{self, Meter},
    idempotency::IdempotentRequest,
    ids::{AccountId, RenderId},
    render::{
        history::RenderMode,
        idempotent_response::{Facts, IdempotentResponse},
    },
    storage::StorageResource,
};
use platen_engine::{job::RenderedDocument, render_log::RenderLog};
use sqlx::PgConnection;
use time::OffsetDateTime;
use tokio::{runtime::Handle, task::JoinHandle};
use tracing::Instrument;

use crate::{
    clock,
    service::{
        Services,
        metrics::outcome::Outcome,
        renders::{
            accessibility,
            charge::{open, record_success},
            contents::SentBody,
            failure::FailureReason,
            idempotent_responses::{self, ContentError, KeyHolder, take_key},
            thumbnails::{self, PagesToDraw},
        },
    },
    store::{
        account_storage,
        error::StoreError,
        idempotency_keys::{self, StoredResponse},
        renders::{
            self, Ending, NewRender, Success,
            charges::{Bill, Completion},
        },
        tx,
    },
};

/// Delay between attempts to end a row after the database failed.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// An open row. It is written by separate tasks, so that a disconnecting caller ends the render but not its recording.
/// Dropping it records the render as cancelled. Either way, the request is then offered for storage.
pub(super) struct OpenRecord {
    runtime: Handle,
    row: Row,
    body: Arc<SentBody>,
    open: bool,
}

#[derive(Clone)]
struct Row {
    app: Services,
    account: AccountId,
    id: RenderId,
    livemode: bool,
    /// Whether the outcome is stored for repeated requests.
    idempotent: bool,
    log: RenderLog,
}

impl OpenRecord {
    /// Opens the row, claims its idempotency key, and reserves a credit unless the key is a test key. Fails if any of
    /// them is refused. `log` is recorded with the outcome.
    pub(super) async fn begin(
        app: &Services,
        account: AccountId,
        new: NewRender,
        body: Arc<SentBody>,
        idempotent: Option<IdempotentRequest>,
        log: RenderLog,
    ) -> Result<Self, FailureReason> {
        let row = Row {
            app: app.clone(),
            account,
            id: new.id,
            livemode: new.livemode,
            idempotent: idempotent.is_some(),
            log,
        };
        // If the caller is gone when the record is opened, dropping the record cancels the render.
        let opening = async move {
            row.insert(new, idempotent.as_ref()).await?;
            row.app.jobs.changed(row.account, row.id);
            Ok(Self {
                runtime: Handle::current(),
                row,
                body,
                open: true,
            })
        };
        tokio::spawn(opening.in_current_span()).await?
    }

    /// Records the document and charges for it, or records a failure if it can't be paid for. Returns the document and
    /// the credits charged.
    pub(super) async fn succeed(mut self, document: RenderedDocument) -> Result<IdempotentResponse, FailureReason> {
        let row = self.close();
        self.spawn(async move {
            let recorded = row.succeed(document).await;
            row.count(
                recorded
                    .as_ref()
                    .map_or_else(FailureReason::counted, |_| Outcome::Succeeded),
            );
            row.end_later_if_lost(recorded.as_ref().err());
            recorded
        })
        .await?
    }

    /// Records a failure. Returns its reason, or the reason why it could not be recorded.
    pub(super) async fn fail(mut self, reason: FailureReason) -> FailureReason {
        let row = self.close();
        let recorded = self.spawn(async move {
            let ended = row.fail(&reason).await;
            row.end_later_if_lost(ended.as_ref().err());
            let reason = ended.err().unwrap_or(reason);
            row.count(reason.counted());
            reason
        });
        recorded.await.unwrap_or_else(Into::into)
    }

    fn close(&mut self) -> Row {
        self.open = false;
        self.row.clone()
    }

    fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.runtime.spawn(work.in_current_span())
    }
}

impl Drop for OpenRecord {
    fn drop(&mut self) {
        if self.open {
            tracing::info!("cancelled: the client disconnected");
            let row = self.close();
            self.spawn(async move {
                let ended = row.end(Ending::Cancelled, None).await;
                row.end_later_if_lost(ended.as_ref().err());
                row.count(Outcome::Cancelled);
            });
        }
        let Row { app, account, id, .. } = &self.row;
        app.contents.offer(*account, *id, Arc::clone(&self.body));
    }
}

impl Row {
    async fn insert(&self, new: NewRender, idempotent: Option<&IdempotentRequest>) -> Result<(), FailureReason> {
        let now = clock::now();
        let Some(request) = idempotent else {
            let mut db = self.app.db.acquire().await.map_err(StoreError::from)?;
            return open(&mut db, self.account, &new, now).await;
        };
        let mut transaction = tx::begin_volatile(&self.app.db).await?;
        let storage = account_storage::find(&mut *transaction, self.account).await?;
        storage.room_for(StorageResource::ResponseBytes, 1)?;
        self.take_key(&mut transaction, request, now).await?;
        open(&mut transaction, self.account, &new, now).await?;
        Ok(tx::commit(transaction).await?)
    }

    async fn take_key(
        &self,
        db: &mut PgConnection,
        request: &IdempotentRequest,
        now: OffsetDateTime,
    ) -> Result<(), FailureReason> {
        match take_key(db, self.account, request, self.id, now).await? {
            KeyHolder::ThisRender => Ok(()),
            KeyHolder::OtherRequest => Err(FailureReason::KeyOfOtherRequest),
            // In progress, or ended since the lookup: a retry finds the outcome.
            KeyHolder::SameRequest(_) => Err(FailureReason::KeyInUse),
        }
    }

    async fn succeed(&self, document: RenderedDocument) -> Result<IdempotentResponse, FailureReason> {
        let price = credits::price(document.page_count);
        let success = Success::from(&document);
        let report = accessibility::report(&document);
        let facts = Facts {
            conformance: document.conformance_names(),
            title: document.title,
            page_count: document.page_count,
            credits: if self.livemode { price } else { 0 },
        };
        let (outcome, response) = self
            .store(IdempotentResponse::Document(facts, document.pdf.into()))
            .await?;
        self.charge(success, price, response).await?;
        self.app.accessibility_reports.offer(self.account, self.id, &report);
        if let IdempotentResponse::Document(_, pdf) = &outcome {
            let wanted = PagesToDraw::of(document.page_count, report.is_notable());
            thumbnails::offer(&self.app, self.account, self.id, wanted, pdf.clone());
        }
        Ok(outcome)
    }

    async fn fail(&self, reason: &FailureReason) -> Result<(), FailureReason> {
        let ending = || Ending::Failed(reason.to_error());
        if let Some(problems) = reason.caller_problems().filter(|_| self.idempotent) {
            let refusal = IdempotentResponse::Refused(problems);
            let stored = match self.write(refusal).await {
                Ok((_, response)) => self.end(ending(), Some(response)).await,
                Err(error) => Err(error.into()),
            };
            if stored.is_err() {
                idempotent_responses::discard(&self.app, self.account, self.id).await;
            }
            // Without room for the response, the key is released: the same request would fail alike.
            if !matches!(stored, Err(FailureReason::StorageFull(_))) {
                return stored;
            }
        }
        self.end(ending(), None).await
    }

    /// Stores the outcome of an idempotent request before it is recorded.
    async fn store(
        &self,
        outcome: IdempotentResponse,
    ) -> Result<(IdempotentResponse, Option<StoredResponse>), FailureReason> {
        if !self.idempotent {
            return Ok((outcome, None));
        }
        match self.write(outcome).await {
            Ok((outcome, response)) => Ok((outcome, Some(response))),
            Err(error) => {
                let reason = FailureReason::from(error);
                self.end(Ending::Failed(reason.to_error()), None).await?;
                Err(reason)
            }
        }
    }

    async fn write(&self, outcome: IdempotentResponse) -> Result<(IdempotentResponse, StoredResponse), ContentError> {
        idempotent_responses::write(&self.app, self.account, self.id, outcome, clock::now()).await
    }

    /// Charges for the document, or ends the render as failed if it can't be paid for or its response can't be stored.
    async fn charge(
        &self,
        success: Success,
        price: i64,
        response: Option<StoredResponse>,
    ) -> Result<(), FailureReason> {
        let completion = Completion {
            bill: Bill {
                render: self.id,
                livemode: self.livemode,
                meter: Meter::SyncRender,
                price,
            },
            success,
            seen: self.log.seen(),
            queued: None,
        };
        let charged = record_success(&self.app, self.account, &completion, response).await;
        if let Err(reason @ (FailureReason::Credits(_) | FailureReason::StorageFull(_))) = &charged {
            self.end(Ending::Failed(reason.to_error()), None).await?;
        }
        if charged.is_err() && response.is_some() {
            idempotent_responses::discard(&self.app, self.account, self.id).await;
        }
        charged
    }

    fn count(&self, outcome: Outcome) {
        self.app.metrics.render_ended(RenderMode::Sync, outcome);
    }

    async fn end(&self, ending: Ending, response: Option<StoredResponse>) -> Result<(), FailureReason> {
        let mut transaction = tx::begin(&self.app.db).await?;
        let seen = self.log.seen();
        if renders::finish(&mut transaction, self.account, self.id, ending, &seen, clock::now()).await?
            && let Some(response) = response
        {
            idempotency_keys::set_response(&mut transaction, self.account, self.id, response).await?;
        }
        tx::commit(transaction).await?;
        self.app.jobs.changed(self.account, self.id);
        Ok(())
    }

    /// Ends the row once the database is available again, if it failed. Otherwise the row would reserve a credit until
    /// this process ends.
    fn end_later_if_lost(&self, error: Option<&FailureReason>) {
        let Some(reason @ FailureReason::Store(_)) = error else {
            return;
        };
        let (row, error) = (self.clone(), reason.to_error());
        let ending = async move {
            loop {
                tokio::time::sleep(TRY_AGAIN).await;
                if row.end(Ending::Failed(error.clone()), None).await.is_ok() {
                    return;
                }
            }
        };
        tokio::spawn(ending.in_current_span());
    }
}
