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
                <b>{used} " overage credits in this period"</b>
                ": "
                {cost}
                ", on the next invoice."
            </p>
        }
    });
    let words = match overage.limit {
        0 => {
            "When the credits are used up, renders are rejected until the next period. To continue with overage, set a \
              limit."
                .to_owned()
        }
        limit => format!(
            "When the credits are used up, renders continue with up to {} of overage in each period.",
            grouped(limit)
        ),
    };
    view! {
        <Section
            heading="Overage"
            note=format!("{} per 1,000 credits, billed afterwards", overage.price)
            id="overage"
            body="section__body stack"
        >
            {used}
            <p class="small quiet">
                {words} " Purchased credits are used first. Your plan allows up to " {grouped(overage.most)}
                " credits of overage."
            </p>
            <NarrowForm outcome action="Save limit">
                <FormField
                    outcome=outcome
                    field=Field::OverageLimit
                    label="Overage limit"
                    hint="Credits in each period. 0 turns overage off."
                    value=overage.limit.to_string()
                />
            </NarrowForm>
        </Section>
    }
}
