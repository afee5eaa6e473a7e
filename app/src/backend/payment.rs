//! The part of [`Backend`](super::Backend) for payment.

use async_trait::async_trait;

use crate::{error::AppError, model::payment::Payment};

/// Plans, credit packs and their payment. Each method authorizes itself, as those of [`Backend`](super::Backend);
/// all but [`Self::payment`] are for owners only.
#[async_trait]
pub trait PaymentBackend: Send + Sync {
    /// Returns the catalog, the subscription and the billing details. `choice` is the plan that the user has selected.
    /// With `back`, the user has just paid: the state is read from Stripe at once instead of after its webhook.
    async fn payment(&self, choice: Option<String>, back: bool) -> Result<Payment, AppError>;

    /// Returns the address of the checkout page for a plan.
    async fn subscribe(&self, plan: String) -> Result<String, AppError>;

    /// Returns the address of the checkout page for a credit pack.
    async fn buy_credits(&self, product: String) -> Result<String, AppError>;

    /// Returns the address of the Stripe page where card, address and tax id are changed.
    async fn payment_portal(&self) -> Result<String, AppError>;

    /// Switches to another plan. `as_of` is the time for which the displayed amount was calculated, in Unix seconds.
    async fn change_plan(&self, plan: String, as_of: i64) -> Result<(), AppError>;

    /// Cancels a scheduled change to a smaller plan.
    async fn keep_plan(&self) -> Result<(), AppError>;

    /// Sets how many credits may be used beyond those of each period, as typed. Empty means 0.
    async fn set_overage_limit(&self, credits: String) -> Result<(), AppError>;

    /// Cancels the subscription at the end of its period.
    async fn cancel_subscription(&self) -> Result<(), AppError>;

    /// Undoes [`Self::cancel_subscription`].
    async fn resume_subscription(&self) -> Result<(), AppError>;
}
