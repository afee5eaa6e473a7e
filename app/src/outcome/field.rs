//! Fields that show what became of their form.

use leptos::prelude::*;

use crate::{model::rejection::Field, outcome::Outcome, ui::field::TextField};

/// A field with what was typed into it, and with its fault.
#[component]
pub fn FormField(
    /// What became of the form.
    outcome: Outcome,
    /// Which one of ours it is.
    field: Field,
    /// What it is called.
    label: &'static str,
    /// `type` of the input.
    #[prop(default = "text")]
    kind: &'static str,
    /// What the browser may fill in.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// What to know before typing.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// What is in it before anything is typed.
    #[prop(optional)]
    value: String,
    /// Whether it may stay empty.
    #[prop(optional)]
    optional: bool,
) -> impl IntoView {
    let typed = outcome.typed(field);
    view! {
        <TextField
            name=field.name()
            label=label
            kind=kind
            autocomplete=autocomplete
            nostrip:hint=hint
            value=if typed.is_empty() { value } else { typed }
            fault=outcome.fault(field)
            optional=optional
        />
    }
}

/// Where a password is chosen.
#[component]
pub fn NewPasswordField(
    /// What became of the form.
    outcome: Outcome,
    /// What it is called.
    label: &'static str,
) -> impl IntoView {
    view! {
        <FormField
            outcome=outcome
            field=Field::Password
            label=label
            kind="password"
            autocomplete="new-password"
            hint="At least 12 characters. A phrase is easier to remember."
        />
    }
}
