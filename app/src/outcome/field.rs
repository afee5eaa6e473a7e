//! Fields that show what became of their form.

use leptos::prelude::*;

use crate::{
    model::rejection::Field,
    outcome::Outcome,
    ui::field::{Face, TextField},
};

/// A field with what was typed into it, and with its fault.
#[component]
pub fn FormField(
    /// What became of the form.
    outcome: Outcome,
    /// Which one of ours it is.
    field: Field,
    /// What it is called.
    #[prop(into)]
    label: String,
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
    #[prop(optional, into)]
    value: String,
    /// Whether it may stay empty.
    #[prop(optional)]
    optional: bool,
    /// Whether it has the focus when its dialog opens.
    #[prop(optional)]
    focus: bool,
    /// See [`TextField`].
    #[prop(optional)]
    maybe_hidden: bool,
    /// See [`Face`].
    #[prop(optional)]
    face: Face,
) -> impl IntoView {
    let value = outcome.typed_or(field, &value);
    view! {
        <TextField
            id=outcome.id(field)
            name=field.name()
            label=label
            kind=kind
            autocomplete=autocomplete
            nostrip:hint=hint
            value=value
            fault=outcome.fault(field)
            optional=optional
            focus=focus
            maybe_hidden=maybe_hidden
            face=face
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
