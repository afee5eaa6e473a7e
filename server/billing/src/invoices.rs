//! Invoices.

use miniserde::Deserialize;
use time::OffsetDateTime;

use crate::{
    client::{Stripe, StripeError},
    subscriptions::Subscription,
    wire::{List, moment},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invoice {
    /// Number printed on the invoice; `None` for a draft.
    pub number: Option<String>,
    pub created_at: OffsetDateTime,
    /// Stripe's status, such as `paid` or `open`.
    pub status: String,
    /// In the smallest unit of the currency.
    pub total: i64,
    /// ISO 4217 code in lower case.
    pub currency: String,
    /// URL of the page on which it can be read and paid.
    pub page: Option<String>,
    /// URL of its PDF.
    pub pdf: Option<String>,
}

/// Cost of a change of plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// Amount due at once, in the smallest unit of the currency; negative if credit is left over.
    pub total: i64,
    /// ISO 4217 code in lower case.
    pub currency: String,
}

#[derive(Deserialize)]
struct InvoiceWire {
    id: String,
    number: Option<String>,
    created: i64,
    status: Option<String>,
    total: i64,
    currency: String,
    hosted_invoice_url: Option<String>,
    invoice_pdf: Option<String>,
}

#[derive(Deserialize)]
struct PreviewWire {
    total: i64,
    currency: String,
}

impl Stripe {
    /// Returns the latest invoices of a customer, at most `at_most`, newest first.
    pub async fn latest_invoices(&self, customer: &str, at_most: u8) -> Result<Vec<Invoice>, StripeError> {
        let query = vec![("customer", customer.to_owned()), ("limit", at_most.to_string())];
        let page: List<InvoiceWire> = self.get("/invoices".to_owned(), query).await?;
        Ok(page.data.into_iter().map(read).collect())
    }

    /// Returns when the oldest open invoice of a subscription was created; `None` if no invoice is open.
    pub async fn unpaid_since(&self, subscription: &str) -> Result<Option<OffsetDateTime>, StripeError> {
        let query = vec![("subscription", subscription.to_owned()), ("status", "open".to_owned())];
        let open = self
            .list("/invoices", &query, |invoice: &InvoiceWire| &invoice.id)
            .await?;
        Ok(open.iter().map(|invoice| moment(invoice.created)).min())
    }

    /// Returns the amount that [`Stripe::upgrade`] would collect.
    pub async fn preview_upgrade(
        &self,
        subscription: &Subscription,
        price: &str,
        as_of: OffsetDateTime,
    ) -> Result<Preview, StripeError> {
        let form = vec![
            ("subscription", subscription.id.clone()),
            ("subscription_details[items][0][id]", subscription.item.clone()),
            ("subscription_details[items][0][price]", price.to_owned()),
            ("subscription_details[proration_behavior]", "always_invoice".to_owned()),
            (
                "subscription_details[proration_date]",
                as_of.unix_timestamp().to_string(),
            ),
        ];
        let preview: PreviewWire = self.post("/invoices/create_preview".to_owned(), form).await?;
        Ok(Preview {
            total: preview.total,
            currency: preview.currency,
        })
    }
}

fn read(wire: InvoiceWire) -> Invoice {
    Invoice {
        number: wire.number,
        created_at: moment(wire.created),
        status: wire.status.unwrap_or_else(|| "draft".to_owned()),
        total: wire.total,
        currency: wire.currency,
        page: wire.hosted_invoice_url,
        pdf: wire.invoice_pdf,
    }
}
