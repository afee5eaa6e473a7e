//! `/dashboard/billing`: usage and billing.

pub mod api;
pub mod billing_details;
pub mod choice;
pub mod overage;
pub mod plan;
pub mod usage;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::{
    layout::{
        page::{PageHead, loaded},
        shell::{Shell, rail::Entry},
    },
    model::{payment::Payment, usage::Usage},
    outcome::Done,
    pages::{
        billing::{
            billing_details::{BillingDetailsSections, PackSection},
            choice::ChoiceSection,
            overage::OverageSection,
            plan::PlanSection,
            usage::UsageSection,
        },
        storage::StorageSection,
    },
};

/// Path of the page.
pub const PATH: &str = "/dashboard/billing";

/// The page of usage and billing.
#[component]
pub fn Billing() -> impl IntoView {
    let query = use_query_map().read_untracked();
    let choice = query.get("plan");
    let back = query
        .get("done")
        .is_some_and(|word| matches!(word.as_str(), "subscribed" | "bought"));
    view! {
        <Shell title="Usage and billing" current=Entry::Billing>
            <PageHead title="Usage and billing" facts=view! { <span>"Days begin at midnight UTC"</span> }.into_any() />
            <Done about=done />
            {loaded(
                move |backend| async move {
                    // Usage is read after the payment, so that users who return from Stripe see their new credits.
                    let payment = backend.payment(choice, back).await?;
                    Ok((payment, backend.usage().await?))
                },
                |(payment, usage)| view! { <Content payment usage /> },
            )}
        </Shell>
    }
}

#[component]
fn Content(payment: Payment, usage: Usage) -> impl IntoView {
    let catalog = match &payment {
        Payment::Open(catalog) => Some((**catalog).clone()),
        Payment::ByOperator | Payment::ForOwners => None,
    };
    let choice = catalog.clone().and_then(|catalog| catalog.choice);
    let (credits, limits, storage) = (usage.credits.clone(), usage.limits, usage.storage.clone());
    let billing_details = catalog.map(|catalog| {
        view! {
            {catalog.overage.map(|overage| view! { <OverageSection overage /> })}
            <PackSection packs=catalog.packs />
            {catalog.billing_details.map(|billing_details| view! { <BillingDetailsSections billing_details /> })}
        }
    });
    view! {
        {choice.map(|choice| view! { <ChoiceSection choice /> })}
        <PlanSection credits limits payment />
        <UsageSection usage />
        <StorageSection uses=storage />
        {billing_details}
    }
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    Some(match word {
        "subscribed" => "Paid. The plan changes once Stripe confirms the payment, usually within seconds.",
        "bought" => "Paid. The credits are added once Stripe confirms the payment, usually within seconds.",
        "changed" => "Plan changed.",
        "kept" => "Plan change cancelled.",
        "limited" => "Limit saved.",
        "cancelled" => "Subscription cancelled. It ends with the current period. Nothing is deleted.",
        "resumed" => "Subscription resumed.",
        _ => return None,
    })
}
