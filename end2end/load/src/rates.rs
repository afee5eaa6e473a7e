//! The rate limit of an account in twelve processes without browsers, and the time that it adds to a request.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use reqwest::{Method, StatusCode};
use serde::Serialize;
use tokio::time::interval;

use crate::{
    error::LoadError,
    platen::{Service, client::Client},
    scale::{CONNECTIONS, SETTINGS, new_account, start},
    statistics::percentile,
};

/// Processes that send fifty requests a second, together three times the limit, and others that send one.
const GREEDY: usize = 6;
const MODEST: usize = 6;
const GREEDY_EVERY: Duration = Duration::from_millis(20);
const MODEST_EVERY: Duration = Duration::from_secs(1);
/// Requests a minute of the plan `Scale`.
const LIMIT: usize = 6_000;
/// A limit whose requests cost a statement each, because processes take none in advance.
const COUNTED: i32 = 1_200;
/// A limit of which processes take 500 requests at once.
const IN_ADVANCE: i32 = 1_000_000;
/// Pairs of requests with these limits, with which neither limit is reached.
const PAIRS: usize = 1_000;
const MINUTE: Duration = Duration::from_mins(1);

/// The measurements.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct RatesResult {
    pub(crate) processes: usize,
    /// Fewest and most requests that were allowed in any minute, in per cent of the limit.
    pub(crate) fewest_percent: f64,
    pub(crate) most_percent: f64,
    /// p50 of a request that is counted by a statement of its own, and of one that was taken in advance.
    pub(crate) counted_p50_ms: f64,
    pub(crate) in_advance_p50_ms: f64,
}

/// Measures the limit for `lasting`, at least two minutes. `simulated` is the program `platen-simulated`.
pub(crate) async fn measure(simulated: &Path, lasting: Duration) -> Result<RatesResult, LoadError> {
    let front = start(simulated, "web", &[CONNECTIONS])?;
    front
        .while_it_runs(async |front| {
            let database_url = front.database_url();
            let settings = [
                ("DATABASE_URL", database_url.as_str()),
                ("PLATEN_DATABASE_CONNECTIONS", "5"),
            ];
            let settings = [&settings, &SETTINGS[SETTINGS.len() - 1..]].concat();
            let others = (1..GREEDY + MODEST).map(|_| start(simulated, "web", &settings));
            let mut others = others.collect::<Result<Vec<_>, _>>()?;
            let measured = async {
                for other in &mut others {
                    other.wait_until_ready().await?;
                }
                measure_processes(front, &others, lasting).await
            }
            .await;
            for other in others {
                other.stop().await?;
            }
            measured
        })
        .await
}

async fn measure_processes(front: &Service, others: &[Service], lasting: Duration) -> Result<RatesResult, LoadError> {
    let database = front.database().await?;
    let mut keys = Vec::new();
    for (name, limit) in [
        ("in-advance", Some(IN_ADVANCE)),
        ("counted", Some(COUNTED)),
        ("limited", None),
    ] {
        let key = new_account(&database.pool, &format!("{name}@load.example")).await;
        keys.push(key.map_err(|error| front.failure(&error))?);
        sqlx::query("update accounts set rate_per_minute = $1 where rate_per_minute is null")
            .bind(limit)
            .execute(&database.pool)
            .await?;
    }
    let (mut counted, mut in_advance) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let mut both = [(&keys[0], &mut in_advance), (&keys[1], &mut counted)];
        // The second request finds caches that the first one has filled.
        both.rotate_left(pair % 2);
        for (key, durations) in both {
            let start = Instant::now();
            if !request(&front.client(key)).await? {
                return Err(front.failure("a request below the limit was refused"));
            }
            durations.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    let end = Instant::now() + lasting;
    let clients = [front]
        .into_iter()
        .chain(others)
        .map(|process| process.client(&keys[2]));
    let allowed = clients.enumerate().map(async |(number, client)| {
        let mut allowed = Vec::new();
        let mut ticks = interval(if number < GREEDY { GREEDY_EVERY } else { MODEST_EVERY });
        while Instant::now() < end {
            ticks.tick().await;
            allowed.extend(request(&client).await?.then(Instant::now));
        }
        Ok::<_, LoadError>(allowed)
    });
    let allowed = try_join_all(allowed).await?.concat();
    let closed = database.close().await;
    closed.map_err(|error| front.failure(&error.to_string()))?;
    let (fewest, most) = extremes(allowed, end).ok_or_else(|| front.failure("less than a minute was measured"))?;
    let percent = |requests: usize| requests as f64 / LIMIT as f64 * 1e2;
    Ok(RatesResult {
        processes: GREEDY + MODEST,
        fewest_percent: percent(fewest),
        most_percent: percent(most),
        counted_p50_ms: percentile(&counted, 50.0).unwrap_or_default(),
        in_advance_p50_ms: percentile(&in_advance, 50.0).unwrap_or_default(),
    })
}

/// Makes a request, and returns whether it was allowed.
async fn request(client: &Client) -> Result<bool, LoadError> {
    let answer = client.request(Method::GET, "health").send().await?;
    match answer.status() {
        StatusCode::OK => Ok(true),
        StatusCode::TOO_MANY_REQUESTS => Ok(false),
        status => Err(LoadError::Platen(format!("answered {status}"))),
    }
}

/// Returns the fewest and the most of these moments in any minute that ends before `end` and begins with one of them, or just
/// after it.
fn extremes(mut moments: Vec<Instant>, end: Instant) -> Option<(usize, usize)> {
    moments.sort_unstable();
    let (mut fewest, mut most, mut next) = (usize::MAX, 0, 0);
    for (first, start) in moments.iter().enumerate() {
        let minute_end = *start + MINUTE;
        if minute_end > end {
            break;
        }
        next += moments[next..].partition_point(|moment| *moment < minute_end);
        most = most.max(next - first);
        fewest = fewest.min(next - first - 1);
    }
    (most > 0).then_some((fewest, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_with_the_fewest_and_the_most_requests_are_found() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        // The minute after the second moment has the last three, the one from the third moment as well.
        let moments = [0, 10, 60, 65, 69, 200].map(at).to_vec();
        assert_eq!(extremes(moments.clone(), at(100)), Some((1, 4)));
        assert_eq!(extremes(moments, at(59)), None);
    }
}
