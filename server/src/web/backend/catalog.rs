//! Plans, credits and payment.

use platen_app::{
    error::AppError,
    model::{
        money::Money,
        payment::{
            BillingDetails, Catalog, Choice, Invoice, InvoiceState, Meaning, Overage, PackOffer, Payment, PlanOffer,
            Subscription,
        },
    },
    ui::sentence_case::sentence_case,
};
use platen_billing::{invoices, subscriptions::Card};
use platen_core::{
    clock,
    service::{
        account_summary::account_name,
        billing::{
            Billing, BillingError,
            purchases::{self, Buyer, Change},
            status::{self, Overview},
        },
        credits, plans,
    },
    store::offers,
};
use platen_domain::{billing::FREE, caller::Caller, ids::AccountId, plan::Plan, role::Permission::ManageBilling};
use time::OffsetDateTime;
use url::Url;

use super::{RequestBackend, called};

impl RequestBackend {
    /// Returns the catalog, the subscription and the billing details.
    pub(super) async fn catalog(
        &self,
        caller: &Caller,
        choice: Option<String>,
        back: bool,
    ) -> Result<Payment, AppError> {
        let now = clock::now();
        let overview = self.answer(status::overview(&self.app.billing, caller.account, back, now).await)?;
        let Some(overview) = overview else {
            return Ok(Payment::ByOperator);
        };
        let subscription = subscription(&overview, now);
        let choice = match choice {
            Some(plan) => Some(Choice {
                means: self.meaning(caller, &overview, &plan, now).await?,
                plan,
            }),
            None => None,
        };
        let overage = self.overage(caller, &overview, now).await?;
        let free = match &subscription {
            Some(_) => self.free_plan(&overview).await?,
            None => None,
        };
        let priced_plans = overview.plans.into_iter().filter(|plan| plan.price.is_some());
        let priced_packs = overview.packs.into_iter().filter(|pack| pack.price.is_some());
        Ok(Payment::Open(Box::new(Catalog {
            free,
            plans: priced_plans.map(plan_offer).collect(),
            packs: priced_packs.map(pack_offer).collect(),
            subscription,
            overage,
            choice,
            billing_details: overview.billing_details.map(billing_details),
        })))
    }

    /// Returns the plans for sale and the free plan, with their prices. Returns none if nothing is for sale.
    pub(super) async fn plans_for_sale(&self) -> Result<Vec<(Plan, Money)>, AppError> {
        let offers = self.answer(status::plans_for_sale(&self.app.billing).await)?;
        let Some(currency) = offers.first().map(|offer| offer.currency.as_str()) else {
            return Ok(Vec::new());
        };
        let plans = self.answer(plans::list(&self.app.db).await)?;
        let priced = plans.into_iter().filter_map(|plan| {
            let price = match offers.iter().find(|offer| offer.name == plan.name) {
                Some(offer) => money(offer.amount, &offer.currency),
                None if plan.name == FREE => money(0, currency),
                None => return None,
            };
            Some((plan, price))
        });
        Ok(priced.collect())
    }

    pub(super) async fn buyer(&self) -> Result<Buyer, AppError> {
        let caller = self.confirmed_caller_who_may(ManageBilling).await?;
        let name = self.answer(account_name(&self.app.db, &caller).await)?;
        Ok(Buyer {
            name: called(name, &caller.user.email),
            back_to: self.billing_page()?,
            caller,
        })
    }

    async fn overage(
        &self,
        caller: &Caller,
        overview: &Overview,
        now: OffsetDateTime,
    ) -> Result<Option<Overage>, AppError> {
        let (Some(overage), Some(subscription)) = (&overview.overage, &overview.subscription) else {
            return Ok(None);
        };
        let usage = self.answer(credits::usage(&self.app.db, caller.account, now).await)?;
        let used = usage.balance.overage_used;
        let offer = &overage.offer;
        Ok(Some(Overage {
            price: money(offer.amount, &offer.currency),
            limit: subscription.overage_limit.min(overage.most),
            most: overage.most,
            used,
            cost: money(offer.cost(used), &offer.currency),
        }))
    }

    /// Returns the free plan, with a price in the currency of the other plans.
    async fn free_plan(&self, overview: &Overview) -> Result<Option<PlanOffer>, AppError> {
        let plans = self.answer(plans::list(&self.app.db).await)?;
        let currency = overview.plans.first().map_or("eur", |plan| plan.currency.as_str());
        let free = plans.into_iter().find(|plan| plan.name == FREE);
        Ok(free.map(|plan| PlanOffer {
            price: money(0, currency),
            name: plan.name,
            credits: plan.credits,
        }))
    }

    /// Returns the address to which Stripe redirects users.
    pub(super) fn billing_page(&self) -> Result<Url, AppError> {
        self.answer(self.app.base_url.join("/dashboard/billing"))
    }

    /// Returns the consequences of a change to `plan`.
    async fn meaning(
        &self,
        caller: &Caller,
        overview: &Overview,
        plan: &str,
        now: OffsetDateTime,
    ) -> Result<Meaning, AppError> {
        let current = &overview.subscription;
        let offer = overview
            .plans
            .iter()
            .find(|offer| offer.name == plan && offer.price.is_some());
        let offer = match (offer, current) {
            (Some(offer), _) => offer,
            (None, Some(current)) if plan == FREE && current.cancel_at.is_none() => {
                return Ok(Meaning::Free {
                    from: current.period_ends_at,
                });
            }
            (None, _) => return Ok(Meaning::Nothing),
        };
        let price = money(offer.amount, &offer.currency);
        let Some(current) = current else {
            return Ok(Meaning::First { price });
        };
        Ok(match purchases::preview(&self.app.billing, caller, plan, now).await {
            Ok(Change::Larger { today, currency, as_of }) => Meaning::Larger {
                today: money(today, &currency),
                price,
                as_of: as_of.unix_timestamp(),
                until: current.period_ends_at,
            },
            Ok(Change::Smaller { from }) => Meaning::Smaller { price, from },
            Err(BillingError::Store(error)) => return Err(self.internal(&error)),
            Err(error) => {
                tracing::warn!(%error, "the cost of a change of plan could not be calculated");
                Meaning::Nothing
            }
        })
    }
}

fn subscription(overview: &Overview, now: OffsetDateTime) -> Option<Subscription> {
    let name = |product: &str| {
        let plan = offers::of_product(&overview.plans, product);
        plan.map_or_else(|| product.to_owned(), |plan| plan.name.clone())
    };
    let current = overview.subscription.as_ref()?;
    let kept = current.kept.as_ref().filter(|kept| now < kept.until);
    Some(Subscription {
        plan: name(current.product_at(now).unwrap_or(&current.product)),
        renews_at: current.period_ends_at,
        ends_at: current.cancel_at,
        next: kept.map(|kept| (name(&current.product), kept.until)),
        due: status::due_of(current, now),
    })
}

fn money(amount: i64, currency: &str) -> Money {
    Money {
        amount,
        currency: currency.to_owned(),
    }
}

fn plan_offer(plan: offers::PlanOffer) -> PlanOffer {
    PlanOffer {
        price: money(plan.amount, &plan.currency),
        name: plan.name,
        credits: plan.credits,
    }
}

fn pack_offer(pack: offers::PackOffer) -> PackOffer {
    PackOffer {
        price: money(pack.amount, &pack.currency),
        product: pack.product,
        credits: pack.credits,
    }
}

/// Returns the invoices of a customer at Stripe, or `None` if Stripe doesn't respond.
pub(super) async fn invoices(billing: &Billing, account: AccountId, now: OffsetDateTime) -> Option<Vec<Invoice>> {
    let overview = status::overview(billing, account, false, now).await.ok().flatten()?;
    match billing_details(overview.billing_details?) {
        BillingDetails::Known { invoices, .. } => Some(invoices),
        BillingDetails::Unknown => None,
    }
}

fn billing_details(billing_details: status::BillingDetails) -> BillingDetails {
    match billing_details {
        status::BillingDetails::Unknown => BillingDetails::Unknown,
        status::BillingDetails::Known { invoices, payer, card } => BillingDetails::Known {
            invoices: invoices.into_iter().filter_map(invoice).collect(),
            card: card.map(|card| in_words(&card)),
            name: payer.name,
            email: payer.email,
        },
    }
}

/// Formats a card as `Visa ending 4242` and `expires 08/2030`.
fn in_words(card: &Card) -> (String, Option<String>) {
    let brand = sentence_case(&card.brand.replace('_', " "));
    let ending = card.last4.as_ref().map(|last4| format!(" ending {last4}"));
    let expires = card.expires.map(|(month, year)| format!("expires {month:02}/{year}"));
    (brand + &ending.unwrap_or_default(), expires)
}

/// Returns `None` for a draft.
fn invoice(invoice: invoices::Invoice) -> Option<Invoice> {
    Some(Invoice {
        number: invoice.number?,
        at: invoice.created_at,
        state: match invoice.status.as_str() {
            "paid" => InvoiceState::Paid,
            "open" => InvoiceState::Open,
            _ => InvoiceState::Void,
        },
        total: money(invoice.total, &invoice.currency),
        page: invoice.page,
        pdf: invoice.pdf,
    })
}
