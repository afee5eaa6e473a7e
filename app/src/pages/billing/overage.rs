//! Overage: credits beyond those of the plan.

use leptos::prelude::*;
use platen_domain::number::grouped;

use crate::{
    layout::page::Section,
    model::{payment::Overage, rejection::Field},
    outcome::{FormField, NarrowForm, Outcome},
    pages::billing::api::SetOverageLimit,
};

/// Overage of this period with its cost, and the form that limits it.
#[component]
pub fn OverageSection(
    /// Price, limit and use of overage.
    overage: Overage,
) -> impl IntoView {
    let outcome = Outcome::of::<SetOverageLimit>();
    let used = (overage.used > 0).then(|| {
        let (used, cost) = (grouped(overage.used), overage.cost.to_string());
        view! {
            <p>
                <b>{used} " credits beyond the plan in this period"</b>
                ": "
                {cost}
                ", on the next invoice."
            </p>
        }
    });
    let words = match overage.limit {
        0 => "When the credits are used up, renders stop until the next period. You can let them go on.".to_owned(),
        limit => format!(
            "When the credits are used up, renders go on for {} more in each period.",
            grouped(limit)
        ),
    };
    view! {
        <Section
            heading="Beyond the plan"
            note=format!("{} for 1,000 credits, paid afterwards", overage.price)
            id="overage"
            body="section__body stack"
        >
            {used}
            <p class="small quiet">
                {words} " Bought credits are used before that. Your plan allows up to " {grouped(overage.most)}
                " credits."
            </p>
            <NarrowForm outcome action="Save limit">
                <FormField
                    outcome=outcome
                    field=Field::OverageLimit
                    label="Credits beyond the plan, at most"
                    hint="In each period. 0: none."
                    value=overage.limit.to_string()
                />
            </NarrowForm>
        </Section>
    }
}
