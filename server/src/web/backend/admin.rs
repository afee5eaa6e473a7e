//! The operator pages. Every method begins with [`RequestBackend::operator`].

mod accounts;
mod announcements;
pub(in crate::web) mod audit_log;
mod failed_jobs;
mod health;

use async_trait::async_trait;
use platen_app::{
    backend::admin::AdminBackend,
    error::AppError,
    model::{admin::OperatorStanding, person::Person},
};
use platen_core::service::operators::{self, OperatorError};
use platen_domain::operator::Operator;

use super::RequestBackend;

impl RequestBackend {
    /// Returns the logged-in operator. For anyone else the error is [`AppError::NotFound`].
    pub(super) async fn operator(&self) -> Result<Operator, AppError> {
        let (db, user) = (&self.app.db, self.person()?.user);
        let found = self
            .operator
            .get_or_try_init(|| operators::of_person(db, user, &self.client));
        found.await.cloned().map_err(|error| match error {
            OperatorError::NotOperator => AppError::NotFound,
            OperatorError::SecondFactorFirst => AppError::SecondFactorFirst,
            OperatorError::Store(error) => self.internal(&error),
        })
    }

    /// As [`Self::operator`], for changes: requires that the operator has just confirmed their identity.
    pub(super) async fn confirmed_operator(&self) -> Result<Operator, AppError> {
        let operator = self.operator().await?;
        self.confirmed().map(|()| operator)
    }
}

#[async_trait]
impl AdminBackend for RequestBackend {
    async fn operator_standing(&self) -> Result<OperatorStanding, AppError> {
        let operator = self.operator().await?;
        Ok(OperatorStanding {
            person: Person {
                name: operator.name,
                email: operator.user.email,
            },
            health: self.health_summary().await,
        })
    }
}
