//! What the sessions of Postgres do, in samples of `pg_stat_activity`.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;
use sqlx::PgPool;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::error::LoadError;

/// Time between two samples. One takes about a millisecond of CPU time.
const SAMPLE_EVERY: Duration = Duration::from_millis(50);
/// Most waits and statements that are reported: the most frequent ones.
const MOST: usize = 8;
/// Sessions that execute a statement, or wait within one. Statements are known by their beginning.
const ACTIVE: &str = r"
    select
        coalesce(wait_event_type || ' ' || wait_event, 'CPU'),
        regexp_replace(left(ltrim(query), 80), '\s+', ' ', 'g')
    from pg_stat_activity
    where backend_type = 'client backend' and state = 'active' and datname = current_database() and pid <> pg_backend_pid()";

/// What sessions were seen to do, each with its share of them.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct DatabaseProfile {
    /// Mean number of active sessions.
    pub(crate) active_sessions: f64,
    /// What they waited for. `CPU` is no wait but for a processor.
    pub(crate) waits: Vec<(String, f64)>,
    pub(crate) statements: Vec<(String, f64)>,
}

/// Samples the active sessions until it is stopped.
pub(crate) async fn sample(db: &PgPool, stopped: CancellationToken) -> Result<DatabaseProfile, LoadError> {
    let (mut samples, mut sessions) = (0_usize, 0_usize);
    let [mut waits, mut statements] = [const { BTreeMap::<String, usize>::new() }; 2];
    while !stopped.is_cancelled() {
        let active: Vec<(String, String)> = sqlx::query_as(ACTIVE).fetch_all(db).await?;
        samples += 1;
        sessions += active.len();
        for (wait, statement) in active {
            *waits.entry(wait).or_default() += 1;
            *statements.entry(statement).or_default() += 1;
        }
        sleep(SAMPLE_EVERY).await;
    }
    let shares = |counts: BTreeMap<String, usize>| {
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts.truncate(MOST);
        let shares = counts
            .into_iter()
            .map(|(name, count)| (name, count as f64 / sessions as f64));
        shares.collect()
    };
    Ok(DatabaseProfile {
        active_sessions: sessions as f64 / samples.max(1) as f64,
        waits: shares(waits),
        statements: shares(statements),
    })
}
