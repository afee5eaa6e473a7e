//! Forms that call functions of the server.

use leptos::prelude::*;

use crate::{
    csrf::CsrfField,
    error::AppError,
    model::rejection::Field,
    outcome::Outcome,
    ui::form_errors::{Complaint, FormErrors},
};

/// A form. What is wrong with it stands at its head.
#[component]
pub fn PageForm(
    /// What became of it the last time.
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

/// A form without fields: a button that does something, in a row or a bar. What is wrong with it stands elsewhere, where
/// the page puts its [`OutcomeErrors`].
#[component]
pub fn ButtonForm(
    /// What became of it the last time.
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

/// What a form is about that is one of several, out of sight.
#[component]
pub(super) fn SubjectField(outcome: Outcome) -> impl IntoView {
    let subject = outcome.subject.get_value();
    subject.map(|subject| view! { <input type="hidden" name=Field::Subject.name() value=subject /> })
}

/// What is wrong with a form.
#[component]
pub fn OutcomeErrors(
    /// What became of it.
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
