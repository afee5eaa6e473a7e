//! Workload mixes of many accounts, whose sessions are not always warm.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use bytes::Bytes;

use crate::{
    error::LoadError,
    measure::Caller,
    platen::client::{Client, Order},
};

/// Takes the next account for each render.
#[derive(Clone)]
pub(crate) struct ManyAccounts {
    clients: Arc<Vec<Client>>,
    next: Arc<AtomicUsize>,
    order: Order,
}

/// Renders for one account, but every tenth render is the first of an unused account.
#[derive(Clone)]
pub(crate) struct Newcomers {
    regular: Client,
    unseen: Arc<Mutex<Vec<Client>>>,
    begun: Arc<AtomicUsize>,
    first_renders_ms: Arc<Mutex<Vec<f64>>>,
    order: Order,
}

/// One render in this many is a newcomer's.
pub(crate) const NEWCOMER_INTERVAL: usize = 10;

impl ManyAccounts {
    /// Rotates through `clients`, across all clones of this caller.
    pub(crate) fn new(clients: Vec<Client>, order: &Order) -> Self {
        Self {
            clients: Arc::new(clients),
            next: Arc::default(),
            order: order.clone(),
        }
    }
}

impl Caller for ManyAccounts {
    async fn render(&mut self) -> Result<Bytes, LoadError> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.clients.len();
        self.clients[turn].render(&self.order).await
    }
}

impl Newcomers {
    /// Consumes `newcomers`, across all clones of this caller.
    pub(crate) fn new(regular: &Client, newcomers: Vec<Client>, order: &Order) -> Self {
        Self {
            regular: regular.clone(),
            unseen: Arc::new(Mutex::new(newcomers)),
            begun: Arc::default(),
            first_renders_ms: Arc::default(),
            order: order.clone(),
        }
    }

    /// Returns the latencies of the first renders so far.
    pub(crate) fn first_renders_ms(&self) -> Vec<f64> {
        self.first_renders_ms
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn next_newcomer(&self) -> Option<Client> {
        let turn = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        if !turn.is_multiple_of(NEWCOMER_INTERVAL) {
            return None;
        }
        self.unseen.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

impl Caller for Newcomers {
    async fn render(&mut self) -> Result<Bytes, LoadError> {
        let Some(newcomer) = self.next_newcomer() else {
            return self.regular.render(&self.order).await;
        };
        let sent = Instant::now();
        let document = newcomer.render(&self.order).await?;
        let mut first_renders_ms = self.first_renders_ms.lock().unwrap_or_else(PoisonError::into_inner);
        first_renders_ms.push(sent.elapsed().as_secs_f64() * 1e3);
        Ok(document)
    }
}
