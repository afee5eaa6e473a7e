//! Plans on offer.

use leptos::prelude::*;
use platen_domain::{
    number::{grouped, storage_size},
    plan::Plan,
};

use crate::model::money::Money;

/// All plans, side by side.
#[component]
pub fn Prices(
    /// With their prices per month, the smallest first.
    plans: Vec<(Plan, Money)>,
) -> impl IntoView {
    view! {
        <section class="prices" id="prices">
            <div class="prices__head">
                <h2 class="prices__title">"Prices"</h2>
                <p class="prices__note">
                    "A document costs one credit for every ten pages or part of ten. Failed and cancelled renders, previews and test keys are free."
                </p>
            </div>
            <div class="plans">
                {plans
                    .into_iter()
                    .map(|(plan, price)| {
                        view! {
                            <article class="plan">
                                <h3 class="plan__name">{plan.name.clone()}</h3>
                                <p class="plan__credits">{grouped(plan.credits)} " " <small>"credits a month"</small></p>
                                <p class="plan__price">
                                    <b>{price.to_string()}</b>
                                    " a month"
                                </p>
                                <ul class="plan__points">
                                    {points(&plan).map(|point| view! { <li>{point}</li> }).collect_view()}
                                </ul>
                            </article>
                        }
                    })
                    .collect_view()}
            </div>
        </section>
    }
}

/// Returns the limits of a plan, one line each.
fn points(plan: &Plan) -> impl Iterator<Item = String> + use<> {
    [
        format!(
            "{0} concurrent synchronous renders, plus {0} queued ones",
            plan.concurrency
        ),
        format!("{} requests per minute", grouped(plan.rate_per_minute.into())),
        format!("{} MB per request", plan.body_bytes / (1024 * 1024)),
        format!("{} queued renders", grouped(plan.queued_renders)),
        format!("{} of stored documents", storage_size(plan.document_bytes)),
        format!("{} templates", grouped(plan.templates)),
        format!("Renders stored for {} days", plan.retention_days),
    ]
    .into_iter()
}
