//! A client that sends single requests all the time, to the web process that a load balancer would choose.

use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};
use serde_json::json;
use tokio::{
    sync::RwLock,
    time::{MissedTickBehavior, interval, timeout},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    error::LoadError,
    platen::{Service, client::Client},
};

/// Time between two requests of a kind.
const SEND_EVERY: Duration = Duration::from_millis(50);
/// A request without a response after this time counts as failed.
const PATIENCE: Duration = Duration::from_secs(30);
/// Size of the documents of `platen-simulated`, which consist of zeros.
const DOCUMENT_BYTES: usize = 30_000;

pub(super) struct Traffic {
    /// Cloned for each request, so that those in progress don't keep others from changing to another process.
    client: RwLock<Client>,
    stopped: CancellationToken,
}

/// Responses to requests of a kind.
#[derive(Debug, Default, Serialize)]
pub(super) struct Responses {
    /// Accepted renders.
    #[serde(rename = "accepted", serialize_with = "serialize_length")]
    pub(super) renders: Vec<Uuid>,
    /// Longest time between two accepted requests, from the start to the first, or from the last to the end.
    pub(super) longest_gap_ms: f64,
    /// Requests without a response, or with an error.
    pub(super) errors: usize,
    pub(super) first_error: Option<String>,
}

impl Traffic {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client: RwLock::new(client),
            stopped: CancellationToken::new(),
        }
    }

    /// Sends all further requests to a process. Those in progress stay with the process that they were sent to.
    pub(super) async fn switch_to(&self, service: &Service) {
        let mut client = self.client.write().await;
        *client = service.client(&client.key);
    }

    /// Ends the requests.
    pub(super) fn stop(&self) {
        self.stopped.cancel();
    }

    /// Queues renders with a callback until [`Self::stop`].
    pub(super) async fn enqueue(&self, callback: &str) -> Responses {
        let body = json!({ "parts": ["<p>Single"], "callback": { "url": callback } });
        self.send(async |client: &Client| client.enqueue(&body).await).await
    }

    /// Requests synchronous renders until [`Self::stop`], and compares their documents.
    pub(super) async fn render(&self) -> Responses {
        let body = json!({ "parts": ["<p>Single"], "output_encoding": "binary" });
        self.send(async |client: &Client| {
            let (render, document) = client.request_render("renderers/pdf", &body).await?;
            if document.len() == DOCUMENT_BYTES && document.iter().all(|byte| *byte == 0) {
                Ok(render)
            } else {
                let length = document.len();
                Err(LoadError::Platen(format!(
                    "answered render {render} with {length} bytes that are not its document"
                )))
            }
        })
        .await
    }

    async fn send(&self, request: impl AsyncFn(&Client) -> Result<Uuid, LoadError>) -> Responses {
        let (mut responses, mut last) = (Responses::default(), Instant::now());
        let mut ticks = interval(SEND_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.stopped.is_cancelled() {
            ticks.tick().await;
            let client = self.client.read().await.clone();
            match timeout(PATIENCE, request(&client)).await {
                Ok(Ok(render)) => {
                    responses.renders.push(render);
                    responses.extend_gap(last);
                    last = Instant::now();
                }
                Ok(Err(error)) => responses.fail(error.to_string()),
                Err(_) => responses.fail(format!("no response after {} s", PATIENCE.as_secs())),
            }
        }
        responses.extend_gap(last);
        responses
    }
}

impl Responses {
    fn fail(&mut self, error: String) {
        self.errors += 1;
        self.first_error.get_or_insert(error);
    }

    fn extend_gap(&mut self, since: Instant) {
        self.longest_gap_ms = self.longest_gap_ms.max(since.elapsed().as_secs_f64() * 1e3);
    }
}

fn serialize_length<S: Serializer>(renders: &[Uuid], serializer: S) -> Result<S::Ok, S::Error> {
    renders.len().serialize(serializer)
}
