//! The cost of a long history: lists, filters and pages of an account with millions of renders, and the acceptance of further
//! ones, compared with those of a small and of a new account. Without browsers, as the section scale.

mod filling;
mod visitor;

use std::{path::Path, time::Instant};

use reqwest::{Method, RequestBuilder};
use serde::Serialize;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use crate::{
    bench::progress,
    error::LoadError,
    history::{filling::BigAccount, visitor::Visitor},
    platen::{
        Service,
        client::{Client, answer},
    },
    scale::{self, CONNECTIONS, SETTINGS, SLOTS},
    statistics::percentile,
};

/// Requests before each measurement: the first ones read pages from the disk, and have their statements planned.
const WARM_UP: usize = 8;

/// Duration of a request.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Took {
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
}

/// A request of three accounts: with half of all renders, with a hundred, and with none.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ReadCost {
    pub(crate) name: &'static str,
    pub(crate) big: Took,
    pub(crate) small: Took,
    pub(crate) empty: Took,
}

/// A render of the account with most renders, before and after all of them were inserted.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RenderCost {
    pub(crate) name: &'static str,
    pub(crate) before: Took,
    pub(crate) after: Took,
}

impl RenderCost {
    /// Returns how many times slower the history makes it.
    pub(crate) fn slowdown(&self) -> f64 {
        self.after.p50_ms / self.before.p50_ms
    }
}

/// The measurements with a long history.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct HistoryCost {
    /// Renders of all accounts.
    pub(crate) renders: u64,
    /// Size of the database, in bytes.
    pub(crate) database_bytes: i64,
    pub(crate) reads: Vec<ReadCost>,
    pub(crate) accepted: Vec<RenderCost>,
}

impl HistoryCost {
    /// Returns the p95 of the slowest list, filter or page.
    pub(crate) fn slowest_read_ms(&self) -> f64 {
        let reads = self.reads.iter().flat_map(|read| [read.big, read.small, read.empty]);
        reads.map(|took| took.p95_ms).fold(0.0, f64::max)
    }

    /// Returns the largest slowdown of a render.
    pub(crate) fn largest_slowdown(&self) -> f64 {
        self.accepted.iter().map(RenderCost::slowdown).fold(0.0, f64::max)
    }
}

/// Inserts `renders` renders and measures `requests` requests of each kind. `simulated` is the program `platen-simulated`.
pub(crate) async fn measure(simulated: &Path, renders: u64, requests: usize) -> Result<HistoryCost, LoadError> {
    let service = scale::start(simulated, "all", &[&SETTINGS[..], &[SLOTS, CONNECTIONS]].concat())?;
    service
        .while_it_runs(async |service| {
            let measured = measure_service(service, renders, requests).await;
            measured.map_err(|error| service.failure(&error.to_string()))
        })
        .await
}

async fn measure_service(service: &Service, renders: u64, requests: usize) -> Result<HistoryCost, LoadError> {
    let [big, small, empty] = [
        Account::create(service, "big").await?,
        Account::create(service, "small").await?,
        Account::create(service, "empty").await?,
    ];
    big.visitor.create_endpoint().await?;
    let database = service.database().await?;
    progress("renders without a history");
    let before = big.measure_renders(requests).await?;
    progress(&format!("inserting {renders} renders"));
    let filled = filling::fill(&database.pool, [&big.email, &small.email], renders).await?;
    progress("renders with a history");
    let after = big.measure_renders(requests).await?;
    let mut reads = Vec::new();
    for read in reads_of(&filled) {
        progress(read.name);
        reads.push(ReadCost {
            name: read.name,
            big: big.measure_read(&read, requests).await?,
            small: small.measure_read(&read, requests).await?,
            empty: empty.measure_read(&read, requests).await?,
        });
    }
    let database_bytes = size(&database.pool).await?;
    database
        .close()
        .await
        .map_err(|error| service.failure(&error.to_string()))?;
    let names = ["a synchronous render", "a queued render, until accepted"];
    let accepted = names.into_iter().zip(before.into_iter().zip(after));
    Ok(HistoryCost {
        renders,
        database_bytes,
        reads,
        accepted: accepted
            .map(|(name, (before, after))| RenderCost { name, before, after })
            .collect(),
    })
}

async fn size(db: &PgPool) -> Result<i64, LoadError> {
    let size = sqlx::query_scalar("select pg_database_size(current_database())");
    Ok(size.fetch_one(db).await?)
}

/// A request that reads.
struct Read {
    name: &'static str,
    /// Path below `/api/v1/`, or of a page.
    path: String,
    is_page: bool,
}

/// Returns the lists with all their filters, and the pages. Filters are those for which the latest renders don't match, so that a
/// statement without an index would read all of them.
fn reads_of(big: &BigAccount) -> Vec<Read> {
    let api = |name, path: &str| Read {
        name,
        path: format!("renders{path}"),
        is_page: false,
    };
    let page = |name, path: &str| Read {
        name,
        path: format!("/dashboard{path}"),
        is_page: true,
    };
    let oldest = OffsetDateTime::now_utc() - filling::SPAN + Duration::days(2);
    let oldest = oldest.date();
    let BigAccount {
        rare_key,
        rare_template,
        old_render,
    } = big;
    vec![
        api("API: first page", ""),
        api("API: page of the oldest", &format!("?cursor={old_render}")),
        api("API: failed", "?state=failed"),
        api("API: queued", "?state=queued"),
        api("API: asynchronous", "?mode=async"),
        api("API: failed and asynchronous", "?state=failed&mode=async"),
        page("overview, this period", ""),
        page("overview, 24 hours", "?period=24-hours"),
        page("overview, 7 days", "?period=7-days"),
        page("renders", "/renders"),
        page("renders: page of the oldest", &format!("/renders?cursor={old_render}")),
        page("renders: failed", "/renders?state=failed"),
        page("renders: asynchronous", "/renders?mode=async"),
        page("renders: test", "/renders?keys=test"),
        page("renders: of a key", &format!("/renders?key={rare_key}")),
        page("renders: of a template", &format!("/renders?template={rare_template}")),
        page("renders: of a day", &format!("/renders?from={oldest}&to={oldest}")),
        page("renders: of an id", &format!("/renders?q={old_render}")),
        page("renders: of a title", "/renders?q=nothing"),
        page(
            "renders: all filters",
            "/renders?q=nothing&state=failed&mode=async&keys=live",
        ),
        page("usage", "/billing"),
        page("activity", "/team/log"),
        page("batches", "/batches"),
        page("webhooks", "/webhooks"),
        page(
            "webhooks: page of the oldest",
            &format!("/webhooks?cursor={old_render}"),
        ),
        page("webhooks: given up, 7 days", "/webhooks?outcome=given-up&since=7-days"),
        page("webhooks: of an address", "/webhooks?q=nowhere.example"),
        page("API keys", "/api-keys"),
    ]
}

/// An account with its owner.
struct Account {
    email: String,
    client: Client,
    visitor: Visitor,
}

impl Account {
    async fn create(service: &Service, name: &str) -> Result<Self, LoadError> {
        let (client, email) = (service.new_client(name).await?, Service::email(name));
        let visitor = Visitor::log_in(service, &email).await?;
        Ok(Self { email, client, visitor })
    }

    /// Measures synchronous renders, and the acceptance of queued ones.
    async fn measure_renders(&self, requests: usize) -> Result<[Took; 2], LoadError> {
        let post = |path, body: &Value| self.client.request(Method::POST, path).json(body);
        let queued = json!({ "parts": [{ "type": "html", "content": "<p>Row" }] });
        let mut synchronous = queued.clone();
        synchronous["output_encoding"] = "binary".into();
        Ok([
            repeat(|| post("renderers/pdf", &synchronous), requests).await?,
            repeat(|| post("renderers/pdf/async", &queued), requests).await?,
        ])
    }

    async fn measure_read(&self, read: &Read, requests: usize) -> Result<Took, LoadError> {
        if read.is_page {
            repeat(|| self.visitor.get(&read.path), requests).await
        } else {
            repeat(|| self.client.request(Method::GET, &read.path), requests).await
        }
    }
}

/// Sends a request repeatedly, one at a time. Fails if a response is not a success.
async fn repeat(request: impl Fn() -> RequestBuilder, count: usize) -> Result<Took, LoadError> {
    let mut took_ms = Vec::new();
    for turn in 0..WARM_UP + count {
        let sent = Instant::now();
        answer(request()).await?;
        if turn >= WARM_UP {
            took_ms.push(sent.elapsed().as_secs_f64() * 1e3);
        }
    }
    let of = |percent| percentile(&took_ms, percent).unwrap_or_default();
    Ok(Took {
        p50_ms: of(50.0),
        p95_ms: of(95.0),
    })
}
