//! Payment, by a fake of Stripe that remembers, and by stripe-mock, which knows how requests have to look.

mod any_order;
mod command;
mod overage;
mod plans;
mod well_formed;
