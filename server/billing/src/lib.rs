//! What the service says to Stripe, and what it reads of its answers.
//!
//! Everything that Stripe has decided stays here: names of parameters, shapes of answers, words for states. What comes out
//! are a few plain structs with only what the service uses, read leniently, so that whatever Stripe adds does no harm.

pub mod catalogue;
pub mod checkout;
pub mod client;
pub mod customers;
pub mod invoices;
pub mod metering;
pub mod subscriptions;
pub mod webhook;
mod wire;
