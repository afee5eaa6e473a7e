//! Forms that call server functions.

use leptos::prelude::*;

use crate::{
    csrf::CsrfField,
    error::AppError,
    model::rejection::Field,
    outcome::Outcome,
    ui::form_errors::{Complaint, FormErrors},
};

/// A form with its error at the top.
#[component]
pub fn PageForm(
    /// Result of the last submission.
    outcome: Outcome,
    /// `class` of the form.
    #[prop(optional)]
    class: &'static str,
    /// Fields and buttons.
    children: Children,
) -> impl IntoView {
    view! {
        <form class=class method="post" action=outcome.url>
            <CsrfField />
            <SubjectField outcome />
            <OutcomeErrors outcome />
            {children()}
        </form>
    }
}

/// A form without visible fields: a button in a row or a bar. The page shows its error elsewhere, with
/// [`OutcomeErrors`].
#[component]
pub fn ButtonForm(
    /// Result of the last submission.
    outcome: Outcome,
    /// `class` of the form.
    #[prop(optional)]
    class: Option<&'static str>,
    /// Hidden fields and the button.
    children: Children,
) -> impl IntoView {
    view! {
        <form class=class method="post" action=outcome.url>
            <CsrfField />
            <SubjectField outcome />
            {children()}
        </form>
    }
}

/// Hidden field with the id of the item that the form is about.
#[component]
pub(super) fn SubjectField(outcome: Outcome) -> impl IntoView {
    let subject = outcome.subject.get_value();
    subject.map(|subject| view! { <input type="hidden" name=Field::Subject.into_str() value=subject /> })
}

/// The errors of a form.
#[component]
pub fn OutcomeErrors(
    /// Result of the last submission.
    outcome: Outcome,
) -> impl IntoView {
    outcome.error().map(|error| {
        let faulty = match &error {
            AppError::Rejected(rejection) => rejection.faulty(),
            _ => &[],
        };
        let complaint = Complaint {
            title: error.to_string(),
            fields: faulty.iter().map(|field| (outcome.id(*field), field.rule())).collect(),
        };
        view! { <FormErrors complaint /> }
    })
}
