//! Customers: to Stripe, each of our accounts that has ever wanted to pay is one.

use miniserde::Deserialize;

use crate::{
    client::{Stripe, StripeError},
    wire::Named,
};

/// Who is to become a customer.
#[derive(Debug, Clone)]
pub struct NewCustomer<'a> {
    /// Id of the account; it becomes one customer, however often this is asked.
    pub account: &'a str,
    /// What it is called.
    pub name: &'a str,
    /// Where invoices go until the customer says otherwise.
    pub email: &'a str,
}

/// Whom invoices are made out to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payer {
    /// Name, if there is one.
    pub name: Option<String>,
    /// Where invoices go.
    pub email: Option<String>,
}

#[derive(Deserialize)]
struct PayerWire {
    name: Option<String>,
    email: Option<String>,
}

impl Stripe {
    /// Makes a customer. Returns its id.
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

    /// Whom a customer's invoices are made out to.
    pub async fn payer(&self, customer: &str) -> Result<Payer, StripeError> {
        let found: PayerWire = self.get(format!("/customers/{customer}"), Vec::new()).await?;
        Ok(Payer {
            name: found.name.filter(|name| !name.is_empty()),
            email: found.email,
        })
    }
}
