//! Requests to Stripe, and the parts of its responses that the service uses.
//!
//! Everything that Stripe defines stays in this package: names of parameters, shapes of responses, names of statuses.
//! Callers get a few plain structs with only the fields that the service uses. Responses are parsed leniently, so that
//! additions by Stripe do no harm.

pub mod catalogue;
pub mod checkout;
pub mod client;
pub mod customers;
pub mod invoices;
pub mod metering;
pub mod subscriptions;
pub mod webhook;
mod wire;
