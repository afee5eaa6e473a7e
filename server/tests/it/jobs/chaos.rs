//! A batch under fault injection, with each fault once: every job ends exactly once.
//!
//! `PLATEN_CHAOS_JOBS` sets the number of jobs; see `make soak`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use time::{OffsetDateTime, format_description::well_known::Rfc2822};

use crate::support::{
    background::{page_with_callback, parsed},
    cluster::Cluster,
    fault_proxy::{Fault, FaultProxy},
    folder,
    object_stores::{Access, access_key, s3},
    process::processes_naming,
    receiver::Receiver,
    service::{TestAccount, TestService},
    studio::header,
};

/// Receiver and object store.
const ALLOWED: (&str, &str) = ("PLATEN_EGRESS_ALLOW", "127.0.0.1");
const ACCOUNTS: usize = 10;
const JOBS: usize = 500;
/// Duration of each outage.
const OUTAGE: Duration = Duration::from_secs(2);
/// Far more than the batch takes.
const PATIENCE: Duration = Duration::from_mins(10);

/// With more failures in a row, a job would use up its attempts.
const STORE_FAULTS: usize = 10;

/// Every fifth document goes to a bucket.
const BUCKET_EVERY: usize = 5;

/// Makes the clock of a process jump while it works, by more than the duration of a lease but less than the clock skew
/// that the object store accepts.
fn jumping(by: &str) -> [(&str, &str); 4] {
    [
        ("LD_PRELOAD", "/usr/$LIB/faketime/libfaketimeMT.so.1"),
        ("FAKETIME", by),
        ("FAKETIME_START_AFTER_SECONDS", "5"),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ]
}

struct Batch {
    cluster: Cluster,
    receiver: Receiver,
    store: FaultProxy,
    bucket: String,
    service: TestService,
    workers: Vec<Worker>,
    renders: Vec<String>,
}

/// A worker, and the folder of its browser profiles.
struct Worker {
    service: TestService,
    profiles: TempDir,
}

impl Worker {
    async fn assert_clock_has_jumped(&self) {
        let answer = self.service.client.get(self.service.url("/livez")).send().await;
        let answer = answer.expect("an answer");
        let clock = OffsetDateTime::parse(header(&answer, "date"), &Rfc2822).expect("a time");
        let off_by = (clock - OffsetDateTime::now_utc()).abs();
        assert!(off_by > time::Duration::minutes(9), "{off_by}");
    }
}

impl Batch {
    async fn start(jobs: usize) -> Self {
        let (cluster, receiver) = (Cluster::start().await, Receiver::start().await);
        let s3 = s3().await;
        let (store, bucket) = (FaultProxy::before(&s3.authority, []).await, s3.bucket(Access::Full));
        let service = TestService::start_at(cluster.url(), &[("PLATEN_ROLE", "web"), ALLOWED]).await;
        let mut batch = Self {
            cluster,
            receiver,
            store,
            bucket,
            service,
            workers: Vec::new(),
            renders: Vec::new(),
        };
        let accounts: Vec<TestAccount> = (0..ACCOUNTS)
            .map(|number| batch.service.account(&format!("account{number}@example.org")))
            .collect();
        for account in &accounts {
            batch.connect(account).await;
        }
        for job in 0..jobs {
            let html = format!("<title>{job}</title><h1>Invoice {job}");
            let mut page = page_with_callback(&html, &batch.receiver.url("/ok"));
            if job % BUCKET_EVERY == 0 {
                let path = format!("{job}.pdf");
                page["destination"] = json!({"provider": "aws_s3", "bucket": batch.bucket, "path": path});
            }
            batch
                .renders
                .push(batch.service.queued(&accounts[job % ACCOUNTS], &page).await);
        }
        for clock in ["+10m", "-10m"] {
            batch.add_worker(&jumping(clock)).await;
        }
        batch
    }

    /// Creates a storage connection.
    async fn connect(&self, account: &TestAccount) {
        let connection = json!({
            "name": "store", "provider": "aws_s3", "bucket": self.bucket, "endpoint": self.store.endpoint(),
            "credentials": access_key(),
        });
        let request = self.service.client.post(self.service.url("/api/v1/connections"));
        let request = request
            .bearer_auth(&account.key)
            .json(&json!({"connection": connection}));
        assert_eq!(request.send().await.expect("an answer").status(), 201);
    }

    async fn add_worker(&mut self, settings: &[(&str, &str)]) {
        let profiles = folder::temporary();
        let own = [
            ("PLATEN_ROLE", "worker"),
            ALLOWED,
            ("TMPDIR", profiles.path().to_str().expect("a plain path")),
        ];
        let service = self.service.beside(&[&own, settings].concat()).await;
        self.workers.push(Worker { service, profiles });
    }

    /// Returns once this share of the batch's webhooks has been delivered.
    async fn progress(&self, share: f64) {
        let wanted = (self.renders.len() as f64 * share) as usize;
        let deadline = Instant::now() + PATIENCE;
        while self.told().len() < wanted {
            assert!(
                Instant::now() < deadline,
                "{} of {wanted} were told of",
                self.told().len()
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns the delivered bodies, by the id of the webhook.
    fn told(&self) -> BTreeMap<String, Vec<Value>> {
        let mut told = BTreeMap::<_, Vec<_>>::new();
        for callback in self.receiver.received() {
            let id = callback.headers["webhook-id"].to_str().expect("text").to_owned();
            told.entry(id).or_default().push(parsed(&callback.body));
        }
        told
    }

    async fn number(&self, query: &str) -> i64 {
        self.service.number(query).await
    }

    /// Retries postponed jobs now, instead of in a minute.
    async fn hasten(&self) {
        self.service
            .execute("update jobs set run_at = now() where not due")
            .await;
    }
}

#[tokio::test]
async fn everything_fails_once_and_every_job_ends_exactly_once() {
    let jobs = std::env::var("PLATEN_CHAOS_JOBS")
        .ok()
        .and_then(|jobs| jobs.parse().ok())
        .unwrap_or(JOBS);
    let started = Instant::now();
    let mut batch = Batch::start(jobs).await;

    batch.progress(0.05).await;
    let killed = batch.workers.remove(0);
    killed.service.process.signal(Signal::KILL);
    batch.add_worker(&jumping("+10m")).await;

    batch.progress(0.2).await;
    for worker in &batch.workers {
        let browsers = processes_naming(worker.profiles.path());
        assert!(!browsers.is_empty());
        for id in browsers {
            let _ = kill_process(Pid::from_raw(id.cast_signed()).expect("a process id"), Signal::KILL);
        }
    }

    batch.progress(0.35).await;
    batch.cluster.crash().await;

    batch.progress(0.5).await;
    batch.cluster.signal(Signal::STOP);
    tokio::time::sleep(OUTAGE).await;
    batch.cluster.signal(Signal::CONT);

    // The folder of the documents can't be written to, as if the disk were full.
    batch.progress(0.6).await;
    let folder = batch.service.data().join("renders");
    let away = batch.service.data().join("away");
    fs::rename(&folder, &away).expect("ours");
    fs::write(&folder, "").expect("ours");
    tokio::time::sleep(OUTAGE).await;
    fs::remove_file(&folder).expect("ours");
    fs::rename(&away, &folder).expect("ours");

    // Half of the requests to the object store are lost, half of the responses.
    let faults = [Fault::Dropped, Fault::AnswerLost];
    batch.store.spoil(faults.into_iter().cycle().take(STORE_FAULTS));

    // As if every worker had been cut off for longer than its leases.
    batch.progress(0.7).await;
    batch
        .service
        .execute("update jobs set lease_until = now() - interval '1 second' where claim is not null")
        .await;

    batch.progress(0.8).await;
    batch.receiver.refuse(true);
    tokio::time::sleep(OUTAGE).await;
    batch.receiver.refuse(false);
    batch.hasten().await;

    let deadline = Instant::now() + PATIENCE;
    while batch.number("select count(*) from jobs").await > 0 {
        assert!(Instant::now() < deadline, "jobs are left");
        batch.hasten().await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    for worker in &batch.workers {
        worker.assert_clock_has_jumped().await;
    }
    settle(&batch, started.elapsed()).await;
}

/// Counts the results, prints the table and asserts the expected numbers.
async fn settle(batch: &Batch, took: Duration) {
    let told = batch.told();
    let contradictory = told
        .values()
        .filter(|bodies| bodies.iter().any(|body| *body != bodies[0]))
        .count();
    let received: usize = told.values().map(Vec::len).sum();
    let documents: BTreeSet<_> = batch.service.stored_documents().into_iter().collect();
    let objects = s3().await.keys(&batch.bucket).await;
    let in_bucket = batch.renders.len().div_ceil(BUCKET_EVERY);
    let named = told.values().filter_map(|bodies| bodies[0]["result"]["name"].as_str());
    let named: BTreeSet<_> = named
        .filter_map(|name| name.strip_prefix("renders/"))
        .map(Into::into)
        .collect();
    let jobs = count(batch.renders.len());
    let counted = [
        (
            "renders that succeeded",
            batch
                .number("select count(*) from renders where status = 'succeeded'")
                .await,
            jobs,
        ),
        (
            "renders in any other state",
            batch
                .number("select count(*) from renders where status <> 'succeeded'")
                .await,
            0,
        ),
        (
            "credits charged",
            batch.number("select sum(used)::bigint from credit_periods").await,
            jobs,
        ),
        (
            "credits by meter",
            batch.number("select sum(credits)::bigint from usage_days").await,
            jobs,
        ),
        ("credits still reserved", batch.service.reserved_credits().await, 0),
        (
            "documents in the service's own storage",
            count(documents.len()),
            jobs - count(in_bucket),
        ),
        ("documents in the bucket", count(objects.len()), count(in_bucket)),
        (
            "documents that no callback names",
            count(documents.difference(&named).count()),
            0,
        ),
        ("callbacks", count(told.len()), jobs),
        ("callbacks with two outcomes", count(contradictory), 0),
    ];
    println!(
        "{jobs} jobs of {ACCOUNTS} accounts in {:.0} s, {received} callbacks received",
        took.as_secs_f64()
    );
    for (what, found, expected) in counted {
        println!("{found:>6}  {what} ({expected})");
    }
    for (what, found, expected) in counted {
        assert_eq!(found, expected, "{what}");
    }
    batch.service.storage_is_counted().await;
}

fn count(things: usize) -> i64 {
    i64::try_from(things).expect("not so many")
}
