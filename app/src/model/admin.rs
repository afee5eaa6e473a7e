//! View models of the operator pages.

pub mod accounts;
pub mod failed_jobs;
pub mod health;

use platen_domain::health::process::HealthSummary;

use crate::model::person::Person;

/// Data that every operator page shows beside its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorStanding {
    /// The logged-in operator.
    pub person: Person,
    /// Health of the service. `None` if it can't be determined.
    pub health: Option<HealthSummary>,
}
