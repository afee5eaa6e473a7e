//! Pages that Stripe hosts: checkout, and the billing portal, where customers edit card, address and tax id.

use miniserde::Deserialize;
use time::OffsetDateTime;

use crate::{
    client::{Form, Stripe, StripeError},
    wire::moment,
};

/// A purchase to create a checkout page for.
#[derive(Debug, Clone)]
pub struct Purchase<'a> {
    /// Id of the customer.
    pub customer: &'a str,
    /// Id of the price.
    pub price: &'a str,
    /// What is bought.
    pub kind: Kind,
    /// Whether Stripe calculates taxes, and asks for the address that it needs for them.
    pub tax: bool,
    /// Where Stripe redirects the customer after payment.
    pub success_url: &'a str,
    /// Where Stripe redirects a customer who cancels.
    pub cancel_url: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A plan, charged every month.
    Subscription,
    /// This many credits, charged once.
    Credits(i64),
}

/// A completed purchase of credits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidCredits {
    /// Id of the checkout session.
    pub id: String,
    pub credits: i64,
    /// When the checkout session was created.
    pub ordered_at: OffsetDateTime,
    /// Amount paid, in the smallest unit of the currency.
    pub paid: i64,
    /// Part of that amount that was refunded.
    pub refunded: i64,
}

#[derive(Deserialize)]
struct PageWire {
    url: Option<String>,
}

#[derive(Deserialize)]
struct SessionWire {
    id: String,
    mode: String,
    payment_status: String,
    created: i64,
    metadata: Option<MetadataWire>,
    payment_intent: Option<IntentWire>,
}

#[derive(Deserialize)]
struct IntentWire {
    latest_charge: Option<ChargeWire>,
}

#[derive(Deserialize)]
struct ChargeWire {
    amount: i64,
    amount_refunded: i64,
}

#[derive(Deserialize)]
struct MetadataWire {
    platen_credits: Option<String>,
}

impl Stripe {
    /// Creates a checkout session and returns the URL of its page.
    pub async fn checkout_page(&self, purchase: &Purchase<'_>) -> Result<String, StripeError> {
        let mut form = vec![
            ("customer", purchase.customer.to_owned()),
            ("line_items[0][price]", purchase.price.to_owned()),
            ("line_items[0][quantity]", "1".to_owned()),
            ("success_url", purchase.success_url.to_owned()),
            ("cancel_url", purchase.cancel_url.to_owned()),
        ];
        match purchase.kind {
            Kind::Subscription => form.push(("mode", "subscription".to_owned())),
            Kind::Credits(credits) => form.extend([
                ("mode", "payment".to_owned()),
                ("metadata[platen_credits]", credits.to_string()),
                ("invoice_creation[enabled]", "true".to_owned()),
            ]),
        }
        if purchase.tax {
            form.extend(
                [
                    ("automatic_tax[enabled]", "true"),
                    ("tax_id_collection[enabled]", "true"),
                    ("billing_address_collection", "required"),
                    ("customer_update[address]", "auto"),
                    ("customer_update[name]", "auto"),
                ]
                .map(|(name, value)| (name, value.to_owned())),
            );
        }
        self.page("/checkout/sessions", form).await
    }

    /// Creates a billing portal session and returns the URL of its page.
    pub async fn portal_page(&self, customer: &str, return_url: &str) -> Result<String, StripeError> {
        let form = vec![("customer", customer.to_owned()), ("return_url", return_url.to_owned())];
        self.page("/billing_portal/sessions", form).await
    }

    async fn page(&self, path: &str, form: Form<'_>) -> Result<String, StripeError> {
        let page: PageWire = self.post(path.to_owned(), form).await?;
        let missing = || StripeError::Unreachable("the response has no URL of a page".to_owned());
        page.url.ok_or_else(missing)
    }

    /// Returns all purchases of credits that a customer has paid for.
    pub async fn paid_credits(&self, customer: &str) -> Result<Vec<PaidCredits>, StripeError> {
        let query = vec![
            ("customer", customer.to_owned()),
            ("status", "complete".to_owned()),
            ("expand[]", "data.payment_intent.latest_charge".to_owned()),
        ];
        let sessions = self.list("/checkout/sessions", &query, |session: &SessionWire| &session.id);
        Ok(sessions.await?.into_iter().filter_map(read).collect())
    }
}

/// Returns `None` if something else was bought, or if it is not paid yet.
fn read(session: SessionWire) -> Option<PaidCredits> {
    let paid = session.mode == "payment" && session.payment_status == "paid";
    let credits = session.metadata?.platen_credits?.parse().ok()?;
    // The last attempt is the one that succeeded. There is none if nothing was due.
    let charge = session.payment_intent.and_then(|intent| intent.latest_charge);
    (paid && credits > 0).then(|| PaidCredits {
        id: session.id,
        credits,
        ordered_at: moment(session.created),
        paid: charge.as_ref().map_or(0, |charge| charge.amount),
        refunded: charge.as_ref().map_or(0, |charge| charge.amount_refunded),
    })
}
