//! Plans, credits and payment.

use async_trait::async_trait;
use platen_app::{
    backend::payment::PaymentBackend,
    error::AppError,
    model::{
        money::Money,
        payment::{
            BillingDetails, Catalog, Choice, Invoice, InvoiceState, Meaning, Overage, PackOffer, Payment, PlanOffer,
            Subscription,
        },
        rejection::{Field, Reason, refusal::PaymentRefusal},
    },
    ui::sentence_case::sentence_case,
};
use platen_billing::{client::StripeError, invoices, subscriptions::Card};
use platen_core::{
    clock,
    service::{
        account_summary::account_name,
        billing::{
            BillingError,
            purchases::{self, Buyer, Change},
            status::{self, Overview},
        },
        credits, plans,
    },
    store::offers,
};
use platen_domain::{billing::FREE, caller::Caller, role::Permission};
use time::OffsetDateTime;
use url::Url;

use super::{RequestBackend, called, invalid, number, rejected};

#[async_trait]
impl PaymentBackend for RequestBackend {
    async fn payment(&self, choice: Option<String>, back: bool) -> Result<Payment, AppError> {
        if self.app.billing.till.is_none() {
            return Ok(Payment::ByOperator);
        }
        let caller = match self.caller_who_may(Permission::ManageBilling).await {
            Ok(caller) => caller,
            Err(AppError::NotAllowed(_)) => return Ok(Payment::ForOwners),
            Err(error) => return Err(error),
        };
        let now = clock::now();
        let overview = status::overview(&self.app.billing, caller.account, back, now).await;
        let Some(overview) = overview.map_err(|error| self.unpaid(error))? else {
            return Ok(Payment::ByOperator);
        };
        let subscription = subscription(&overview, now);
        let means = match &choice {
            Some(plan) => Some(self.meaning(&caller, &overview, plan, now).await?),
            None => None,
        };
        let overage = self.overage(&caller, &overview, now).await?;
        let free = if subscription.is_some() {
            self.free_plan(&overview).await?
        } else {
            None
        };
        let priced_plans = overview.plans.into_iter().filter(|plan| plan.price.is_some());
        let priced_packs = overview.packs.into_iter().filter(|pack| pack.price.is_some());
        Ok(Payment::Open(Box::new(Catalog {
            free,
            plans: priced_plans.map(plan_offer).collect(),
            packs: priced_packs.map(pack_offer).collect(),
            subscription,
            overage,
            choice: choice.zip(means).map(|(plan, means)| Choice { plan, means }),
            billing_details: overview.billing_details.map(billing_details),
        })))
    }

    async fn subscribe(&self, plan: String) -> Result<String, AppError> {
        let buyer = self.buyer().await?;
        let page = purchases::subscribe(&self.app.billing, &buyer, &plan).await;
        page.map_err(|error| self.unpaid(error))
    }

    async fn buy_credits(&self, product: String) -> Result<String, AppError> {
        let buyer = self.buyer().await?;
        let page = purchases::buy_credits(&self.app.billing, &buyer, &product).await;
        page.map_err(|error| self.unpaid(error))
    }

    async fn payment_portal(&self) -> Result<String, AppError> {
        let caller = self.confirmed_caller_who_may(Permission::ManageBilling).await?;
        let page = purchases::portal(&self.app.billing, &caller, &self.billing_page()?).await;
        page.map_err(|error| self.unpaid(error))
    }

    async fn change_plan(&self, plan: String, as_of: i64) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(Permission::ManageBilling).await?;
        let as_of = OffsetDateTime::from_unix_timestamp(as_of).map_err(|_| AppError::Malformed)?;
        let changed = purchases::change(&self.app.billing, &caller, &plan, as_of, clock::now()).await;
        changed.map_err(|error| self.unpaid(error))
    }

    async fn keep_plan(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(Permission::ManageBilling).await?;
        let kept = purchases::keep(&self.app.billing, &caller, clock::now()).await;
        kept.map_err(|error| self.unpaid(error))
    }

    async fn set_overage_limit(&self, credits: String) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(Permission::ManageBilling).await?;
        let now = clock::now();
        let overage = status::overage(&self.app.billing, caller.account, now).await;
        let overage = overage.map_err(|error| self.internal(&error))?;
        let most = overage.ok_or_else(|| self.unpaid(BillingError::WrongMoment))?.most;
        let mut problems = Vec::new();
        let limit = number(&mut problems, Field::OverageLimit, &credits, 0, most);
        if !problems.is_empty() {
            return Err(invalid(problems));
        }
        let done = purchases::set_overage_limit(&self.app.billing, &caller, limit.unwrap_or(0), now).await;
        done.map_err(|error| self.unpaid(error))
    }

    async fn cancel_subscription(&self) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(Permission::ManageBilling).await?;
        let cancelled = purchases::cancel(&self.app.billing, &caller, clock::now()).await;
        cancelled.map_err(|error| self.unpaid(error))
    }

    async fn resume_subscription(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(Permission::ManageBilling).await?;
        let resumed = purchases::resume(&self.app.billing, &caller, clock::now()).await;
        resumed.map_err(|error| self.unpaid(error))
    }
}

impl RequestBackend {
    async fn buyer(&self) -> Result<Buyer, AppError> {
        let caller = self.confirmed_caller_who_may(Permission::ManageBilling).await?;
        let name = account_name(&self.app.db, &caller).await;
        let name = name.map_err(|error| self.internal(&error))?;
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
        let usage = credits::usage(&self.app.db, caller.account, now).await;
        let used = usage.map_err(|error| self.internal(&error))?.balance.overage_used;
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
        let plans = plans::list(&self.app.db).await.map_err(|error| self.internal(&error))?;
        let currency = overview.plans.first().map_or("eur", |plan| plan.currency.as_str());
        let free = plans.into_iter().find(|plan| plan.name == FREE);
        Ok(free.map(|plan| PlanOffer {
            price: money(0, currency),
            name: plan.name,
            credits: plan.credits,
        }))
    }

    /// Returns the address to which Stripe redirects users.
    fn billing_page(&self) -> Result<Url, AppError> {
        let page = self.app.base_url.join("/dashboard/billing");
        page.map_err(|error| self.internal(&error))
    }

    fn unpaid(&self, error: BillingError) -> AppError {
        let refusal = match error {
            BillingError::NotForSale | BillingError::NoSuchOffer => PaymentRefusal::NotForSale,
            BillingError::WrongMoment => PaymentRefusal::ChangedMeanwhile,
            BillingError::Stripe(StripeError::Declined(_)) => PaymentRefusal::Declined,
            BillingError::Stripe(error) => {
                tracing::error!(%error, "a request to Stripe failed");
                PaymentRefusal::NoAnswer
            }
            BillingError::Store(error) => return self.internal(&error),
        };
        rejected(Reason::Payment(refusal))
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

pub(super) fn billing_details(billing_details: status::BillingDetails) -> BillingDetails {
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
