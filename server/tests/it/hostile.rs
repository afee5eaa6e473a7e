//! Requests that are meant to hurt: what each costs its sender, the service and a neighbour.

mod background;
mod bodies;
mod budget;
mod connections;
mod engine;
mod storage;
