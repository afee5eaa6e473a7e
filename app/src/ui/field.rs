//! A line of text with its label, and what is wrong with it.

use leptos::prelude::*;

use crate::ui::icon::{Glyph, Icon};

/// A field that has to be filled in. Its `id` is its name.
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
    autocomplete: &'static str,
    /// What to know before typing.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// What is in it at first.
    #[prop(optional)]
    value: String,
    /// What is wrong with it.
    #[prop(optional, into)]
    fault: Signal<Option<&'static str>>,
) -> impl IntoView {
    let invalid = move || fault.get().is_some();
    let described_by = move || {
        let hint = hint.map(|_| format!("{name}-hint"));
        let fault = invalid().then(|| format!("{name}-fault"));
        let ids: Vec<_> = hint.into_iter().chain(fault).collect();
        (!ids.is_empty()).then(|| ids.join(" "))
    };
    view! {
        <div class="field" class:field--invalid=invalid>
            <label class="field__label" for=name>
                {label}
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
                required
                aria-invalid=move || invalid().then_some("true")
                aria-describedby=described_by
            />
            {move || {
                fault
                    .get()
                    .map(|fault| {
                        view! {
                            <p class="field__error" id=format!("{name}-fault")>
                                <Icon glyph=Glyph::Fault />
                                {fault}
                            </p>
                        }
                    })
            }}
        </div>
    }
    // So that the type of a form stays short.
    .into_any()
}
