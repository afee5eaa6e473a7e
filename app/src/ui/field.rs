//! A line of text with its label, and what is wrong with it.

use leptos::prelude::*;

use crate::ui::icon::{Glyph, Icon};

/// A field to type into. Its `id` is its name.
#[component]
pub fn TextField(
    /// `name` in the form.
    name: &'static str,
    /// What it is called.
    label: &'static str,
    /// `type` of the input: `text`, `email`, `password`.
    #[prop(default = "text")]
    kind: &'static str,
    /// What the browser may fill in.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// What to know before typing.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// What is in it at first.
    #[prop(optional)]
    value: String,
    /// What is wrong with it.
    #[prop(optional_no_strip)]
    fault: Option<&'static str>,
    /// Whether it may stay empty.
    #[prop(optional)]
    optional: bool,
) -> impl IntoView {
    let ids = [
        hint.map(|_| format!("{name}-hint")),
        fault.map(|_| format!("{name}-fault")),
    ];
    let described_by = ids.into_iter().flatten().collect::<Vec<_>>().join(" ");
    view! {
        <div class=if fault.is_some() { "field field--invalid" } else { "field" }>
            <label class="field__label" for=name>
                {label}
                {optional.then(|| view! { <span class="field__optional">" optional"</span> })}
            </label>
            {hint
                .map(|hint| {
                    view! {
                        <p class="field__hint" id=format!("{name}-hint")>
                            {hint}
                        </p>
                    }
                })}
            <input
                class="input"
                id=name
                type=kind
                name=name
                value=value
                autocomplete=autocomplete
                required=!optional
                aria-invalid=fault.map(|_| "true")
                aria-describedby=(!described_by.is_empty()).then_some(described_by)
            />
            {fault
                .map(|fault| {
                    view! {
                        <p class="field__error" id=format!("{name}-fault")>
                            <Icon glyph=Glyph::Fault />
                            {fault}
                        </p>
                    }
                })}
        </div>
    }
}
