//! Plans, credit packs and their payment.

use async_trait::async_trait;
use platen_app::{
    backend::payment::PaymentBackend,
    error::AppError,
    model::{payment::Payment, rejection::Field},
};
use platen_core::{
    clock,
    service::billing::{BillingError, purchases, status},
};
use platen_domain::role::Permission::ManageBilling;
use time::OffsetDateTime;

use crate::web::backend::{RequestBackend, number, visitor_errors::invalid};

#[async_trait]
impl PaymentBackend for RequestBackend {
    async fn payment(&self, choice: Option<String>, back: bool) -> Result<Payment, AppError> {
        if self.app.billing.till.is_none() {
            return Ok(Payment::ByOperator);
        }
        match self.caller_who_may(ManageBilling).await {
            Ok(caller) => self.catalog(&caller, choice, back).await,
            Err(AppError::NotAllowed(_)) => Ok(Payment::ForOwners),
            Err(error) => Err(error),
        }
    }

    async fn subscribe(&self, plan: String) -> Result<String, AppError> {
        self.answer(purchases::subscribe(&self.app.billing, &self.buyer().await?, &plan).await)
    }

    async fn buy_credits(&self, product: String) -> Result<String, AppError> {
        self.answer(purchases::buy_credits(&self.app.billing, &self.buyer().await?, &product).await)
    }

    async fn payment_portal(&self) -> Result<String, AppError> {
        let caller = self.confirmed_caller_who_may(ManageBilling).await?;
        self.answer(purchases::portal(&self.app.billing, &caller, &self.billing_page()?).await)
    }

    async fn change_plan(&self, plan: String, as_of: i64) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManageBilling).await?;
        let as_of = OffsetDateTime::from_unix_timestamp(as_of).map_err(|_| AppError::Malformed)?;
        self.answer(purchases::change(&self.app.billing, &caller, &plan, as_of, clock::now()).await)
    }

    async fn keep_plan(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageBilling).await?;
        self.answer(purchases::keep(&self.app.billing, &caller, clock::now()).await)
    }

    async fn set_overage_limit(&self, credits: String) -> Result<(), AppError> {
        let (caller, now) = (self.confirmed_caller_who_may(ManageBilling).await?, clock::now());
        let overage = self.answer(status::overage(&self.app.billing, caller.account, now).await)?;
        let most = self.answer(overage.ok_or(BillingError::WrongMoment))?.most;
        let mut problems = Vec::new();
        let limit = number(&mut problems, Field::OverageLimit, &credits, 0, most);
        if !problems.is_empty() {
            return Err(invalid(problems));
        }
        self.answer(purchases::set_overage_limit(&self.app.billing, &caller, limit.unwrap_or(0), now).await)
    }

    async fn cancel_subscription(&self) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManageBilling).await?;
        self.answer(purchases::cancel(&self.app.billing, &caller, clock::now()).await)
    }

    async fn resume_subscription(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageBilling).await?;
        self.answer(purchases::resume(&self.app.billing, &caller, clock::now()).await)
    }
}
