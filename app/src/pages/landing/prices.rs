//! Plans on offer.

use leptos::prelude::*;
use platen_domain::{
    number::{grouped, storage_size},
    plan::Plan,
};

/// All plans, side by side.
#[component]
pub fn Prices(
    /// Smallest first.
    plans: Vec<Plan>,
) -> impl IntoView {
    view! {
        <section class="prices" id="prices">
            <div class="prices__head">
                <h2 class="prices__title">"Prices"</h2>
                <p class="prices__note">
                    "One credit per started ten pages of a render that succeeded. Failures, cancelled renders, previews and test keys cost nothing."
                </p>
            </div>
            <div class="plans">
                {plans
                    .into_iter()
                    .map(|plan| {
                        view! {
                            <article class="plan">
                                <h3 class="plan__name">{plan.name.clone()}</h3>
                                <p class="plan__credits">{grouped(plan.credits)} " " <small>"credits a month"</small></p>
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
        format!("{} renders at a time", plan.concurrency),
        format!("{} requests a minute", grouped(plan.rate_per_minute.into())),
        format!("{} MB a request", plan.body_bytes / (1024 * 1024)),
        format!("{} queued renders", grouped(plan.queued_renders)),
        format!("{} of stored documents", storage_size(plan.document_bytes)),
        format!("{} templates", grouped(plan.templates)),
        format!("Content kept {} days", plan.retention_days),
    ]
    .into_iter()
}
