//! Form fields with their typed value and validation error.

use leptos::prelude::*;

use crate::{
    model::rejection::Field,
    outcome::Outcome,
    ui::field::{Face, TextField},
};

/// A text field with its typed value and validation error.
#[component]
pub fn FormField(
    /// Result of the last submission.
    outcome: Outcome,
    field: Field,
    #[prop(into)] label: String,
    /// `type` of the input.
    #[prop(default = "text")]
    kind: &'static str,
    /// `autocomplete` of the input.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// Help text above the input.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// Initial value.
    #[prop(optional, into)]
    value: String,
    /// Whether it may be empty.
    #[prop(optional)]
    optional: bool,
    /// Whether it is focused when its dialog opens.
    #[prop(optional)]
    focus: bool,
    #[prop(optional)] maybe_hidden: bool,
    #[prop(optional)] face: Face,
) -> impl IntoView {
    let value = outcome.typed_or(field, &value);
    view! {
        <TextField
            id=outcome.id(field)
            name=field.into_str()
            label=label
            kind=kind
            autocomplete=autocomplete
            nostrip:hint=hint
            value=value
            problem=outcome.problem(field)
            optional=optional
            focus=focus
            maybe_hidden=maybe_hidden
            face=face
        />
    }
}

/// A field for a code of the authenticator app.
#[component]
pub fn OneTimeCodeField(
    /// Result of the last submission.
    outcome: Outcome,
    /// Whether it is focused when the page opens.
    #[prop(optional)]
    focus: bool,
) -> impl IntoView {
    view! {
        <FormField
            outcome=outcome
            field=Field::Code
            label="Code"
            autocomplete="one-time-code"
            face=Face::Digits
            focus=focus
        />
    }
}

/// A field for a new password.
#[component]
pub fn NewPasswordField(
    /// Result of the last submission.
    outcome: Outcome,
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
