//! A fake of the parts of Stripe that the payment tests need: its API, its pages, and its events. Unlike stripe-mock it
//! is stateful, but it doesn't validate requests, which stripe-mock does.

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

/// A running fake; stopped on drop.
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

    /// Sends the events since the last call to the webhook, if one is set.
    pub(crate) async fn send_events(&self) {
        let (target, events) = {
            let mut state = self.lock();
            let target = state.webhook.clone();
            (target, std::mem::take(&mut state.unsent))
        };
        let Some(target) = target else { return };
        for event in events {
            let body = event.to_string();
            let signature = sign(&body, &self.secret, state::now());
            let request = reqwest::Client::new()
                .post(&target)
                .header("stripe-signature", signature);
            // Stripe would retry; here, a lost event shows up in the test.
            let _ = request.body(body).send().await;
        }
    }
}

impl FakeStripe {
    /// Starts the fake on a free port.
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

    /// Returns the base URL, with a trailing slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits for the server to end, which happens only if it crashes.
    pub async fn ended(mut self) {
        let _ = (&mut self.server).await;
    }

    /// Returns the events since the last call, as request bodies.
    pub fn events(&self) -> Vec<String> {
        let unsent = std::mem::take(&mut self.state.lock().unsent);
        unsent.iter().map(Value::to_string).collect()
    }

    /// Returns the signature header for a body sent now.
    pub fn signature(&self, body: &str) -> String {
        sign(body, &self.secret, state::now())
    }

    /// Pays on this checkout page.
    pub fn pay(&self, page: &str) {
        let id = page.rsplit('/').next().expect("an id").to_owned();
        self.state.lock().pay(&id);
    }

    /// Returns the latest subscription.
    pub fn last_subscription(&self) -> Value {
        self.state.lock().subscriptions.last().expect("a subscription").clone()
    }

    /// Makes a payment fail: an invoice created `seconds_ago` stays open.
    pub fn fail_payment(&self, subscription: &str, seconds_ago: i64) {
        self.state.lock().fail_payment(subscription, seconds_ago);
    }

    /// Pays the open invoice.
    pub fn settle(&self, subscription: &str) {
        self.state.lock().settle(subscription);
    }

    /// Refunds `percent` of the unrefunded part of a customer's first payment for credits.
    pub fn refund(&self, customer: &str, percent: i64) {
        self.state.lock().refund(customer, percent);
    }

    /// Ends the time until which a larger plan remains paid after a downgrade.
    pub fn let_kept_pass(&self, subscription: &str) {
        self.state.lock().let_kept_pass(subscription);
    }

    /// Cancels a subscription immediately.
    pub fn end(&self, subscription: &str) {
        self.state.lock().end(subscription);
    }

    /// Sets the handling of meter events from now on.
    pub fn at_meter_events(&self, fate: MeterEvents) {
        self.state.lock().at_meter_events = fate;
    }

    /// Returns customer and credits of all counted meter events.
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

    /// Makes the next payment for a change be declined.
    pub fn decline_next(&self) {
        self.state.lock().decline_next = true;
    }

    /// Creates a subscription without a checkout, such as one created by hand at Stripe.
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
