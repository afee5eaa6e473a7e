//! Payment by Stripe. What an account pays for is Stripe's to say: whatever happens there, somebody looks (`mirror`) and
//! writes down how things are now. Events only say that it is time to look, so their order and number make no difference.

mod arrears;
pub mod catalogue;
pub mod events;
pub mod mirror;
pub mod overage;
pub mod purchases;
pub mod reconciliation;
pub mod standing;

use std::sync::Arc;

use platen_billing::client::{Stripe, StripeError};
use secrecy::SecretString;
use sqlx::PgPool;

use crate::{
    config::billing::{BillingConfig, StripeConfig},
    store::error::StoreError,
};

/// What payment needs; cheap to clone.
#[derive(Clone)]
pub struct Billing {
    /// Connections to the database.
    pub db: PgPool,
    /// `None`: nothing is for sale.
    pub till: Option<Arc<Till>>,
}

/// An account at Stripe.
pub struct Till {
    /// Asks Stripe.
    pub stripe: Stripe,
    /// Proves that Stripe tells.
    pub webhook_secret: SecretString,
    /// Whether Stripe works out taxes.
    pub tax: bool,
}

/// Why something about payment is not done.
#[derive(Debug, thiserror::Error)]
pub enum BillingError {
    /// The operator has no account at Stripe.
    #[error("nothing is for sale here: PLATEN_STRIPE_SECRET_KEY is not set")]
    NotForSale,
    /// There is no such plan or pack, or it has no price.
    #[error("there is no such offer")]
    NoSuchOffer,
    /// The account has no subscription that this could be done to, or has one already, or a change is under way.
    #[error("the subscription does not stand so that this could be done")]
    WrongMoment,
    /// Stripe did not do it.
    #[error(transparent)]
    Stripe(#[from] StripeError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Billing {
    /// By the operator's settings.
    pub fn new(db: PgPool, config: &BillingConfig) -> Result<Self, StripeError> {
        let till = config.stripe.as_ref().map(Till::new).transpose()?;
        Ok(Self {
            db,
            till: till.map(Arc::new),
        })
    }

    /// The account at Stripe.
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
