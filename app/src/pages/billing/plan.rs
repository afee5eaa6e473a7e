//! The plan: its credits, price and renewal, and the dialog that changes it.

use leptos::{either::Either, prelude::*};
use platen_domain::{
    number::{duration, grouped, storage_size},
    plan::PlanLimits,
};

use crate::{
    layout::page::Section,
    model::{
        account_summary::CreditPeriod,
        payment::{Catalog, Payment, Subscription},
    },
    outcome::{ButtonForm, Outcome, OutcomeErrors},
    pages::billing::{
        PATH,
        api::{KeepPlan, ResumeSubscription},
    },
    ui::{
        button::{ButtonLink, CloseButton, OpenButton, Rank, Size, SubmitButton},
        dialog::Dialog,
        gauge::Gauge,
        moment::day_and_year,
    },
};

/// `id` of the dialog that changes the plan.
const CHOOSE: &str = "plan";
/// Page that explains the effect of ending the subscription.
const END: &str = "/dashboard/billing?plan=Free";

/// The current plan and its remaining credits.
#[component]
pub fn PlanSection(
    /// Credits of this period.
    credits: CreditPeriod,
    /// Limits of requests and renders.
    limits: PlanLimits,
    /// Catalog and subscription, as far as the user may see them.
    payment: Payment,
) -> impl IntoView {
    let [used, total, left] = [credits.used, credits.total, credits.total - credits.used].map(grouped);
    let label = format!("{used} of {total} credits used");
    let beyond =
        (credits.overage_limit > 0).then(|| format!(", including {} of overage", grouped(credits.overage_limit)));
    let period = [credits.starts_at, credits.ends_at].map(|at| day_and_year(at.date()));
    let catalog = match &payment {
        Payment::Open(catalog) => Some(catalog),
        Payment::ByOperator | Payment::ForOwners => None,
    };
    let price = catalog.and_then(|catalog| {
        // Only the subscribed plan has a price. Any other plan applies because payment is past due, or because an
        // operator has granted it.
        let current = catalog
            .subscription
            .as_ref()
            .filter(|current| current.plan == credits.plan)?;
        let offer = catalog.plans.iter().find(|offer| offer.name == current.plan)?;
        Some(format!("{} credits a month, {}", grouped(offer.credits), offer.price))
    });
    let about = match payment {
        Payment::ByOperator => Either::Left(view! {
            <p class="small quiet">
                "To change plan, contact the operator of this service."
            </p>
        }),
        Payment::ForOwners => {
            Either::Left(view! { <p class="small quiet">"To change plan, contact the owner of this account."</p> })
        }
        Payment::Open(ref catalog) => Either::Right(
            catalog
                .subscription
                .clone()
                .map(|subscription| view! { <Prospect subscription /> }),
        ),
    };
    let plans = match payment {
        Payment::Open(catalog) if can_choose(&catalog) => Some(*catalog),
        _ => None,
    };
    let beside = plans.is_some().then(|| {
        view! {
            <OpenButton dialog=CHOOSE size=Size::Small>
                "Change plan"
            </OpenButton>
        }
    });
    let beside = beside.into_any();
    let current = credits.plan.clone();
    view! {
        <Section heading="Plan" note=period.join(" to ") beside>
            <div class="stack">
                <p class="plan-line">
                    <span class="plan-line__name">{credits.plan.clone()}</span>
                    {price.map(|price| view! { <span>{price}</span> })}
                </p>
                <Gauge label used=credits.share_used() now=credits.elapsed() end=total />
                <p class="small quiet">
                    {used} " used, " {left} " left" {beyond} ". Without credits, renders are rejected with 403 "
                    <code>"forbidden"</code>
                    ". A document costs one credit for every ten pages or part of ten."
                </p>
                <Limits limits />
                {about}
            </div>
        </Section>
        {plans.map(|catalog| view! { <ChooseDialog catalog current /> })}
    }
}

/// Limits of requests and renders. Those of storage have their own section.
#[component]
fn Limits(limits: PlanLimits) -> impl IntoView {
    let body = i64::try_from(limits.body_bytes).unwrap_or(i64::MAX);
    view! {
        <dl class="pairs">
            <dt>"Concurrent renders"</dt>
            <dd>{format!("{0} synchronous, plus {0} queued ones", limits.concurrency)}</dd>
            <dt>"Requests per minute"</dt>
            <dd>{grouped(limits.rate_per_minute.get().into())}</dd>
            <dt>"Request size"</dt>
            <dd>{storage_size(body)}</dd>
            <dt>"Synchronous render time"</dt>
            <dd>{duration(limits.sync_deadline.as_secs_f64() * 1000.0)}</dd>
        </dl>
    }
}

fn can_choose(catalog: &Catalog) -> bool {
    !catalog.plans.is_empty() && catalog.subscription.as_ref().is_none_or(Subscription::is_at_rest)
}

/// When the subscription renews, ends or changes.
#[component]
fn Prospect(subscription: Subscription) -> impl IntoView {
    let (keep, resume) = (Outcome::of::<KeepPlan>(), Outcome::of::<ResumeSubscription>());
    let at = |at: time::OffsetDateTime| day_and_year(at.date());
    let (words, form) = if let Some(ends_at) = subscription.ends_at {
        let words = format!(
            "Ends on {}. The plan then changes to Free. Nothing is deleted.",
            at(ends_at)
        );
        let form = view! {
            <ButtonForm outcome=resume>
                <SubmitButton size=Size::Small>"Keep subscription"</SubmitButton>
            </ButtonForm>
        };
        (words, Some(form.into_any()))
    } else if let Some((next, from)) = subscription.next {
        let words = format!("Changes to {next} on {}.", at(from));
        let form = view! {
            <ButtonForm outcome=keep>
                <SubmitButton size=Size::Small>{format!("Keep {}", subscription.plan)}</SubmitButton>
            </ButtonForm>
        };
        (words, Some(form.into_any()))
    } else if subscription.due.is_some() {
        let words = "An invoice is unpaid. Pay it under Invoices.".to_owned();
        // A past-due subscription can still be cancelled.
        let form = view! {
            <ButtonLink href=END size=Size::Small>
                "Cancel subscription"
            </ButtonLink>
        };
        (words, Some(form.into_any()))
    } else {
        (format!("Renews on {}.", at(subscription.renews_at)), None)
    };
    view! {
        <OutcomeErrors outcome=keep />
        <OutcomeErrors outcome=resume />
        <div class="cluster">
            <p class="small">{words}</p>
            {form}
        </div>
    }
}

/// The dialog that selects a plan. The next page explains the effect before anything changes.
#[component]
fn ChooseDialog(catalog: Catalog, current: String) -> impl IntoView {
    let now = catalog
        .plans
        .iter()
        .find(|offer| offer.name == current)
        .map_or(0, |offer| offer.credits);
    let offers = catalog.free.into_iter().chain(catalog.plans);
    let offers: Vec<_> = offers.filter(|offer| offer.name != current).collect();
    // Preselects the next larger plan: most users want to upgrade, and nobody should lose their plan just by
    // pressing Continue.
    let likely = offers.iter().position(|offer| offer.credits > now);
    let likely = likely.unwrap_or(offers.len().saturating_sub(1));
    let choices: Vec<_> = offers
        .into_iter()
        .enumerate()
        .map(|(index, offer)| {
            let (name, price) = (offer.name, offer.price.to_string());
            let credits = format!("{} credits a month", grouped(offer.credits));
            view! {
                <label class="choice">
                    <input
                        class="check__box"
                        type="radio"
                        name="plan"
                        value=name.clone()
                        checked=index == likely
                        autofocus=index == likely
                    />
                    <span class="choice__name">{name}</span>
                    <span>
                        <b>{price}</b>
                        " a month"
                    </span>
                    <span class="choice__note">{credits}</span>
                </label>
            }
        })
        .collect();
    view! {
        <Dialog id=CHOOSE title="Change plan">
            <form method="get" action=PATH>
                <div class="dialog__body">
                    <fieldset>
                        <legend class="visually-hidden">"Plan"</legend>
                        {choices}
                    </fieldset>
                    <p class="small quiet">"The next page shows the price. Nothing changes until you confirm."</p>
                </div>
                <div class="dialog__foot">
                    <CloseButton dialog=CHOOSE>"Cancel"</CloseButton>
                    <SubmitButton rank=Rank::Primary>"Continue"</SubmitButton>
                </div>
            </form>
        </Dialog>
    }
}
