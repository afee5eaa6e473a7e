//! Form controls with label, help text and validation error.

use leptos::prelude::*;

use crate::ui::icon::{Glyph, Icon};

/// Typeface of the input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Face {
    #[default]
    Text,
    /// For ids, addresses and machine names.
    Code,
    /// Large digits, with a numeric keyboard.
    Digits,
}

/// The frame of a control: label, help text and validation error. The control must have the `id`, and the
/// `aria-describedby` of [`described_by`].
#[component]
pub fn FieldFrame(
    /// `id` of the control.
    id: String,
    label: String,
    /// Help text.
    #[prop(optional_no_strip)]
    hint: Option<&'static str>,
    /// Validation error.
    #[prop(optional_no_strip)]
    fault: Option<&'static str>,
    /// Whether it may be empty.
    #[prop(optional)]
    optional: bool,
    /// The control.
    children: Children,
) -> impl IntoView {
    view! {
        <div class=if fault.is_some() { "field field--invalid" } else { "field" }>
            <label class="field__label" for=id.clone()>
                {label}
                {optional.then(|| view! { <span class="field__optional">" optional"</span> })}
            </label>
            {hint
                .map(|hint| {
                    view! {
                        <p class="field__hint" id=format!("{id}-hint")>
                            {hint}
                        </p>
                    }
                })}
            {children()}
            <FieldFault id=id fault=fault />
        </div>
    }
}

/// The validation error under a control.
#[component]
pub fn FieldFault(
    /// `id` of the control.
    id: String,
    /// Validation error.
    fault: Option<&'static str>,
) -> impl IntoView {
    fault.map(|fault| {
        view! {
            <p class="field__error" id=format!("{id}-fault")>
                <Icon glyph=Glyph::Fault />
                {fault}
            </p>
        }
    })
}

/// Returns the `aria-describedby` of a control in a [`FieldFrame`].
pub fn described_by(id: &str, hint: Option<&str>, fault: Option<&str>) -> Option<String> {
    let ids = [hint.map(|_| format!("{id}-hint")), fault.map(|_| format!("{id}-fault"))];
    let ids: Vec<_> = ids.into_iter().flatten().collect();
    (!ids.is_empty()).then(|| ids.join(" "))
}

/// A text input. Its `id` is its name, unless another is given.
#[component]
pub fn TextField(
    /// `name` in the form.
    name: &'static str,
    /// `id`, if the page has several inputs of this name.
    #[prop(optional, into)]
    id: String,
    #[prop(into)] label: String,
    /// `type` of the input: `text`, `email`, `password`.
    #[prop(default = "text")]
    kind: &'static str,
    /// `autocomplete` of the input.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// Help text.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// Initial value.
    #[prop(optional, into)]
    value: String,
    /// Validation error.
    #[prop(optional_no_strip)]
    fault: Option<&'static str>,
    /// Whether it may be empty.
    #[prop(optional)]
    optional: bool,
    /// Whether it is focused when its dialog opens.
    #[prop(optional)]
    focus: bool,
    /// Whether it may be invisible, in which case the browser can't require a value.
    #[prop(optional)]
    maybe_hidden: bool,
    #[prop(optional)] face: Face,
) -> impl IntoView {
    let id = if id.is_empty() { name.to_owned() } else { id };
    view! {
        <FieldFrame id=id.clone() label=label hint=hint fault=fault optional=optional>
            <input
                class=match face {
                    Face::Text => "input",
                    Face::Code => "input input--code",
                    Face::Digits => "input input--digits",
                }
                id=id.clone()
                type=kind
                name=name
                value=value
                autocomplete=autocomplete
                inputmode=(face == Face::Digits).then_some("numeric")
                required=!optional && !maybe_hidden
                autofocus=focus
                aria-invalid=fault.map(|_| "true")
                aria-describedby=described_by(&id, hint, fault)
            />
        </FieldFrame>
    }
}
