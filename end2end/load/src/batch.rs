//! A batch whose documents are delivered to a bucket of `MinIO`: its throughput compared with that of callers who wait, in turns with
//! it, and its effect on single renders of its own account and of another one.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::Method;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    bench::progress,
    error::LoadError,
    measure::{Limit, Round},
    pages,
    platen::{
        Service,
        client::{Client, Order, Renderer, answer},
    },
    statistics::percentile,
    store::{self, Store},
};

/// The invoice's number, which the template takes from the row.
const INVOICE_NUMBER: &str = "2026-0417";
const BUCKET: &str = "documents";
/// Folder of the measured batch's objects.
const MEASURED: &str = "invoices";
/// Folder of the objects of the batch that runs beside single renders.
const BESIDE: &str = "beside";
/// Rows of that batch: more than are rendered meanwhile.
const BESIDE_ROWS: u64 = 20_000;
/// Concurrent callers who wait.
const CALLERS: usize = 4;
/// Renders of these callers in each of their turns.
const CALLERS_LIMIT: Limit = Limit {
    time: Duration::from_mins(1),
    renders: 500,
    warm_up: true,
};
/// Most parts of the batch, before, between and after which callers have their turns, because the speed of machines changes over
/// minutes.
const MOST_PARTS: u64 = 4;
/// Fewest rows of a part: many more than the window of renders (`WINDOW` of the service) that are finished after a pause.
const ROWS_OF_A_PART: u64 = 2_000;
/// Renders of each account beside the batch, and as many of the other account alone: half of them before and half after it.
const SINGLE_RENDERS: usize = 200;
/// Time to wait until a batch has filled the queue, or until a cancelled one has left it.
const SETTLING: Duration = Duration::from_secs(2);
/// Polling interval for an unfinished batch, as seldom as a client's that shows the progress.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The same while the last renders of a part are unfinished, so that the machine isn't idle for long.
const LOOK_NEAR_THE_END: Duration = Duration::from_millis(50);
/// Unfinished renders that are counted, at most.
const FEW_RENDERS: usize = 50;

/// The measurements of a delivered batch.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct BatchDelivery {
    pub(crate) rows: u64,
    /// Objects in the bucket after the batch.
    pub(crate) objects: u64,
    /// Rows finished per second while the batch runs, until the last document is delivered.
    pub(crate) batched_per_second: f64,
    /// Synchronous renders of the same template finished per second with four callers, in all their turns.
    pub(crate) callers_per_second: f64,
    /// The same in their slowest turn, and in their fastest one.
    pub(crate) callers_slowest: f64,
    pub(crate) callers_fastest: f64,
    /// 95th percentile of another account's renders, one at a time, on an idle service.
    pub(crate) single_p95_alone_ms: f64,
    /// The same while a batch runs.
    pub(crate) single_p95_beside_ms: f64,
    /// The same for renders of the batch's account.
    pub(crate) own_p95_beside_ms: f64,
}

impl BatchDelivery {
    /// Returns the throughput relative to that of the callers.
    pub(crate) fn ratio(&self) -> f64 {
        self.batched_per_second / self.callers_per_second
    }

    /// Returns how many times slower the renders of the other account get.
    pub(crate) fn slowdown(&self) -> f64 {
        self.single_p95_beside_ms / self.single_p95_alone_ms
    }

    /// The same for renders of the batch's account.
    pub(crate) fn own_slowdown(&self) -> f64 {
        self.own_p95_beside_ms / self.single_p95_alone_ms
    }

    /// Returns the difference between the numbers of rows and of objects.
    pub(crate) fn missing(&self) -> u64 {
        self.rows.abs_diff(self.objects)
    }
}

/// Measures a batch of `rows` rows with its own service and its own store.
pub(crate) async fn measure(binary: &Path, chromium: &Path, rows: u64) -> Result<BatchDelivery, LoadError> {
    progress("start of MinIO");
    let store = Store::start().await?;
    let settings = [
        // The limits per account are not under test.
        ("PLATEN_RATE_PER_MINUTE", "1000000"),
        ("PLATEN_CONCURRENCY", "256"),
        ("PLATEN_QUEUE_LIMIT", "1000"),
        ("PLATEN_EGRESS_ALLOW", "127.0.0.1"),
    ];
    let service = Service::start_with(binary, chromium, "all", &settings)?;
    let measured = service
        .while_it_runs(async |service| measure_service(service, &store, rows).await)
        .await;
    let stopped = store.stop().await;
    let measured = measured?;
    stopped?;
    Ok(measured)
}

async fn measure_service(service: &Service, store: &Store, rows: u64) -> Result<BatchDelivery, LoadError> {
    let measured = measure_accounts(service, store, rows).await;
    measured.map_err(|error| service.failure(&error.to_string()))
}

async fn measure_accounts(service: &Service, store: &Store, rows: u64) -> Result<BatchDelivery, LoadError> {
    progress("accounts, templates and storage connection");
    let account = Account::create(service, "batch").await?;
    let other = Account::create(service, "single").await?;
    store.create_bucket(BUCKET)?;
    account.connect(store).await?;

    progress("callers who wait");
    let mut callers = vec![account.measure_callers(service).await?];
    progress(&format!("a batch of {rows} rows, and callers who wait"));
    let batch = account.start_batch(MEASURED, rows).await?;
    let mut running = Duration::ZERO;
    let parts = (rows / ROWS_OF_A_PART).clamp(1, MOST_PARTS);
    for part in 1..=parts {
        let started = Instant::now();
        if part > 1 {
            batch.control("resume").await?;
        }
        if part < parts {
            batch.wait_until("succeeded", rows * part / parts).await?;
            batch.control("pause").await?;
        } else {
            batch.wait_until("opened", rows).await?;
        }
        account.wait_until_idle().await?;
        running += started.elapsed();
        callers.push(account.measure_callers(service).await?);
    }
    batch.wait_until("succeeded", rows).await?;
    let objects = store.list_objects(BUCKET, MEASURED)?.len() as u64;
    let (renders, seconds) = callers.iter().fold((0.0, 0.0), |(renders, seconds), round| {
        let count = round.renders as f64;
        (renders + count, seconds + count / round.renders_per_second)
    });
    let rates = || callers.iter().map(|round| round.renders_per_second);

    progress("single renders alone");
    let mut alone_ms = other.render_in_turn(SINGLE_RENDERS / 2).await?;
    progress("single renders beside a batch");
    let batch = account.start_batch(BESIDE, BESIDE_ROWS).await?;
    sleep(SETTLING).await;
    let beside_ms = other.render_in_turn(SINGLE_RENDERS).await?;
    let own_beside_ms = account.render_in_turn(SINGLE_RENDERS).await?;
    batch.cancel_while_it_runs().await?;
    sleep(SETTLING).await;
    progress("single renders alone, again");
    alone_ms.extend(other.render_in_turn(SINGLE_RENDERS / 2).await?);
    Ok(BatchDelivery {
        rows,
        objects,
        batched_per_second: rows as f64 / running.as_secs_f64(),
        callers_per_second: renders / seconds,
        callers_slowest: rates().fold(f64::INFINITY, f64::min),
        callers_fastest: rates().fold(0.0, f64::max),
        single_p95_alone_ms: percentile(&alone_ms, 95.0).unwrap_or_default(),
        single_p95_beside_ms: percentile(&beside_ms, 95.0).unwrap_or_default(),
        own_p95_beside_ms: percentile(&own_beside_ms, 95.0).unwrap_or_default(),
    })
}

/// An account that has the invoice as a template.
struct Account {
    client: Client,
    /// The template's id.
    template: String,
    /// A render of the template.
    order: Order,
}

impl Account {
    async fn create(service: &Service, name: &str) -> Result<Self, LoadError> {
        let client = service.new_client_with(name, "Scale").await?;
        let invoice = Arc::new(pages::invoice());
        let content = invoice.html.replace(INVOICE_NUMBER, "{{ number }}");
        let template = client.create_template("Invoice", &content).await?;
        let order = Order::of_template(&invoice, &template, &row(1));
        Ok(Self {
            client,
            template,
            order,
        })
    }

    /// Creates a storage connection for the bucket and tests it.
    async fn connect(&self, store: &Store) -> Result<(), LoadError> {
        let connection = json!({
            "connection": {
                "provider": "aws_s3",
                "name": "MinIO",
                "bucket": BUCKET,
                "endpoint": store.endpoint(),
                "credentials": store::access_key(),
            },
        });
        let id = self.client.create("connections", &connection).await?;
        let path = format!("connections/{id}/test");
        let tested = answer(self.client.request(Method::POST, &path)).await?;
        if tested["data"]["passed"].as_bool() == Some(true) {
            return Ok(());
        }
        Err(LoadError::Platen(format!("can't use the storage connection: {tested}")))
    }

    /// Measures concurrent callers who wait for each document.
    async fn measure_callers(&self, service: &Service) -> Result<Round, LoadError> {
        let callers = (0..CALLERS).map(|_| Renderer::new(&self.client, &self.order)).collect();
        let outcome = service.measure(callers, CALLERS_LIMIT).await?;
        let mut documents = outcome.documents.iter();
        documents.try_for_each(|document| self.order.check(document))?;
        Ok(outcome.round)
    }

    /// Waits until the account has no unfinished renders.
    async fn wait_until_idle(&self) -> Result<(), LoadError> {
        loop {
            let mut unfinished = 0;
            for state in ["queued", "processing"] {
                let path = format!("renders?state={state}&page_size={FEW_RENDERS}");
                let found = answer(self.client.request(Method::GET, &path)).await?;
                unfinished += found["data"].as_array().map_or(FEW_RENDERS, Vec::len);
            }
            match unfinished {
                0 => return Ok(()),
                1..FEW_RENDERS => sleep(LOOK_NEAR_THE_END).await,
                _ => sleep(LOOK_EVERY).await,
            }
        }
    }

    /// Renders one document after the other and returns the latencies in milliseconds.
    async fn render_in_turn(&self, count: usize) -> Result<Vec<f64>, LoadError> {
        let mut took_ms = Vec::new();
        // The first render warms up the session.
        for turn in 0..=count {
            let sent = Instant::now();
            self.client.render(&self.order).await?;
            if turn > 0 {
                took_ms.push(sent.elapsed().as_secs_f64() * 1e3);
            }
        }
        Ok(took_ms)
    }

    /// Creates a batch whose documents are delivered to `folder`, and uploads its rows.
    async fn start_batch(&self, folder: &str, rows: u64) -> Result<Batch<'_>, LoadError> {
        let destination = json!({
            "provider": "aws_s3",
            "bucket": BUCKET,
            "path": format!("{folder}/{{{{ number }}}}.pdf"),
        });
        let render = json!({ "destination": destination });
        let path = self.client.create_batch(&self.template, render).await?;
        self.client.upload_rows(&path, (1..=rows).map(row)).await?;
        Ok(Batch {
            client: &self.client,
            path,
        })
    }
}

/// A batch whose rows have been uploaded.
struct Batch<'a> {
    client: &'a Client,
    /// Path below `/api/v1/`.
    path: String,
}

impl Batch<'_> {
    /// Returns the batch as the API shows it; fails if a row failed or the batch is on hold.
    async fn look(&self) -> Result<Value, LoadError> {
        let mut body = answer(self.client.request(Method::GET, &self.path)).await?;
        let batch = body["data"].take();
        if batch["failed"] == 0 && batch["hold"].is_null() {
            return Ok(batch);
        }
        Err(LoadError::Platen(format!("has failed rows or a hold: {batch}")))
    }

    /// Waits until the batch counts so many rows as `succeeded`, which have a document that is delivered, or as `opened`. The counts
    /// lag behind by a second at most.
    async fn wait_until(&self, key: &str, rows: u64) -> Result<(), LoadError> {
        loop {
            let batch = self.look().await?;
            let count = batch[key].as_u64();
            if count.ok_or_else(|| LoadError::Platen(format!("a batch without {key}: {batch}")))? >= rows {
                return Ok(());
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Requests an action: `pause`, `resume` or `cancel`.
    async fn control(&self, action: &str) -> Result<(), LoadError> {
        answer(self.client.request(Method::POST, &format!("{}/{action}", self.path))).await?;
        Ok(())
    }

    /// Cancels the batch; fails unless it has finished rows and still has unfinished ones.
    async fn cancel_while_it_runs(&self) -> Result<(), LoadError> {
        let batch = self.look().await?;
        if batch["state"] != "running" || batch["succeeded"] == 0 {
            return Err(LoadError::Platen(format!(
                "was not busy with the batch all the time: {batch}"
            )));
        }
        self.control("cancel").await
    }
}

/// Returns the row with this number, counted from 1.
fn row(number: u64) -> Value {
    json!({ "number": format!("R-{number:06}") })
}

#[cfg(test)]
mod tests {
    use super::{INVOICE_NUMBER, row};
    use crate::pages;

    #[test]
    fn the_template_has_a_place_for_the_number() {
        assert!(pages::invoice().html.contains(INVOICE_NUMBER));
        assert!(!pages::invoice().html.contains("{{"));
    }

    #[test]
    fn rows_have_a_number_of_their_own() {
        assert_eq!(row(1).to_string(), r#"{"number":"R-000001"}"#);
    }
}
