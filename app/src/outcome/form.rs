//! Forms that call server functions.

use leptos::prelude::*;

use crate::{
    csrf::CsrfField,
    error::AppError,
    model::rejection::Field,
    outcome::Outcome,
    ui::{
        button::{Rank, Size, SubmitButton},
        form_errors::FormErrors,
    },
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

/// A [`ButtonForm`] with a small button in a row. `of` completes its label for screen readers.
#[component]
pub fn RowButton(
    /// Result of the last submission.
    outcome: Outcome,
    #[prop(optional)] rank: Rank,
    words: &'static str,
    #[prop(into)] of: String,
) -> impl IntoView {
    view! {
        <ButtonForm outcome>
            <SubmitButton rank size=Size::Small>
                {words}
                <span class="visually-hidden">{of}</span>
            </SubmitButton>
        </ButtonForm>
    }
}

/// A narrow form with one button at its end.
#[component]
pub fn NarrowForm(
    /// Result of the last submission.
    outcome: Outcome,
    /// Label of the button.
    action: &'static str,
    /// Fields.
    children: Children,
) -> impl IntoView {
    view! {
        <PageForm outcome class="fields fields--narrow">
            {children()}
            <div>
                <SubmitButton>{action}</SubmitButton>
            </div>
        </PageForm>
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
        let fields = faulty.iter().map(|field| (outcome.id(*field), field.rule()));
        view! { <FormErrors title=error.to_string() fields=fields.collect() /> }
    })
}
