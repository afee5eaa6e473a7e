//! Stripe customers, one for each account that has ever begun a purchase.

use miniserde::Deserialize;

use crate::{
    client::{Stripe, StripeError},
    wire::Named,
};

/// A customer to create.
#[derive(Debug, Clone)]
pub struct NewCustomer<'a> {
    /// Id of the account. Repeated requests for one account create a single customer.
    pub account: &'a str,
    /// Name of the account.
    pub name: &'a str,
    /// Address to which invoices are sent until the customer changes it.
    pub email: &'a str,
}

/// Recipient of invoices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payer {
    /// Name; `None` if it is empty or not set.
    pub name: Option<String>,
    /// Address to which invoices are sent.
    pub email: Option<String>,
}

#[derive(Deserialize)]
struct PayerWire {
    name: Option<String>,
    email: Option<String>,
}

impl Stripe {
    /// Creates a customer and returns its id.
    pub async fn create_customer(&self, new: &NewCustomer<'_>) -> Result<String, StripeError> {
        let form = vec![
            ("name", new.name.to_owned()),
            ("email", new.email.to_owned()),
            ("metadata[platen_account]", new.account.to_owned()),
        ];
        let key = format!("platen-customer-{}", new.account);
        let made: Named = self.post_once("/customers".to_owned(), form, &key).await?;
        Ok(made.id)
    }

    /// Returns the recipient of a customer's invoices.
    pub async fn payer(&self, customer: &str) -> Result<Payer, StripeError> {
        let found: PayerWire = self.get(format!("/customers/{customer}"), Vec::new()).await?;
        Ok(Payer {
            name: found.name.filter(|name| !name.is_empty()),
            email: found.email,
        })
    }
}
