//! What pages ask about payment.

use async_trait::async_trait;

use crate::{error::AppError, model::payment::Payment};

/// What the account pays for. All but the first is for its owners.
#[async_trait]
pub trait PaymentBackend: Send + Sync {
    /// How it stands. `choice`: the plan that the person has chosen. `back`: they have just paid, and are not to wait until
    /// that is told.
    async fn payment(&self, choice: Option<String>, back: bool) -> Result<Payment, AppError>;

    /// The page on which a plan is paid for.
    async fn subscribe(&self, plan: String) -> Result<String, AppError>;

    /// The page on which credits are paid for.
    async fn buy_credits(&self, product: String) -> Result<String, AppError>;

    /// The page on which card, address and tax id are looked after.
    async fn payment_portal(&self) -> Result<String, AppError>;

    /// Takes another plan; `as_of`: when the amount was worked out that was shown, in seconds since 1970.
    async fn change_plan(&self, plan: String, as_of: i64) -> Result<(), AppError>;

    /// Stays with the plan although a smaller one was chosen.
    async fn keep_plan(&self) -> Result<(), AppError>;

    /// Says how many credits may be used beyond those of each period, as somebody has typed it; nothing is 0.
    async fn set_overage_limit(&self, credits: String) -> Result<(), AppError>;

    /// Lets the subscription end with its period.
    async fn cancel_subscription(&self) -> Result<(), AppError>;

    /// Takes that back.
    async fn resume_subscription(&self) -> Result<(), AppError>;
}
