//! Tests of the real binary with a real Postgres and a real Chromium.

mod api;
mod backup;
mod batch_command;
mod billing;
mod cli;
mod connections;
mod database_away;
mod embedded;
mod handbook;
mod hostile;
mod inspect;
mod jobs;
mod keys;
mod lifecycle;
mod metrics;
mod people;
mod quick_starts;
mod render;
mod secret_key;
mod storage;
mod storage_limits;
mod support;
mod templates_command;
mod tenancy;
mod traces;
mod web;
