//! Payment, with a stateful fake of Stripe and with stripe-mock, which validates requests.

mod any_order;
mod command;
mod overage;
mod plans;
mod well_formed;
