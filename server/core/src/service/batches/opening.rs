//! Workers advance batches in turns: they record the outcomes of renders, and open further rows as long as the batch has few
//! unfinished renders, so that it stops cleanly when credits or storage end, and other renders of the account go first.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use platen_domain::{
    batch::{BatchState, Hold, WINDOW},
    ids::{AccountId, BatchId, RenderId},
    job::{CRASHES, JobKind, Priority},
    sentence::sentence,
    storage::{StorageResource, StorageUse},
    webhook_endpoint::EventType,
};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::{
    task::spawn_blocking,
    time::{Instant, sleep},
};
use uuid::Uuid;

use crate::{
    clock,
    render_request::stored::StoredRequest,
    service::{
        Services,
        batches::{
            BatchError, room_in_queue,
            stored_rows::{CompletedRow, StoredRows},
            upload::ROOM_FOR_RENDERS,
        },
        renders::{
            cancel::{CancelError, cancel},
            charge::{available_credits, queue},
            enqueue::seal,
            idempotent_responses::ContentError,
        },
    },
    store::{
        account_storage,
        batches::{
            self,
            rows::{self, OpenedRow, Work},
        },
        error::StoreError,
        jobs::{
            self, BatchJob,
            held::{self, Available, StillHeld},
        },
        renders::queued::{NewQueuedRender, NotQueued, Origin},
        tx, webhook_deliveries, webhook_endpoints,
    },
};

/// Time between the turns of a batch.
const TURN: Duration = Duration::from_secs(1);
/// The same while credits or storage are missing, or the key is invalid.
const TURN_ON_HOLD: Duration = Duration::from_secs(15);
/// The same after a turn that has opened [`MANY_ROWS`]: its window would be empty soon.
const NEXT_ROWS: Duration = Duration::from_millis(200);
/// Time until the next turn of a batch during whose last turns several processes have crashed. It opens no rows then, so another cause
/// is likely.
const TURN_AFTER_CRASHES: Duration = Duration::from_mins(1);
/// The longest time between the turns of a batch whose rows are all open: many batches may wait for their renders.
const LONGEST_TURN: Duration = Duration::from_secs(3);
/// A tenth of the window.
const MANY_ROWS: usize = WINDOW / 10;
/// Duration of successive turns, after which other batches have theirs.
const SHIFT: Duration = Duration::from_secs(5);
/// Rows that are opened in a transaction, which the account's other renders wait for once the first has reserved its credit.
const ROWS_AT_ONCE: usize = 25;
/// Size of the parts of these rows in bytes from which no further row is opened in the transaction.
const BYTES_AT_ONCE: usize = 2 << 20;
/// Bytes of the account's queue that batches leave to other renders, if the rows that were uploaded have left them.
const ROOM_FOR_OTHERS: usize = ROOM_FOR_RENDERS / 2;
/// Memory of a turn in bytes: the rows of a piece, and those that are opened, with their requests, in three forms.
const MEMORY: u64 = 16 << 20;
/// Maximum length of the error of a row, in characters.
const LONGEST_MESSAGE: usize = 300;
/// Why a row is not rendered whose path another row has.
const PATH_TAKEN: &str = "another row of the batch has the same path";
/// The same for file names.
const NAME_TAKEN: &str = "another row of the batch has the same file name, ignoring case";
/// Held renders from which a batch begins no more rows.
const MOST_HELD: i64 = 25;
/// Renders that a turn cancels.
const CANCELLED_AT_ONCE: i64 = 500;

/// Advances the batch of a claimed job by a turn. `is_stopping` returns whether the service is shutting down.
pub async fn advance(app: &Services, job: &BatchJob, is_stopping: impl Fn() -> bool) -> Result<(), StoreError> {
    if job.claim.crashes >= CRASHES {
        return give_up(app, job).await;
    }
    let start = Instant::now();
    let mut is_shift_over = false;
    let turn = loop {
        let turn = take_turn(app, job, &is_stopping).await;
        app.jobs.batch_changed(job.account, job.batch);
        match turn {
            Ok(Next::Rows) if is_stopping() || start.elapsed() > SHIFT => {
                is_shift_over = true;
                break Ok(Some(TURN));
            }
            Ok(Next::Rows) => sleep(NEXT_ROWS).await,
            Ok(Next::After(delay)) => break Ok(Some(delay)),
            Ok(Next::Done) => break Ok(None),
            Err(error) => break Err(error),
        }
    };
    match turn {
        Ok(None) => Ok(()),
        Ok(delay) => {
            jobs::release(&app.db, &job.claim, delay, None).await?;
            if is_shift_over {
                jobs::put_batch_last(&app.db, job.account, job.batch).await?;
            }
            Ok(())
        }
        Err(BatchError::Store(error)) => Err(error),
        Err(BatchError::Memory(_)) => jobs::release(&app.db, &job.claim, Some(TURN), None).await.map(drop),
        Err(error) => {
            tracing::error!(batch_id = %job.batch, %error, "batch could not be advanced");
            let delay = JobKind::Batch.delay(job.claim.failures, rand::random());
            jobs::release(&app.db, &job.claim, delay, Some(&error.to_string()))
                .await
                .map(drop)
        }
    }
}

/// Pauses a running batch during whose last turns several processes have crashed. Further turns record how its renders end, or cancel
/// them.
async fn give_up(app: &Services, job: &BatchJob) -> Result<(), StoreError> {
    let mut transaction = tx::begin(&app.db).await?;
    let batch = batches::lock(&mut transaction, job.account, job.batch, None).await?;
    if batch.is_some_and(|batch| batch.state == BatchState::Running) {
        tracing::error!(batch_id = %job.batch, "batch paused after crashes");
        batches::set_state(&mut transaction, job.account, job.batch, BatchState::Paused, None).await?;
    } else {
        tracing::error!(batch_id = %job.batch, "turn of a batch delayed after crashes");
    }
    jobs::forget_failures(&mut *transaction, &job.claim).await?;
    jobs::release(&mut *transaction, &job.claim, Some(TURN_AFTER_CRASHES), None).await?;
    tx::commit(transaction).await?;
    app.jobs.batch_changed(job.account, job.batch);
    Ok(())
}

/// What follows a turn.
enum Next {
    /// Further rows, as soon as some of the open ones have ended.
    Rows,
    /// Another turn after this time.
    After(Duration),
    /// Nothing: the job is deleted.
    Done,
}

async fn take_turn(app: &Services, job: &BatchJob, is_stopping: &impl Fn() -> bool) -> Result<Next, BatchError> {
    let (db, account, id, now) = (&app.db, job.account, job.batch, clock::now());
    rows::settle(db, account, id).await?;
    let Some(work) = rows::find_work(db, account, id, WINDOW, now).await? else {
        jobs::complete(db, &job.claim).await?;
        return Ok(Next::Done);
    };
    let waiting = match work.state {
        BatchState::Running | BatchState::Paused if !work.holds.is_empty() => {
            resume_held(app, account, id, &work).await?
        }
        _ => StillHeld::default(),
    };
    let is_idle = work.unfinished == waiting.renders;
    // While a few renders are held, such as those of large documents, others may have room.
    let is_on_hold = waiting.renders >= MOST_HELD || is_idle && work.has_no_more_rows();
    let hold = waiting.hold.filter(|_| is_on_hold);
    if work.state == BatchState::Running && work.only_awaits_renders() {
        batches::set_hold(db, account, id, hold).await?;
        // Nothing is left to be opened, which may have been the cause of crashes.
        jobs::forget_failures(db, &job.claim).await?;
        if hold.is_some() {
            return Ok(Next::After(TURN_ON_HOLD));
        }
        let waited = work
            .last_queued_at
            .map_or(Duration::ZERO, |queued_at| (now - queued_at).unsigned_abs());
        return Ok(Next::After(time_to_wait(waited)));
    }
    let mut next = Next::After(if is_idle && waiting.renders > 0 {
        TURN_ON_HOLD
    } else {
        TURN
    });
    match work.state {
        BatchState::Running if !work.is_key_valid => {
            batches::set_hold(db, account, id, Some(Hold::Key)).await?;
            next = Next::After(TURN_ON_HOLD);
        }
        BatchState::Running if hold.is_some() => batches::set_hold(db, account, id, hold).await?,
        // Further rows could take what resumed renders need.
        BatchState::Running if waiting.promised > 0 => next = Next::After(TURN),
        BatchState::Running => {
            let Rows {
                hold,
                has_opened,
                has_many_more,
            } = open_rows(app, account, id, work, &waiting, is_stopping).await?;
            batches::set_hold(db, account, id, hold).await?;
            if has_opened {
                jobs::forget_failures(db, &job.claim).await?;
            }
            if hold.is_some() && is_idle {
                next = Next::After(TURN_ON_HOLD);
            } else if has_many_more {
                next = Next::Rows;
            } else if has_opened {
                next = Next::After(TURN);
            }
        }
        BatchState::Cancelled => cancel_unfinished(app, account, id).await?,
        BatchState::Open | BatchState::Paused | BatchState::Ended => {}
    }
    let mut transaction = tx::begin(db).await?;
    let Some(batch) = batches::lock(&mut transaction, account, id, None).await? else {
        return Ok(next);
    };
    let has_ended = batches::end(&mut transaction, account, id, now).await?;
    let is_idle = has_ended || batch.state != BatchState::Running;
    if !is_idle || !rows::are_settled(&mut transaction, account, id).await? {
        tx::commit(transaction).await?;
        return Ok(next);
    }
    let state = if has_ended { BatchState::Ended } else { batch.state };
    let is_announced = matches!(state, BatchState::Ended | BatchState::Cancelled);
    if is_announced {
        let data = json!({
            "batch_id": id,
            "name": batch.name,
            "state": state.into_str(),
            "livemode": batch.livemode,
            "rows": batch.rows,
            "succeeded": batch.succeeded,
            "failed": batch.failed,
        });
        webhook_endpoints::publish(&mut transaction, account, EventType::BatchEnded, None, &data).await?;
        webhook_deliveries::insert_of_batch(&mut transaction, account, id, EventType::BatchEnded, &data).await?;
    }
    batches::delete_unneeded(&mut transaction, account, id).await?;
    if !jobs::complete(&mut *transaction, &job.claim).await? {
        // Another worker holds the job, and announces the end.
        return Ok(Next::Done);
    }
    tx::commit(transaction).await?;
    if is_announced {
        app.jobs.added(JobKind::Delivery);
    }
    Ok(Next::Done)
}

/// Returns the time until a batch is looked at again whose newest render was queued this long ago: a tenth of it, but at least a
/// second and at most three.
fn time_to_wait(waited: Duration) -> Duration {
    (waited / 10).clamp(TURN, LONGEST_TURN)
}

/// Lets held renders of a batch go on, as far as there is enough storage and credits for their documents.
async fn resume_held(app: &Services, account: AccountId, id: BatchId, work: &Work) -> Result<StillHeld, BatchError> {
    let mut transaction = tx::begin_by_index(&app.db).await?;
    held::lock(&mut transaction, account).await?;
    let storage = account_storage::find(&mut *transaction, account).await?;
    let StorageUse { limit, used, .. } = storage.of(StorageResource::DocumentBytes);
    let credits = if work.holds.contains(&Hold::Credits) {
        available_credits(&mut transaction, account, work.key, clock::now())
            .await?
            .free
    } else {
        0
    };
    let available = Available {
        storage: limit - used,
        credits,
    };
    let held = held::resume(&mut transaction, account, id, available).await?;
    tx::commit(transaction).await?;
    if held.resumed > 0 {
        app.jobs.added(JobKind::Render);
    }
    Ok(held)
}

async fn cancel_unfinished(app: &Services, account: AccountId, id: BatchId) -> Result<(), BatchError> {
    for render in rows::list_unfinished(&app.db, account, id, CANCELLED_AT_ONCE).await? {
        match cancel(app, account, render, None).await {
            Err(CancelError::Store(error)) => return Err(error.into()),
            Ok(()) | Err(CancelError::NotFound | CancelError::Ended | CancelError::Synchronous) => {}
        }
    }
    rows::settle(&app.db, account, id).await?;
    Ok(())
}

/// The rows of a batch after a turn.
struct Rows {
    /// Why no more could be opened.
    hold: Option<Hold>,
    /// Whether rows were opened.
    has_opened: bool,
    /// Whether many rows were opened, and there are more.
    has_many_more: bool,
}

/// Returns how many renders of a batch may be queued at present. Batches leave half of the queue to other renders of the account. Renders
/// that other batches hold don't count, because they may wait for days, but a quarter of the queue is left in any case.
fn free_places(queue: StorageUse, held_by_others: i64) -> usize {
    let StorageUse { used, limit, .. } = queue;
    let of_half = (limit / 2 - used).saturating_add(held_by_others.max(0));
    usize::try_from(of_half.min(limit - limit / 4 - used)).unwrap_or_default()
}

/// Returns how many of the first rows leave room for other renders of the account.
fn rows_that_fit(rows: &[SealedRow], queue: StorageUse) -> usize {
    let room = usize::try_from(queue.limit - queue.used).unwrap_or_default();
    let mut room = room.saturating_sub(ROOM_FOR_OTHERS);
    let fits = |row: &&SealedRow| {
        let left = room.checked_sub(row.bytes());
        room = left.unwrap_or_default();
        left.is_some()
    };
    rows.iter().take_while(fits).count()
}

/// Opens as many rows as window and queue have room for. `waiting` are the held renders of the batch.
async fn open_rows(
    app: &Services,
    account: AccountId,
    id: BatchId,
    work: Work,
    waiting: &StillHeld,
    is_stopping: &impl Fn() -> bool,
) -> Result<Rows, BatchError> {
    let mut result = Rows {
        hold: None,
        has_opened: false,
        has_many_more: false,
    };
    let storage = account_storage::find(&app.db, account).await?;
    if !work.request.options["destination"].is_object() && storage.room_for(StorageResource::DocumentBytes, 1).is_err()
    {
        result.hold = Some(Hold::Storage);
        return Ok(result);
    }
    let is_idle = work.unfinished == waiting.renders;
    let unfinished = usize::try_from(work.unfinished).unwrap_or(WINDOW);
    let queue = storage.of(StorageResource::QueuedRenders);
    let mut room = WINDOW.saturating_sub(unfinished);
    if work.request.callback.is_some() {
        let StorageUse { used, limit, .. } = storage.of(StorageResource::PendingCallbacks);
        let callbacks = usize::try_from(limit / 2 - used).unwrap_or_default();
        if callbacks == 0 && is_idle && !work.has_no_more_rows() {
            result.hold = waiting.hold.or(Some(Hold::Storage));
            return Ok(result);
        }
        room = room.min(callbacks);
    }
    let mut held_by_others = 0;
    if free_places(queue, 0) < room {
        let held = held::count(&app.db, account).await?;
        held_by_others = held - waiting.renders;
        room = room.min(free_places(queue, held_by_others));
        // Renders that are not held leave the queue soon.
        let only_held_are_in_its_place = is_idle && queue.used - held < queue.limit / 2;
        if room == 0 && only_held_are_in_its_place && !work.has_no_more_rows() {
            result.hold = waiting.hold.or(Some(Hold::Storage));
            return Ok(result);
        }
    }
    // Rows that have failed before go first.
    let mut numbers = work.again.iter().copied().chain(work.opened + 1..=work.rows);
    let chosen: Vec<_> = numbers.by_ref().take(room).collect();
    if chosen.is_empty() {
        return Ok(result);
    }
    let has_many_more = chosen.len() >= MANY_ROWS && numbers.next().is_some();
    let has_patterns = work.request.version == StoredRequest::PATTERN_VERSION;
    let _memory = app
        .memory
        .try_reserve(account, if has_patterns { 2 * MEMORY } else { MEMORY })?;
    let mut opener = Opener::new(app, account, id, work).await?;
    if storage
        .room_for(StorageResource::QueuedBytes, ROOM_FOR_RENDERS)
        .is_err()
    {
        // Without as much room, some rows may fit nevertheless.
        let _ = room_in_queue(&app.db, account, ROOM_FOR_RENDERS).await?;
    }
    let mut remaining = &chosen[..];
    while !remaining.is_empty() && !is_stopping() {
        let mut rows = opener.sealed(remaining).await?;
        // Another batch of the account may have taken room meanwhile.
        let storage = account_storage::find(&app.db, account).await?;
        let places = free_places(storage.of(StorageResource::QueuedRenders), held_by_others);
        // The first row of an idle batch is tried in any case, because nothing of the batch would leave the queue.
        let tried = usize::from(is_idle && !result.has_opened);
        let fitting = rows_that_fit(&rows, storage.of(StorageResource::QueuedBytes))
            .min(places)
            .max(tried);
        if fitting == 0 {
            return Ok(result);
        }
        rows.truncate(fitting);
        remaining = &remaining[rows.len()..];
        while !rows.is_empty() {
            match opener.open(&rows).await? {
                Opening::Opened => {
                    result.has_opened = true;
                    break;
                }
                Opening::Stopped => {
                    result.hold = None;
                    return Ok(result);
                }
                Opening::Refused { fitting, reason } => {
                    rows.truncate(fitting);
                    result.hold = Some(reason);
                }
            }
        }
        app.jobs.added(JobKind::Render);
        if result.hold.is_some() {
            return Ok(result);
        }
    }
    result.has_many_more = has_many_more;
    Ok(result)
}

/// Opens rows of a batch.
struct Opener<'a> {
    app: &'a Services,
    account: AccountId,
    id: BatchId,
    work: Work,
    rows: StoredRows<'a>,
}

/// A row that is ready to be opened, or an invalid one.
struct SealedRow {
    record: OpenedRow,
    render: Option<NewQueuedRender>,
}

impl SealedRow {
    /// Returns how many bytes of the account's queue the render takes.
    fn bytes(&self) -> usize {
        self.render
            .as_ref()
            .map_or(0, |render| render.request.content.sealed.len())
    }
}

/// Result of opening several rows.
enum Opening {
    /// All rows are opened, or recorded as invalid.
    Opened,
    /// None is opened, because the batch no longer runs, or another process opens its rows.
    Stopped,
    /// None is opened, because there is room for the first rows at most.
    Refused { fitting: usize, reason: Hold },
}

impl<'a> Opener<'a> {
    async fn new(app: &'a Services, account: AccountId, id: BatchId, mut work: Work) -> Result<Self, BatchError> {
        let rows = StoredRows::open(app, account, id, &mut work).await?;
        Ok(Self {
            app,
            account,
            id,
            work,
            rows,
        })
    }

    /// Prepares the first of these rows to be opened, as many as a transaction opens.
    async fn sealed(&mut self, numbers: &[i32]) -> Result<Vec<SealedRow>, BatchError> {
        let (mut completed, mut bytes) = (Vec::new(), 0);
        for number in numbers.iter().take(ROWS_AT_ONCE) {
            let row = self.rows.row(*number).await?;
            let row = self.rows.complete(row).await?;
            bytes += row.as_ref().map_or(0, |row| row.request.render.bytes_of_parts());
            completed.push((*number, row));
            if bytes >= BYTES_AT_ONCE {
                break;
            }
        }
        let (key, account, callback) = (Arc::clone(&self.rows.key), self.account, self.rows.callback.clone());
        let options = self.work.request.options.clone();
        let seal_all = move || {
            let rows = completed.into_iter().map(|(number, row)| {
                let CompletedRow { request, file_name } = match row {
                    Ok(row) => row,
                    Err(reason) => return Ok(invalid(number, &reason)),
                };
                let mut options = options.clone();
                request.render.note_filled(&mut options);
                if let Some(destination) = &request.destination {
                    options["destination"]["path"] = destination.path.as_str().into();
                }
                let id = RenderId::generate();
                let path = match &request.destination {
                    Some(destination) => Some(destination.path.clone()),
                    // Windows and macOS extract names that differ only in case to one file.
                    None => file_name.as_deref().map(str::to_lowercase),
                };
                let render = NewQueuedRender {
                    id,
                    object: request.destination.is_none().then(Uuid::new_v4),
                    options,
                    request: seal(&key, account, id, request, callback.clone())?,
                };
                let record = OpenedRow {
                    number,
                    outcome: Ok(id),
                    path_sha256: path.map(|path| Sha256::digest(path).to_vec()),
                    file_name,
                };
                Ok::<_, ContentError>(SealedRow {
                    record,
                    render: Some(render),
                })
            });
            rows.collect()
        };
        let sealed: Result<_, ContentError> = spawn_blocking(seal_all).await?;
        Ok(sealed?)
    }

    /// Opens rows in one transaction, in which the renders are queued and reserve their credits.
    async fn open(&mut self, rows: &[SealedRow]) -> Result<Opening, BatchError> {
        let (account, id, now) = (self.account, self.id, clock::now());
        let mut transaction = tx::begin(&self.app.db).await?;
        // Before its rows, as by those who cancel it.
        if batches::lock(&mut transaction, account, id, None).await?.is_none() {
            return Ok(Opening::Stopped);
        }
        let records: Vec<_> = rows.iter().map(|row| row.record.clone()).collect();
        let claimed = rows::claim(&mut transaction, account, id, &records).await?;
        let claimed: BTreeSet<_> = claimed.into_iter().collect();
        let reason = if self.work.file_names.is_some() {
            NAME_TAKEN
        } else {
            PATH_TAKEN
        };
        let taken = records.iter().filter(|row| !claimed.contains(&row.number));
        let taken: Vec<_> = taken.map(|row| invalid(row.number, reason).record).collect();
        if !taken.is_empty() && rows::claim(&mut transaction, account, id, &taken).await?.len() < taken.len() {
            // Another process has opened them.
            return Ok(Opening::Stopped);
        }
        let invalid = records.iter().filter(|row| row.outcome.is_err()).count();
        let failed = i32::try_from(invalid + taken.len()).unwrap_or(i32::MAX);
        let opened = self.work.opened;
        let more = records.iter().filter(|row| row.number > opened).count();
        let more = i32::try_from(more).unwrap_or(i32::MAX);
        let columns = &self.work.columns;
        if !rows::advance(&mut transaction, account, id, (opened, more), failed, columns).await? {
            return Ok(Opening::Stopped);
        }
        let renders = rows.iter().enumerate().filter_map(|(index, row)| {
            let is_claimed = claimed.contains(&row.record.number);
            Some((index, row.render.as_ref().filter(|_| is_claimed)?))
        });
        let (indices, renders): (Vec<_>, Vec<_>) = renders.unzip();
        let origin = Origin {
            key: self.work.key,
            livemode: self.work.livemode,
            priority: Priority::Batch,
        };
        if let Err(NotQueued { allowed, .. }) = queue(&mut transaction, account, origin, &renders, now).await? {
            return Ok(Opening::Refused {
                fitting: indices.get(allowed).copied().unwrap_or(rows.len()),
                reason: Hold::Credits,
            });
        }
        match tx::commit(transaction).await {
            Ok(()) => {
                self.work.opened += more;
                Ok(Opening::Opened)
            }
            Err(error) => {
                let full = account_storage::full(&error).ok_or(error)?;
                if full.resource == StorageResource::QueuedBytes {
                    let bytes = rows.iter().map(SealedRow::bytes).sum();
                    // For the next turn, if there is no room at all.
                    let _ = room_in_queue(&self.app.db, account, bytes).await?;
                }
                Ok(Opening::Refused {
                    fitting: rows.len() / 2,
                    reason: Hold::Storage,
                })
            }
        }
    }
}

/// Returns the beginning of a message, which may name a long path.
fn shortened(message: &str) -> String {
    message.chars().take(LONGEST_MESSAGE).collect()
}

fn invalid(number: i32, reason: &str) -> SealedRow {
    SealedRow {
        record: OpenedRow {
            number,
            outcome: Err(json!({"code": "row_invalid", "message": shortened(&sentence(reason))})),
            path_sha256: None,
            file_name: None,
        },
        render: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_leave_half_of_the_queue_or_a_quarter_besides_held_renders_of_others() {
        for (used, held_by_others, expected) in [
            (0, 0, 500),
            (499, 0, 1),
            (500, 0, 0),
            (500, 500, 250),
            (500, 100, 100),
            (700, 500, 50),
            (750, 500, 0),
            (1000, 1000, 0),
        ] {
            let queue = StorageUse {
                resource: StorageResource::QueuedRenders,
                used,
                limit: 1000,
            };
            assert_eq!(free_places(queue, held_by_others), expected, "{used}, {held_by_others}");
        }
    }

    #[test]
    fn batches_that_wait_longer_are_looked_at_less_often() {
        for (waited, expected) in [(0, 1), (9, 1), (20, 2), (600, 3)] {
            let waited = Duration::from_secs(waited);
            assert_eq!(time_to_wait(waited), Duration::from_secs(expected), "{waited:?}");
        }
    }
}
