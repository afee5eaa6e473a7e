//! The row of a render, from its acceptance to its end. It reserves a credit as long as it is open.

use platen_engine::job::RenderedDocument;
use sqlx::PgPool;
use tokio::{runtime::Handle, task::JoinHandle};
use tracing::Instrument;

use crate::{
    clock,
    domain::{
        credits::{self, Meter},
        ids::{AccountId, RenderId},
    },
    service::{
        credits::lock_balance,
        renders::{FailureReason, told},
    },
    store::{
        credits as periods,
        renders::{self, Ending, NewRender, Success},
        tx,
        usage::{self, Usage},
    },
};

/// A row under way. What is written runs in tasks of its own: a caller who hangs up ends the render, never its record.
pub(super) struct OpenRecord {
    runtime: Handle,
    row: Row,
    open: bool,
}

#[derive(Clone)]
struct Row {
    db: PgPool,
    account: AccountId,
    id: RenderId,
    livemode: bool,
}

impl OpenRecord {
    /// Opens the row. Of a live render it reserves a credit, or is refused; test keys need none.
    pub(super) async fn begin(db: &PgPool, account: AccountId, new: NewRender) -> Result<Self, FailureReason> {
        let row = Row {
            db: db.clone(),
            account,
            id: new.id,
            livemode: new.livemode,
        };
        // If nobody waits for the record any more when it is there, its own end cancels it.
        let opening = async move {
            row.insert(new).await?;
            Ok(Self {
                runtime: Handle::current(),
                row,
                open: true,
            })
        };
        tokio::spawn(opening.in_current_span()).await?
    }

    /// Records the document and charges for it, or ends as failed if it can't be paid for. Returns what was charged.
    pub(super) async fn succeed(mut self, document: &RenderedDocument) -> Result<i64, FailureReason> {
        let price = credits::price(document.page_count);
        let success = Success::from(document);
        let row = self.close();
        self.spawn(async move { row.charge(success, price).await }).await?
    }

    /// Records why there is no document. Returns the reason, or why it could not be recorded.
    pub(super) async fn fail(mut self, reason: FailureReason) -> FailureReason {
        let told = told(&reason);
        let row = self.close();
        let recorded = self.spawn(async move { row.end(Ending::Failed(told)).await }).await;
        match recorded {
            Ok(Ok(())) => reason,
            Ok(Err(error)) => error,
            Err(error) => error.into(),
        }
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
            tracing::info!("cancelled: the client hung up");
            let row = self.close();
            self.spawn(async move { row.end(Ending::Cancelled).await });
        }
    }
}

impl Row {
    async fn insert(&self, new: NewRender) -> Result<(), FailureReason> {
        let now = clock::now();
        let mut transaction = tx::begin_volatile(&self.db).await?;
        if self.livemode {
            let balance = lock_balance(&mut transaction, self.account, now).await?;
            // Whoever adds a reservation holds the lock, so that all of them are seen here.
            balance.reserve(renders::count_under_way(&mut transaction, self.account, self.id).await?)?;
        }
        renders::insert(&mut transaction, self.account, new, now).await?;
        Ok(tx::commit(transaction).await?)
    }

    async fn charge(&self, success: Success, price: i64) -> Result<i64, FailureReason> {
        let now = clock::now();
        let mut transaction = tx::begin(&self.db).await?;
        let balance = lock_balance(&mut transaction, self.account, now).await?;
        let credits = if self.livemode { price } else { 0 };
        if self.livemode {
            let reserved = renders::count_under_way(&mut transaction, self.account, self.id).await?;
            if let Err(refusal) = balance.pay(price, reserved) {
                drop(transaction);
                let reason = FailureReason::from(refusal);
                self.end(Ending::Failed(told(&reason))).await?;
                return Err(reason);
            }
            periods::charge(&mut transaction, self.account, balance.period, credits).await?;
        }
        let used = Usage {
            meter: Meter::SyncRender,
            livemode: self.livemode,
            day: now.date(),
            credits: price,
        };
        usage::add(&mut transaction, self.account, balance.period, used).await?;
        let ending = Ending::Succeeded { success, credits };
        if !renders::finish(&mut transaction, self.account, self.id, ending, now).await? {
            return Err(FailureReason::Ended);
        }
        tx::commit(transaction).await?;
        Ok(credits)
    }

    async fn end(&self, ending: Ending) -> Result<(), FailureReason> {
        let mut transaction = tx::begin(&self.db).await?;
        renders::finish(&mut transaction, self.account, self.id, ending, clock::now()).await?;
        Ok(tx::commit(transaction).await?)
    }
}
