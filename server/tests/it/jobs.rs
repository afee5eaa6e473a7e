//! Asynchronous renders: acceptance, rendering, delivery, webhooks and recovery.

mod accepted;
mod batches;
mod callbacks;
mod cancelled;
mod chaos;
mod default_bucket;
mod delivered;
mod destinations;
mod fairness;
mod links;
mod recipes;
mod stored;
mod survival;
mod upgrade;
