//! Effect of the selected plan, and the button that switches to it.

use leptos::prelude::*;

use crate::{
    layout::page::Section,
    model::payment::{Choice, Meaning},
    outcome::{ButtonForm, Outcome, OutcomeErrors},
    pages::billing::{
        PATH,
        api::{CancelSubscription, ChangePlan, Subscribe},
    },
    ui::{
        button::{ButtonLink, Rank, SubmitButton},
        moment::day,
        notice::InfoNotice,
    },
};

/// Explains the effect of the selected plan. Nothing changes until the button is pressed.
#[component]
pub fn ChoiceSection(
    /// The selected plan.
    choice: Choice,
) -> impl IntoView {
    let plan = choice.plan;
    let heading = format!("Change to {plan}");
    let (subscribe, change, cancel) = (
        Outcome::of::<Subscribe>(),
        Outcome::of::<ChangePlan>(),
        Outcome::of::<CancelSubscription>(),
    );
    let changing = {
        let (plan, action) = (plan.clone(), heading.clone());
        move |as_of: i64| {
            view! {
                <ButtonForm outcome=change>
                    <input type="hidden" name="plan" value=plan />
                    <input type="hidden" name="as_of" value=as_of />
                    <SubmitButton rank=Rank::Primary>{action}</SubmitButton>
                </ButtonForm>
            }
            .into_any()
        }
    };
    let (title, words, form) = match choice.means {
        Meaning::First { price } => (
            format!("{price} a month"),
            "You pay at Stripe. The plan changes when the payment succeeds.".to_owned(),
            Some(
                view! {
                    <ButtonForm outcome=subscribe>
                        <input type="hidden" name="plan" value=plan />
                        <SubmitButton rank=Rank::Primary>"Pay at Stripe"</SubmitButton>
                    </ButtonForm>
                }
                .into_any(),
            ),
        ),
        Meaning::Larger {
            today,
            price,
            as_of,
            until,
        } => (
            format!("{today} due today"),
            format!(
                "{plan} until {}, minus a credit for the unused time of your current plan. Then {price} a month.",
                day(until.date())
            ),
            Some(changing(as_of)),
        ),
        Meaning::Smaller { price, from } => (
            "Nothing due today".to_owned(),
            format!(
                "Your plan stays the same until {}, then changes to {plan} for {price} a month.",
                day(from.date())
            ),
            Some(changing(0)),
        ),
        Meaning::Free { from } => (
            "Nothing due today".to_owned(),
            format!(
                "The subscription ends on {}. The plan then changes to Free. Nothing is deleted.",
                day(from.date())
            ),
            Some(
                view! {
                    <ButtonForm outcome=cancel>
                        <SubmitButton rank=Rank::Destroy>"Cancel subscription"</SubmitButton>
                    </ButtonForm>
                }
                .into_any(),
            ),
        ),
        Meaning::Nothing => (
            "Plan can’t be changed".to_owned(),
            "The subscription has changed, or Stripe is not responding. Review your plan below, and try again in a few minutes."
                .to_owned(),
            None,
        ),
    };
    view! {
        <Section heading id="choice">
            <div class="stack">
                <OutcomeErrors outcome=subscribe />
                <OutcomeErrors outcome=change />
                <OutcomeErrors outcome=cancel />
                <InfoNotice>
                    <b>{title}</b>
                    <br />
                    {words}
                </InfoNotice>
                <div class="cluster">{form} <ButtonLink href=PATH>"Keep current plan"</ButtonLink></div>
            </div>
        </Section>
    }
}
