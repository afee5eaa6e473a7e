//! Hostile requests: their cost for the sender, the service and another account.

mod background;
mod bodies;
mod budget;
mod connections;
mod engine;
mod storage;
