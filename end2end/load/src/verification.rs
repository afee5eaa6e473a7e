//! Compares the renders of a run with their documents, callbacks and credits.

use std::{collections::HashSet, fmt};

use platen_domain::webhook::webhook_id;
use serde::Serialize;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{error::LoadError, receiver::Receiver};

/// The accepted requests of a run: one batch with a callback for each row, and single renders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accepted<'a> {
    /// Rows of the batch.
    pub(crate) rows: usize,
    /// Single renders in the queue, each with a callback.
    pub(crate) queued: &'a [Uuid],
    /// Synchronous renders. The client has compared the documents, which were in the responses.
    pub(crate) synchronous: &'a [Uuid],
}

/// Deviations from one document and one credit for each render, and one callback for each queued one.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Deviations {
    /// Renders without a result, without a stored document or without a callback.
    pub(crate) lost: usize,
    /// Renders beyond the accepted ones, callbacks beyond one for each queued render, and repeated callbacks with another body.
    pub(crate) doubled: usize,
    /// Renders that were not charged one credit for their document, or nothing without one, and credits beyond those of renders.
    pub(crate) wrongly_charged: i64,
    /// Credits that are still reserved.
    pub(crate) reserved: i64,
    /// Rows that the batch counts wrongly.
    pub(crate) miscounted: usize,
}

impl Deviations {
    pub(crate) fn sum(&self) -> usize {
        let credits = self.wrongly_charged.unsigned_abs() + self.reserved.unsigned_abs();
        self.lost + self.doubled + self.miscounted + credits as usize
    }
}

impl fmt::Display for Deviations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} lost, {} doubled, {} charged wrongly, {} credits still reserved, {} rows miscounted",
            self.lost, self.doubled, self.wrongly_charged, self.reserved, self.miscounted,
        )
    }
}

/// The outcome of a run.
pub(crate) struct Verified {
    pub(crate) deviations: Deviations,
    /// Stored documents without a successful render.
    pub(crate) orphans: usize,
}

/// Compares all renders of a database that contains nothing else. `objects` are the names of the stored documents.
pub(crate) async fn verify(
    db: &PgPool,
    accepted: Accepted<'_>,
    objects: &HashSet<String>,
    receiver: &Receiver,
) -> Result<Verified, LoadError> {
    let (delivered, counts) = (receiver.ids(), receiver.counts());
    let queued = list_queued(db, accepted.queued).await?;
    let documents: HashSet<_> = queued.iter().filter_map(|render| render.document.as_ref()).collect();
    let callbacks: HashSet<_> = queued.iter().filter_map(|render| render.callback.as_ref()).collect();
    let is_complete = |render: &&Queued| {
        let has_document = render.document.as_ref().is_some_and(|name| objects.contains(name));
        has_document && render.callback.as_ref().is_some_and(|id| delivered.contains(id))
    };
    let complete: HashSet<_> = queued
        .iter()
        .filter(is_complete)
        .map(|render| &render.document)
        .collect();
    let expected = accepted.rows + accepted.queued.len();
    let unknown_callbacks = delivered.iter().filter(|id| !callbacks.contains(id)).count();
    let counted = "select
            (select count(*) from renders where id = any($2) and mode = 'sync' and status = 'succeeded'),
            (
                select count(*) from renders
                where id <> all($1) and id <> all($2)
                    and not exists (select from batch_rows where batch_rows.render_id = renders.id)
            ),
            (
                select count(*) filter (where coalesce(credits, 0) <> (status = 'succeeded')::integer)
                    + abs(coalesce(sum(credits), 0) - (select coalesce(sum(used), 0) from credit_periods))::bigint
                from renders
            ),
            (select coalesce(sum(credits), 0)::bigint from credit_reservations)";
    let (synchronous, surplus, wrongly_charged, reserved): (i64, i64, i64, i64) = sqlx::query_as(counted)
        .bind(accepted.queued)
        .bind(accepted.synchronous)
        .fetch_one(db)
        .await?;
    let deviations = Deviations {
        lost: expected.saturating_sub(complete.len()) + accepted.synchronous.len().saturating_sub(size(synchronous)),
        doubled: queued.len().saturating_sub(expected) + unknown_callbacks + counts.contradictory + size(surplus),
        wrongly_charged,
        reserved,
        miscounted: accepted.rows.abs_diff(succeeded_rows(db).await?),
    };
    Ok(Verified {
        deviations,
        orphans: objects.iter().filter(|name| !documents.contains(name)).count(),
    })
}

/// Returns the rows of the batch that have succeeded, as the batch counts them.
pub(crate) async fn succeeded_rows(db: &PgPool) -> Result<usize, LoadError> {
    let succeeded = sqlx::query_scalar("select succeeded::bigint from batches");
    Ok(size(succeeded.fetch_one(db).await?))
}

/// Returns the number of jobs that renders have left, and the state of the batch.
pub(crate) async fn remaining(db: &PgPool) -> Result<(i64, String), LoadError> {
    let remaining =
        "select (select count(*) from jobs where kind in ('render', 'callback', 'batch')), state from batches";
    Ok(sqlx::query_as(remaining).fetch_one(db).await?)
}

/// Describes all jobs, for an error.
pub(crate) async fn describe_jobs(db: &PgPool) -> Result<String, LoadError> {
    let jobs = "select kind, count(*), sum(failures), sum(crashes), max(last_error) from jobs group by kind";
    let jobs: Vec<(String, i64, i64, i64, Option<String>)> = sqlx::query_as(jobs).fetch_all(db).await?;
    Ok(format!("jobs by kind, with failures, crashes and an error: {jobs:?}"))
}

/// A queued render that was accepted.
struct Queued {
    /// Name of its object, if it has succeeded.
    document: Option<String>,
    /// Id of its callback.
    callback: Option<String>,
}

/// Returns the renders of the batch's rows, and those with these ids.
async fn list_queued(db: &PgPool, single: &[Uuid]) -> Result<Vec<Queued>, LoadError> {
    let queued: Vec<(bool, Option<Uuid>, Option<Uuid>)> = sqlx::query_as(
        "select coalesce(renders.status = 'succeeded' and renders.result is not null, false), renders.object_id,
            callbacks.webhook_id
         from (select render_id from batch_rows union all select unnest($1::uuid[])) accepted (render_id)
         left join renders on renders.id = accepted.render_id
         left join callbacks on callbacks.render_id = renders.id",
    )
    .bind(single)
    .fetch_all(db)
    .await?;
    let queued = queued.into_iter().map(|(has_result, object, callback)| Queued {
        document: object.filter(|_| has_result).map(|object| format!("{object}.pdf")),
        callback: callback.map(webhook_id),
    });
    Ok(queued.collect())
}

fn size(count: i64) -> usize {
    usize::try_from(count).unwrap_or_default()
}
