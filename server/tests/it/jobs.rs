//! Renders that nobody waits for: how they are accepted, done, delivered and told of, and what survives.

mod accepted;
mod callbacks;
mod cancelled;
mod chaos;
mod default_bucket;
mod delivered;
mod destinations;
mod fairness;
mod recipes;
mod stored;
mod survival;
