//! As much of Stripe as the tests of payment need: its API, its pages, and the events that it sends. It remembers what it
//! is told, which stripe-mock does not; whether a request is well-formed is for stripe-mock to say.

#![expect(clippy::unwrap_used, reason = "tests say what went wrong by ending")]

mod api;
mod pages;
mod state;

use std::sync::{Arc, Mutex, MutexGuard};

use aws_lc_rs::hmac;
use axum::Router;
use serde_json::Value;
use tokio::{net::TcpListener, task::JoinHandle};

pub use crate::state::MeterEvents;
use crate::state::State;

/// A running fake; ended with the value.
pub struct FakeStripe {
    url: String,
    secret: String,
    state: Shared,
    server: JoinHandle<()>,
}

#[derive(Clone)]
pub(crate) struct Shared {
    state: Arc<Mutex<State>>,
    secret: String,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    /// Sends what has happened since the last time, if somebody wants to know.
    pub(crate) async fn tell(&self) {
        let (target, events) = {
            let mut state = self.lock();
            let target = state.webhook.clone();
            (target, std::mem::take(&mut state.untold))
        };
        let Some(target) = target else { return };
        for event in events {
            let body = event.to_string();
            let signature = sign(&body, &self.secret, state::now());
            let request = reqwest::Client::new()
                .post(&target)
                .header("stripe-signature", signature);
            // Stripe would try again; tests see what is missing.
            let _ = request.body(body).send().await;
        }
    }
}

impl FakeStripe {
    /// Starts it on a free port.
    pub async fn start(secret: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/", listener.local_addr().expect("bound"));
        let state = Shared {
            state: Arc::new(Mutex::new(State::new(&url))),
            secret: secret.to_owned(),
        };
        let router: Router = api::routes().merge(pages::routes()).with_state(state.clone());
        let server = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self {
            url,
            secret: secret.to_owned(),
            state,
            server,
        }
    }

    /// With a slash at its end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Never, unless it crashes.
    pub async fn ended(mut self) {
        let _ = (&mut self.server).await;
    }

    /// Everything that has happened since the last time, as bodies of events.
    pub fn events(&self) -> Vec<String> {
        let untold = std::mem::take(&mut self.state.lock().untold);
        untold.iter().map(Value::to_string).collect()
    }

    /// The header for a body that is sent now.
    pub fn signature(&self, body: &str) -> String {
        sign(body, &self.secret, state::now())
    }

    /// The person pays who was sent to this page.
    pub fn pay(&self, page: &str) {
        let id = page.rsplit('/').next().expect("an id").to_owned();
        self.state.lock().pay(&id);
    }

    /// The last subscription that was made.
    pub fn last_subscription(&self) -> Value {
        self.state.lock().subscriptions.last().expect("a subscription").clone()
    }

    /// A payment fails: an invoice that was made so many seconds ago stays open.
    pub fn fail_payment(&self, subscription: &str, seconds_ago: i64) {
        self.state.lock().fail_payment(subscription, seconds_ago);
    }

    /// What is open is paid after all.
    pub fn settle(&self, subscription: &str) {
        self.state.lock().settle(subscription);
    }

    /// So many hundredths of the rest of what a customer has paid for credits are given back.
    pub fn refund(&self, customer: &str, percent: i64) {
        self.state.lock().refund(customer, percent);
    }

    /// What stays paid for after a change to something smaller does so no longer.
    pub fn let_kept_pass(&self, subscription: &str) {
        self.state.lock().let_kept_pass(subscription);
    }

    /// Ends a subscription at once.
    pub fn end(&self, subscription: &str) {
        self.state.lock().end(subscription);
    }

    /// Says what becomes of events for a meter from now on.
    pub fn at_meter_events(&self, fate: MeterEvents) {
        self.state.lock().at_meter_events = fate;
    }

    /// Customers and credits of all events for a meter that were counted.
    pub fn counted(&self) -> Vec<(String, i64)> {
        let state = self.state.lock();
        let payloads = state.meter_events.iter().map(|event| &event["payload"]);
        payloads
            .map(|payload| {
                let customer = payload["stripe_customer_id"].as_str().expect("a customer");
                (customer.to_owned(), payload["value"].as_i64().expect("a number"))
            })
            .collect()
    }

    /// Lets the next payment for a change be declined.
    pub fn decline_next(&self) {
        self.state.lock().decline_next = true;
    }

    /// A subscription that nobody here has asked for, such as one made by hand at Stripe.
    pub fn subscribe_by_hand(&self, customer: &str, product: &str) {
        self.state.lock().subscribe_to_product(customer, product);
    }
}

impl Drop for FakeStripe {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn sign(body: &str, secret: &str, at: i64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("{at}.{body}").as_bytes());
    let hex: Vec<String> = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={at},v1={}", hex.concat())
}
