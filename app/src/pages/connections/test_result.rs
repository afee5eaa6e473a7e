//! Results of connection tests.

use leptos::prelude::*;
use platen_domain::{
    connection::{ConnectionTest, TestAction, TestStep},
    destination::Provider,
    number::duration,
};
use time::OffsetDateTime;

use crate::ui::moment::Ago;

/// The result of a connection's last test.
#[component]
pub fn TestResult(
    /// The test.
    test: ConnectionTest,
    provider: Provider,
    /// Whether a notice on the page explains the failed steps.
    is_explained: bool,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let took = format!("in {}", duration(test.milliseconds.into()));
    let passed = test.steps.iter().filter(|step| step.passed());
    let passed: Vec<_> = passed.map(|step| past(step.action)).collect();
    let sentence = match passed.as_slice() {
        [] => "No object was written".to_owned(),
        [only] => format!("{only} an object {took}"),
        [first @ .., last] => format!("{} and {last} an object {took}", first.join(", ")),
    };
    let is_listed = !is_explained && !test.passed();
    view! {
        <div class="tested">
            <p class="quiet small">"Tested " <Ago at=test.tested_at now /> ". " {sentence} "."</p>
            {is_listed.then(|| view! { <FailedSteps provider steps=test.steps /> })}
        </div>
    }
}

/// The failed steps of a test: the operation, the response of the store, and the advice.
#[component]
pub fn FailedSteps(provider: Provider, steps: Vec<TestStep>) -> impl IntoView {
    let failed = steps.into_iter().filter(|step| !step.passed()).map(|step| {
        let (status, message) = step.response.map_or_else(Default::default, |response| {
            let status = view! { ": " <code>{format!("{} {}", response.status, response.code)}</code> };
            (Some(status), Some(format!("The store says: “{}” ", response.message)))
        });
        view! {
            <li class="break">
                <p>
                    <code>{step.action.operation(provider)}</code>
                    " failed"
                    {status}
                    "."
                </p>
                <p>{message} {step.advice}</p>
            </li>
        }
    });
    view! { <ul class="failed-steps">{failed.collect_view()}</ul> }
}

fn past(action: TestAction) -> &'static str {
    match action {
        TestAction::Write => "Wrote",
        TestAction::Read => "read",
        TestAction::Delete => "deleted",
    }
}
