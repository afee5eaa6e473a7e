//! Callers of many accounts: where sessions are not simply found warm.

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

/// Every render is the next account's.
#[derive(Clone)]
pub(crate) struct ManyAccounts {
    clients: Arc<Vec<Client>>,
    next: Arc<AtomicUsize>,
    order: Order,
}

/// One account's renders, but every tenth is the first render of an account that was never seen before.
#[derive(Clone)]
pub(crate) struct Newcomers {
    regular: Client,
    unseen: Arc<Mutex<Vec<Client>>>,
    begun: Arc<AtomicUsize>,
    first_renders_ms: Arc<Mutex<Vec<f64>>>,
    order: Order,
}

/// Every which render is a newcomer's.
pub(crate) const NEWCOMER_INTERVAL: usize = 10;

impl ManyAccounts {
    /// Takes turns between `clients`, over all clones of this caller.
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
    /// Uses up `newcomers`, over all clones of this caller.
    pub(crate) fn new(regular: &Client, newcomers: Vec<Client>, order: &Order) -> Self {
        Self {
            regular: regular.clone(),
            unseen: Arc::new(Mutex::new(newcomers)),
            begun: Arc::default(),
            first_renders_ms: Arc::default(),
            order: order.clone(),
        }
    }

    /// What the first renders took so far.
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
