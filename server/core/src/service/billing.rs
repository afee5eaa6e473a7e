//! Payment by Stripe, which is the source of truth for what an account pays for. After any change there, `mirror` reads
//! the customer's current state and stores it. Events only trigger that, so their order and number don't matter.

mod arrears;
pub mod catalogue;
pub mod events;
pub mod mirror;
pub mod overage;
pub mod purchases;
pub mod reconciliation;
pub mod status;

use std::sync::Arc;

use platen_billing::client::{Stripe, StripeError};
use secrecy::SecretString;
use sqlx::PgPool;

use crate::{
    config::billing::{BillingConfig, StripeConfig},
    store::error::StoreError,
};

/// Dependencies of billing. Cheap to clone.
#[derive(Clone)]
pub struct Billing {
    pub db: PgPool,
    /// `None` if the operator has not configured Stripe: nothing is for sale.
    pub till: Option<Arc<Till>>,
}

/// The operator's account at Stripe.
pub struct Till {
    pub stripe: Stripe,
    /// Secret that verifies the signatures of webhook events.
    pub webhook_secret: SecretString,
    /// Whether Stripe calculates taxes.
    pub tax: bool,
}

/// Error of an operation on plans, subscriptions or payments.
#[derive(Debug, thiserror::Error)]
pub enum BillingError {
    /// The operator has not configured Stripe.
    #[error("nothing is for sale: PLATEN_STRIPE_SECRET_KEY is not set")]
    NotForSale,
    /// The plan or pack does not exist, or has no price.
    #[error("there is no such offer")]
    NoSuchOffer,
    /// The account has no subscription that can be changed this way, has one already, or has a change pending.
    #[error("the subscription's current status does not allow this")]
    WrongMoment,
    /// Stripe refused the request or could not be reached.
    #[error(transparent)]
    Stripe(#[from] StripeError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Billing {
    /// Creates the client from the operator's settings.
    pub fn new(db: PgPool, config: &BillingConfig) -> Result<Self, StripeError> {
        let till = config.stripe.as_ref().map(Till::new).transpose()?;
        Ok(Self {
            db,
            till: till.map(Arc::new),
        })
    }

    /// Returns the operator's account at Stripe, or [`BillingError::NotForSale`].
    pub fn till(&self) -> Result<&Till, BillingError> {
        self.till.as_deref().ok_or(BillingError::NotForSale)
    }
}

impl Till {
    fn new(config: &StripeConfig) -> Result<Self, StripeError> {
        Ok(Self {
            stripe: Stripe::new(&config.key, &config.api)?,
            webhook_secret: config.webhook_secret.clone(),
            tax: config.tax,
        })
    }
}
