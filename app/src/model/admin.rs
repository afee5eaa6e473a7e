//! What the operators' pages show.

pub mod accounts;
pub mod announcement;
pub mod audit_log;
pub mod failed_work;
pub mod health;

use crate::model::{admin::health::HealthSummary, person::Person};

/// What every page of theirs shows beside its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorStanding {
    /// Who is logged in.
    pub person: Person,
    /// How the service is; nothing when that can't be said.
    pub health: Option<HealthSummary>,
}
